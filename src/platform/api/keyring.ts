/** Checks API keys, their scopes (A1-A3) and their rate limit, and selects the key that signs events (A4). */
import type { Scope } from '../contract/endpoint-routes.ts'
import type { Rate } from '../contract/knob-types.ts'
import type { Knobs } from '../contract/knobs.ts'
import { REFUSAL_TEXTS, Refusal } from '../rules/refusal.ts'

export interface Grant {
  readonly botId: number
  readonly scopes: readonly Scope[]
  /** A replaced key that still works until then (`keys.graceful`), on the simulator's clock. */
  readonly untilMs: number | null
}

/** A key that was replaced and still works for a while. */
export interface ReplacedKey extends Grant {
  readonly key: string
  readonly untilMs: number
}

export interface Keyring {
  /** Returns what the key allows, or throws a refusal; sets the state of the key in `call`. */
  authorize(header: string | undefined, scope: Scope, nowMs: number, call: Authorized): Grant
  signingKey(botId: number): string
  /** After a change of the key knobs. */
  refresh(knobs: Knobs, nowMs: number): void
  /** Invalidates replaced keys: their end lies on a clock that a reset may set back. */
  forgetReplaced(): void
  replaced(): ReplacedKey[]
  restoreReplaced(keys: readonly ReplacedKey[]): void
  /** Whether the key is valid here, or was valid until it was replaced. */
  knows(key: string): boolean
  /** Whether the key is valid now. */
  accepts(key: string, nowMs: number): boolean
  /** Sets the function that explains an unknown key in a sentence; it returns null when it cannot. */
  about(tell: (key: string) => string | null): void
  botIds(): readonly number[]
}

export interface Authorized {
  auth: AuthState | 'not_checked'
}

export type AuthState = 'valid' | 'missing' | 'malformed' | 'unknown' | 'wrong_scope'

export function createKeyring(mainBotId: () => number, initial: Knobs): Keyring {
  let grants = grantsFrom(mainBotId(), initial)
  let signing = signingFrom(mainBotId(), initial)
  let explainUnknownKey: (key: string) => string | null = () => null
  return {
    authorize(header, scope, nowMs, call) {
      const key = bearerOf(header, call)
      const grant = grants.get(key)
      if (!isValid(grant, nowMs)) {
        call.auth = 'unknown'
        throw unauthorized(explainUnknownKey(key) ?? REFUSAL_TEXTS.keyUnknown)
      }
      if (!grant.scopes.includes(scope)) {
        call.auth = 'wrong_scope'
        throw wrongScope(scope)
      }
      call.auth = 'valid'
      return grant
    },
    signingKey: botId => signing.get(botId) ?? signing.get(mainBotId())!,
    refresh(knobs, nowMs) {
      const old = grants
      grants = grantsFrom(mainBotId(), knobs)
      signing = signingFrom(mainBotId(), knobs)
      const grace = knobs['keys.graceful']
      if (grace !== null) keepOld(grants, old, nowMs + grace)
    },
    forgetReplaced() {
      for (const [key, grant] of grants) if (grant.untilMs !== null) grants.delete(key)
    },
    replaced: () =>
      [...grants].flatMap(([key, grant]) =>
        grant.untilMs === null ? [] : [{ ...grant, key, untilMs: grant.untilMs }],
      ),
    restoreReplaced(keys) {
      for (const { key, ...grant } of keys) if (!grants.has(key)) grants.set(key, grant)
    },
    knows: key => grants.has(key),
    accepts: (key, nowMs) => isValid(grants.get(key), nowMs),
    about(tell) {
      explainUnknownKey = tell
    },
    botIds: () => [...signing.keys()],
  }
}

const isValid = (grant: Grant | undefined, nowMs: number): grant is Grant =>
  grant !== undefined && (grant.untilMs === null || nowMs < grant.untilMs)

function keepOld(grants: Map<string, Grant>, old: Map<string, Grant>, untilMs: number): void {
  for (const [key, grant] of old) if (!grants.has(key)) grants.set(key, { ...grant, untilMs: grant.untilMs ?? untilMs })
}

