/** Says what was checked about a call or a delivery, and how: the key, the fields, the signature, the faults. */
import { isMap } from '../../../base/objects.ts'
import { formatMs } from '../../../base/text/terminal-text.ts'
import type { ApiContent, Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { effectText } from '../../../platform/wording/faults.ts'
import { errorIn, isInvalidSign, observedSignature } from '../../../platform/wording/hints.ts'
import { byteSize } from './formats.ts'

export interface EntryFact {
  readonly label: string
  readonly text: string
  /** How it turned out, for what can be right or wrong. */
  readonly outcome?: 'pass' | 'fail' | 'warn'
}

const KEY_TEXTS = {
  valid: 'Valid.',
  missing: 'There is no Authorization header. Send “Authorization: Bearer” and the key.',
  malformed: 'The Authorization header is not “Bearer” and one key.',
  unknown: 'No bot has this key. The platform column shows the keys.',
  wrong_scope: 'The key is for other endpoints: transcripts of chats need the bot API key, all others the API key.',
} satisfies Readonly<Record<Exclude<ApiContent['auth'], 'not_checked'>, string>>

const SIGN_TEXTS = {
  none: 'Left out on purpose: the webhook must refuse the event.',
  'wrong-key': 'Made with another key on purpose: the webhook must refuse the event.',
  tampered: 'One byte of the body was changed after signing, on purpose: the webhook must refuse the event.',
  truncated: 'Its end was cut off on purpose: the webhook must refuse the event.',
  hex: 'In the other encoding on purpose: the webhook must refuse the event.',
}

/** `effects` are the entries that this one caused: faults say there what they did. */
export function factsOf(entry: Entry, effects: readonly Entry[]): EntryFact[] {
  if (entry.kind !== 'api' && entry.kind !== 'delivery') return []
  const { faults = [], duration_ms } = entry
  const facts: EntryFact[] = []
  if (entry.kind === 'delivery') {
    facts.push({ label: 'Attempt', text: attemptText(entry) })
    if (entry.outcome !== 'skipped') facts.push(signatureFact(entry))
  } else {
    const text = entry.auth === 'not_checked' ? undefined : KEY_TEXTS[entry.auth]
    if (text !== undefined) facts.push({ label: 'Key', text, outcome: entry.auth === 'valid' ? 'pass' : 'fail' })
  }
  if (faults.length > 0) {
    const texts: string[] = []
    for (const name of faults) {
      const hit = effects.find(one => one.kind === 'fault' && one.fault === name)
      texts.push(hit?.kind === 'fault' ? `${name}: ${effectText(hit.effect)}` : name)
    }
    facts.push({ label: 'Faults', text: `${texts.join('; ')}.`, outcome: 'warn' })
  }
  facts.push({ label: 'Duration', text: formatMs(duration_ms) })
  if (entry.kind === 'api' && entry.request.bytes > 0)
    facts.push({ label: 'Body', text: byteSize(entry.request.bytes) })
  return facts
}

/** What a fault of the user did to a call or a delivery, and what followed; ends with the entry `seq`, when there is one. */
export function orderedFailureOf(
  entry: EntryOf<'api' | 'delivery'>,
  effects: readonly Entry[],
  attempts: readonly EntryOf<'api' | 'delivery'>[],
): { readonly text: string; readonly seq: number | null } {
  const hit = effects.find(one => one.kind === 'fault')
  let start = 'Your fault made this fail.'
  if (hit?.kind === 'fault') {
    const count = hit.of === null ? '' : ` (${hit.hit} of ${hit.of})`
    const hasAnswered = hit.effect.respond !== undefined
    start = hasAnswered
      ? `Your fault answered ${entry.status}${count}.`
      : `Your fault${count}: ${effectText(hit.effect)}.`
  }
  const later = attempts.filter(({ seq }) => seq > entry.seq)
  const accepted = later.find(isAccepted)
  const next = accepted ?? later[0]
  if (next === undefined) return { text: `${start} It was not tried again so far.`, seq: null }
  const after = formatMs(next.at_ms - entry.at_ms)
  const times = accepted === undefined ? later.length : later.indexOf(accepted) + 1
  const again = times === 1 ? `tried again after ${after}` : `tried again ${times} times`
  return {
    text: `${start} It was ${again}, and ${accepted === undefined ? 'failed again' : 'accepted'} at `,
    seq: next.seq,
  }
}

const isAccepted = (entry: EntryOf<'api' | 'delivery'>): boolean =>
  entry.kind === 'api' ? entry.status > 0 && entry.status < 400 : entry.outcome === 'delivered'

function attemptText({ attempt, triggered, resent, duplicate, retry_in_ms }: EntryOf<'delivery'>): string {
  const parts = [attempt === 1 ? 'The first one.' : `Number ${attempt}.`]
  if (duplicate) parts.push('A copy of the same bytes, on purpose.')
  else if (resent) parts.push('A past delivery, sent again manually.')
  else if (triggered) parts.push('Sent manually.')
  if (retry_in_ms !== undefined) parts.push(`The next one follows after ${formatMs(retry_in_ms)}.`)
  return parts.join(' ')
}

/** Signatures are masked in the journal; `sign` says whether one was wrong on purpose. */
function signatureFact(entry: EntryOf<'delivery'>): EntryFact {
  const { request, sign, status } = entry
  const headers = Object.entries(request.headers)
  const header = headers.find(([name, value]) => value === MASKED && name.toLowerCase() !== 'authorization')
  const algorithm = headers.find(([, value]) => /^HMAC-SHA/.test(value))?.[1] ?? ''
  const bytes = byteSize(new TextEncoder().encode(request.body).length)
  let text = `No signature header, ${bytes} of body.`
  if (header !== undefined) text = `Header ${header[0]}, ${algorithm}, over ${bytes} of body.`
  if (entry.observed) {
    const found = observedSignature(entry)
    if (found === null) return { label: 'Signature', text: `No signature header, ${bytes} of body.`, outcome: 'warn' }
    const outcome = found.status === 'valid' ? 'pass' : found.status === 'invalid' ? 'fail' : null
    text = `Header ${found.header}, ${algorithm}, over ${bytes} of body: ${found.status}.`
    return { label: 'Signature', text, ...(outcome && { outcome }) }
  }
  if (!isInvalidSign(sign)) return { label: 'Signature', text, ...(header && { outcome: 'pass' }) }
  text += ` ${SIGN_TEXTS[sign]}`
  if (status !== null && status >= 400 && status < 500)
    return { label: 'Signature', text: `${text} It did.`, outcome: 'pass' }
  if (status === null || status >= 300) return { label: 'Signature', text, outcome: 'warn' }
  text += ' The webhook accepted it: it does not check signatures as it must.'
  return { label: 'Signature', text, outcome: 'fail' }
}

/** As entries show what is secret. */
const MASKED = '***'

/** Which field of a call is wrong: what the platform expects, and what the body has. */
export interface FieldRefusal {
  readonly field: string
  readonly expected: string
  /** As JSON; null when it is absent. */
  readonly received: string | null
}

export function fieldProblemOf(entry: Entry): FieldRefusal | null {
  if (entry.kind !== 'api' || entry.status < 400 || entry.auth !== 'valid') return null
  const { field, message } = errorIn(entry.response)
  if (typeof field !== 'string' || typeof message !== 'string') return null
  const value = valueAt(entry.request.body, field)
  return { field, expected: message, received: value === undefined ? null : JSON.stringify(value) }
}

/** The value at `sender.name` or `buttons[0].label`. */
function valueAt(body: unknown, path: string): unknown {
  let value = body
  for (const name of path.split(/[.[\]]+/).filter(Boolean)) {
    if (Array.isArray(value)) value = value[Number(name)]
    else if (isMap(value)) value = value[name]
    else return undefined
  }
  return value
}
