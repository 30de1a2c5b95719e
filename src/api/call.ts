/** Holds one call while it is handled, and turns it into its journal entry. */
import type { AssumptionName } from '../contract/assumptions.ts'
import { formatKnob, isKnob, type Knobs } from '../contract/knobs.ts'
import type { AppliedApiFaults, FaultRegistry } from '../faults/registry.ts'
import type { ApiContent, FaultContent } from '../journal/entry.ts'
import { maskSetting } from '../journal/mask.ts'
import type { PlatformContext } from '../platform/context.ts'
import type { Engines, InOrder } from '../platform/engines.ts'
import { createTransaction, type Effect, type Transaction } from '../platform/transaction.ts'
import { elapsedMs } from '../runtime/clock.ts'
import type { AuthState, Keyring } from './keyring.ts'
import type { ApiRequest, ApiResponse } from './messages.ts'
import type { RateLimit } from './rate-limit.ts'
import type { ApiRoute } from './routes.ts'

/** What the API needs from other parts of the simulator. */
export interface ApiPorts {
  readonly platform: PlatformContext
  readonly keyring: Keyring
  readonly rateLimit: RateLimit
  readonly engines: Engines
  readonly inOrder: InOrder
  /** Whether answers carry the header that names assumptions. */
  readonly markers: boolean
  readonly faults: Pick<FaultRegistry, 'onApi' | 'takeApi'>
  /** Appends the call, the faults applied to it, and then what it caused. */
  commit(call: ApiContent, effects: readonly Effect[], faults?: readonly FaultContent[]): void
  /** Seq of the latest webhook event of a chat. */
  lastEvent(chatId: string): number | null
  /** Registers asynchronous work; call the returned function when it has ended. */
  inFlight(): () => void
  /** Wall-clock latency, cut short by a reset. */
  delay(ms: number): Promise<void>
  /** A number that grows with every reset. */
  epoch(): number
  /** Aborted by the next reset. */
  resetSignal(): AbortSignal
}

export interface ApiCall {
  readonly ports: ApiPorts
  readonly request: ApiRequest
  readonly started: number
  readonly transaction: Transaction
  readonly epoch: number
  route: ApiRoute | null
  auth: AuthState | 'not_checked'
  body: unknown
  response: unknown
  /** Null for nearly every call. */
  faults: AppliedApiFaults | null
}

export const createCall = (ports: ApiPorts, request: ApiRequest): ApiCall => ({
  ports,
  request,
  started: elapsedMs(),
  transaction: createTransaction(),
  epoch: ports.epoch(),
  route: null,
  auth: 'not_checked',
  body: undefined,
  response: undefined,
  faults: null,
})

export function entryOf(call: ApiCall, answer: ApiResponse): ApiContent {
  const { ports, request, route, transaction } = call
  const chatId = chatIdOf(call)
  const entry: ApiContent = {
    kind: 'api',
    ...(chatId === undefined ? {} : { chat_id: chatId }),
    endpoint: route?.id ?? null,
    method: request.method,
    path: request.target,
    alias: route?.alias ?? null,
    auth: call.auth,
    request: { headers: request.headers, body: bodyForJournal(call), bytes: request.body.length },
    status: answer.status,
    response: call.response ?? null,
    findings: transaction.findings,
    unspecified: valuesOf(transaction.assumed, ports.platform.knobs),
    duration_ms: elapsedMs() - call.started,
    follows: chatId === undefined ? null : ports.lastEvent(chatId),
  }
  return call.faults === null ? entry : { ...entry, ...faultFields(call.faults) }
}

/** The value of the knob of each assumption, as it is written in a configuration; null without a knob. */
function valuesOf(names: readonly AssumptionName[], knobs: Knobs): ApiContent['unspecified'] {
  const values: Partial<Record<AssumptionName, unknown>> = {}
  for (const name of names) values[name] = isKnob(name) ? maskSetting(name, formatKnob(name, knobs[name])) : null
  return values
}

function faultFields({ faults, answer }: AppliedApiFaults): Pick<ApiContent, 'faults' | 'answer_lost'> {
  if (answer?.kind !== 'drop') return { faults }
  return { faults, answer_lost: answer.processed ? 'after' : 'before' }
}

export function chatIdOf({ route, body }: Pick<ApiCall, 'route' | 'body'>): string | undefined {
  if (route?.chatId !== undefined) return route.chatId
  if (typeof body !== 'object' || body === null || !('chat_id' in body)) return undefined
  const id = body.chat_id
  return typeof id === 'string' && id !== '' ? id : undefined
}

const BROKEN_BODY_CHARS = 2000

function bodyForJournal({ body, request }: ApiCall): unknown {
  if (body !== undefined || request.body.length === 0) return body ?? null
  return new TextDecoder().decode(request.body.subarray(0, BROKEN_BODY_CHARS))
}