/** Names each API key by its role, because the key itself is a secret. */
export function keyRoles(knobs: Knobs): { readonly role: string; readonly key: string }[] {
  const more = moreKeys(knobs).map(([key], index) => ({ role: `more ${index + 1}`, key }))
  return [{ role: 'handover', key: knobs['keys.handover'] }, { role: 'bot', key: knobs['keys.bot'] }, ...more]
}

/** The keys of `keys.more`, each with the bot it is for. */
export function moreKeys(knobs: Knobs): [key: string, botId: number][] {
  return knobs['keys.more'].map(pair => {
    const at = pair.lastIndexOf(':')
    return [pair.slice(0, at), Number(pair.slice(at + 1))]
  })
}

function grantsFrom(botId: number, knobs: Knobs): Map<string, Grant> {
  const both: Scope[] = ['handover', 'read_chats']
  const shared = knobs['keys.shared'] === 'on' || knobs['keys.handover'] === knobs['keys.bot']
  const grants = new Map<string, Grant>()
  for (const [key, bot] of moreKeys(knobs)) grants.set(key, { botId: bot, scopes: both, untilMs: null })
  grants.set(knobs['keys.bot'], { botId, scopes: shared ? both : ['read_chats'], untilMs: null })
  grants.set(knobs['keys.handover'], { botId, scopes: shared ? both : ['handover'], untilMs: null })
  return grants
}

const signingFrom = (botId: number, knobs: Knobs): Map<number, string> =>
  new Map([...moreKeys(knobs).map(([key, bot]): [number, string] => [bot, key]), [botId, knobs['keys.handover']]])

const unauthorized = (message: string) => new Refusal('unauthorized', message, { field: 'Authorization' })

const BEARER = /^Bearer +([\x21-\x7e]+)$/i

/** The key in a header, or null. */
export const keyIn = (header: string | undefined): string | null =>
  header === undefined || header === '' ? null : header === lastHeader ? lastKey : (BEARER.exec(header)?.[1] ?? null)

/** The latest header and its key, because a client sends the same header with every call. */
let lastHeader = ''
let lastKey = ''

function bearerOf(header: string | undefined, call: Authorized): string {
  if (header === lastHeader && lastKey !== '') return lastKey
  if (header === undefined || header === '') {
    call.auth = 'missing'
    throw unauthorized(REFUSAL_TEXTS.keyMissing)
  }
  const key = BEARER.exec(header)?.[1]
  if (key === undefined) {
    call.auth = 'malformed'
    throw unauthorized(REFUSAL_TEXTS.keyMalformed)
  }
  lastHeader = header
  lastKey = key
  return lastKey
}

function wrongScope(scope: Scope): Refusal {
  const message = scope === 'read_chats' ? REFUSAL_TEXTS.scopeReadChats : REFUSAL_TEXTS.scopeHandover
  return new Refusal('missing_scope', message, { field: 'Authorization' })
}

export interface RateLimit {
  /** Counts one call; throws `RateLimited` when the limit is exceeded. */
  take(key: string, rate: Rate | null, nowMs: number): void
  windows(): ReadonlyMap<string, Window>
  /** Replaces all counted calls by `windows`. */
  reset(windows?: Iterable<readonly [key: string, window: Window]>): void
}

interface Window {
  readonly start: number
  calls: number
}

export class RateLimited extends Refusal {
  readonly retryAfter: number
  constructor(rate: Rate, waitMs: number) {
    super('rate_limited', REFUSAL_TEXTS.tooManyCalls(rate.calls, rate.windowMs))
    this.retryAfter = Math.max(1, Math.ceil(waitMs / 1000))
  }
}

export function createRateLimit(): RateLimit {
  let windows = new Map<string, Window>()
  return {
    take(key, rate, nowMs) {
      if (rate === null) return
      const current = windows.get(key)
      const fresh = current === undefined || nowMs >= current.start + rate.windowMs
      const window = fresh ? { start: nowMs, calls: 0 } : current
      windows.set(key, window)
      if (++window.calls > rate.calls) throw new RateLimited(rate, window.start + rate.windowMs - nowMs)
    },
    windows: () => windows,
    reset(windowsKept = []) {
      windows = new Map(windowsKept)
    },
  }
}
