/** Defines the actions of planned steps: one verb each, as plain data whose values may still hold `$(...)`. */
import type { EndpointId } from '../contract/endpoints.ts'
import type { SignMode } from '../contract/events.ts'
import type { AvailabilityReason, AvailabilityValue, Button } from '../contract/schemas.ts'
import type { FaultSpec } from '../faults/schema.ts'

/** A value with `$(...)` inside. */
export type Template = unknown

export type CallName = EndpointId | 'any'

export type Verb = Action['verb']

/** The expected answer of the webhook: a status, `any` or `non-2xx`. */
export type AckWanted = number | 'any' | 'non-2xx'

export type Action =
  | {
      readonly verb: 'user'
      readonly text: Template
      readonly attach: readonly Template[]
      readonly ack: AckWanted
      readonly async: boolean
    }
  | { readonly verb: 'press'; readonly button: Template; readonly ack: AckWanted; readonly async: boolean }
  | { readonly verb: 'bot'; readonly text: Template; readonly buttons: readonly Button[] }
  | { readonly verb: 'agent'; readonly does: AgentVerb; readonly text: Template; readonly with: Template }
  | {
      readonly verb: 'sees'
      readonly item: Template
      readonly times: Times
      readonly withinMs: number | null
      /** How long to wait for more items than `times` allows. */
      readonly forMs: number | null
      /** How long to wait from the start of the step, in place of `timeouts.expect`. */
      readonly waitMs?: number
    }
  | { readonly verb: 'wait'; readonly ms: number }
  | { readonly verb: 'availability'; readonly value: AvailabilityValue; readonly reason?: AvailabilityReason }
  | { readonly verb: 'fault'; readonly fault: FaultSpec | { readonly clear: string | true } }
  | {
      readonly verb: 'deliver'
      /** The name of a new event; null when `replay` names the step whose event is sent again. */
      readonly event: Template
      readonly replay: string | null
      readonly body: Template
      readonly sign: SignMode
      readonly ack: AckWanted
      readonly async: boolean
    }
  | { readonly verb: 'target'; readonly does: 'start' | 'stop' | 'restart' | 'kill' }
  | {
      readonly verb: 'expect'
      readonly tree: ExpectTree
      readonly withinMs: number | null
      /** How long to wait from the start of the step, in place of `timeouts.expect`. */
      readonly waitMs?: number
    }
  | { readonly verb: 'none'; readonly calls: readonly CallPattern[]; readonly forMs: number }
  | { readonly verb: 'check'; readonly check: Check }
  | { readonly verb: 'log'; readonly text: Template }

/** `does.NAME` is a verb that only this agent driver has. */
export type AgentVerb = 'accept' | 'says' | 'type' | 'stop' | 'leave' | 'away' | 'back' | `does.${string}`

export interface Times {
  readonly min: number
  /** Infinity when there is no upper bound. */
  readonly max: number
}

export interface CallPattern {
  readonly call: CallName
  /** Null for any body. */
  readonly body: Template
}

export interface Expectation extends CallPattern {
  readonly times: Times
  /** The least time between two of the calls. */
  readonly apartMs: number | null
  /** The id of the step from which calls count, instead of the start of the turn; in any order. */
  readonly since: string | null
  readonly alias: 'handover' | 'takeover' | null
  /** `invalid`: the key must be missing or wrong. */
  readonly auth: 'valid' | 'invalid'
  /** Name -> path in the call, such as `body.sender.name`, `response.chatmessage_id` or `status`. */
  readonly capture: Readonly<Record<string, string>>
}

export type ExpectTree =
  | ({ readonly op: 'call' } & Expectation)
  | { readonly op: 'all' | 'seq' | 'oneOf'; readonly of: readonly ExpectTree[] }

export interface Check {
  readonly status?: Template
  readonly typing?: Template
  readonly availability?: Template
  /** Event name -> how many so far in this conversation. */
  readonly events?: Readonly<Record<string, Template>>
  readonly transcript?: {
    /** The transcript ends with these. */
    readonly last?: readonly Template[]
    /** The transcript has these in this order, possibly with others between. */
    readonly contains?: readonly Template[]
    /** The transcript has none of these. */
    readonly lacks?: readonly Template[]
    readonly length?: Template
  }
}
