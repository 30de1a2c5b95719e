/** Reads the effects of a fault from its specification: durations as milliseconds, one value per question. */

import type { WireFaults } from '../../base/runtime/transport.ts'
import { parseDuration } from '../../base/text/quantities.ts'
import type { SignMode } from '../contract/event-names.ts'
import type { FaultEffect } from '../journal/entry.ts'
import type { FaultFields, SendingSpec } from './schema.ts'

/** What the fault does to the answer of a call. */
export type ResponseEffect =
  | {
      readonly kind: 'respond'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: unknown
    }
  | { readonly kind: 'drop'; readonly processed: boolean; readonly how: 'closed' | 'reset' }
  | { readonly kind: 'slow_body'; readonly overMs: number }
  | { readonly kind: 'malformed' }

/** Whether the platform does not process the call. */
export const isUnprocessed = (effect: ResponseEffect | null): boolean =>
  effect?.kind === 'respond' || (effect?.kind === 'drop' && !effect.processed)

export interface ApiEffects {
  readonly latencyMs: number
  readonly responseEffect: ResponseEffect | null
}

const ms = (duration: string | undefined): number => parseDuration(duration) ?? 0

export function apiEffects(spec: FaultFields): ApiEffects {
  const { respond, drop, reset, slow_body, malformed } = spec
  let responseEffect: ResponseEffect | null = null
  if (respond) {
    const { status, headers = {}, body } = respond
    responseEffect = { kind: 'respond', status, headers, body }
  } else if (drop) responseEffect = { kind: 'drop', processed: drop === 'after', how: 'closed' }
  else if (reset) responseEffect = { kind: 'drop', processed: false, how: 'reset' }
  else if (slow_body) responseEffect = { kind: 'slow_body', overMs: ms(slow_body) }
  else if (malformed) responseEffect = { kind: 'malformed' }
  return { latencyMs: ms(spec.latency), responseEffect }
}

/** When an event is sent, on the simulator's clock. */
export type Order =
  | { readonly kind: 'delay' | 'slow'; readonly ms: number }
  /** Until this many later events of the chat have passed. */
  | { readonly kind: 'hold'; readonly passing: number }

/** How the request is formed. */
export interface Form {
  readonly sign: SignMode
  readonly truncate: boolean
  /** Null: the bytes travel as usual. */
  readonly wire: WireFaults | null
}

export interface Copies {
  /** In all. */
  readonly count: number
  readonly gapMs: number
}

export interface WebhookEffects {
  readonly order: Order | null
  readonly form: Form
  readonly copies: Copies
}

export function webhookEffects(spec: FaultFields): WebhookEffects {
  const { delay, slow, swap, hold } = spec
  let order: Order | null = null
  if (delay) order = { kind: 'delay', ms: ms(delay) }
  else if (slow) order = { kind: 'slow', ms: ms(slow) }
  else if (swap || hold) order = { kind: 'hold', passing: hold ?? 1 }
  return { order, form: formOf(spec, spec.sign), copies: copiesOf(spec) }
}

export const delayOf = ({ delay }: SendingSpec): number => ms(delay)
export const copiesOf = ({ duplicate = 1, gap }: SendingSpec): Copies => ({ count: duplicate, gapMs: ms(gap) })

export function formOf(spec: SendingSpec, sign: SignMode = 'valid'): Form {
  const styles = [spec.http ?? []].flat()
  const wire = {
    dripMs: ms(spec.drip),
    chunked: styles.includes('chunked'),
    headerCase: styles.includes('header-case'),
    resetAfterResponse: spec.reset_after_answer ?? false,
  }
  const changesWire = wire.dripMs > 0 || wire.chunked || wire.headerCase || wire.resetAfterResponse
  return { sign, truncate: spec.truncate ?? false, wire: changesWire ? wire : null }
}

/** The fields of a specification that define effects, in the order of the log. */
export function effectOf(spec: FaultFields): FaultEffect {
  const effect: Record<string, unknown> = {}
  for (const name of EFFECT_NAMES) if (spec[name] !== undefined) effect[name] = spec[name]
  if (spec.respond) effect.respond = { status: spec.respond.status }
  if (spec.http) effect.http = [spec.http].flat()
  return effect
}

const EFFECT_NAMES = [
  ...(['latency', 'respond', 'drop', 'reset', 'slow_body', 'malformed'] as const),
  ...(['delay', 'slow', 'swap', 'hold', 'sign', 'duplicate', 'gap'] as const),
  ...(['truncate', 'drip', 'reset_after_answer', 'http'] as const),
]

/** Effects that need a connection of their own. */
export const CONNECTION_EFFECTS = ['drip', 'reset_after_answer', 'http'] as const
