/** What a step of a plan does or asks for, one verb each. Plain data, and values may still hold `$(...)`. */
import type { EndpointId } from '../contract/endpoints.ts'
import type { AvailabilityReason, AvailabilityValue, Button } from '../contract/schemas.ts'
import type { SignMode } from '../contract/sign-modes.ts'
import type { FaultSpec } from '../faults/schema.ts'

/** Anything with `$(...)` in it. */
export type Template = unknown

export type CallName = EndpointId | 'any'

export type Verb = Action['verb']

/** A status, `any`, `non-2xx`; null: none wanted at all (`async` with nothing said). */
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
      /** Watches this long for more than `times` allows. */
      readonly forMs: number | null
      /** How long to wait from the start of the step, in place of `timeouts.expect`. */
      readonly waitMs?: number
    }
  | { readonly verb: 'wait'; readonly ms: number }
  | { readonly verb: 'availability'; readonly value: AvailabilityValue; readonly reason?: AvailabilityReason }
  | { readonly verb: 'fault'; readonly fault: FaultSpec | { readonly clear: string | true } }
  | {
      readonly verb: 'deliver'
      /** Either a new event or the bytes of an earlier step's event. */
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

/** `does.NAME` is a verb of the driver's own. */
export type AgentVerb = 'accept' | 'says' | 'type' | 'stop' | 'leave' | 'away' | 'back' | `does.${string}`

export interface Times {
  readonly min: number
  /** Infinity when there is no upper bound. */
  readonly max: number
}

export interface CallPattern {
  readonly call: CallName
  /** Null: any body. */
  readonly body: Template
}

export interface Expectation extends CallPattern {
  readonly times: Times
  /** At least this long between two of them. */
  readonly apartMs: number | null
  /** Looks from the start of this step id instead of the start of the turn, in any order. */
  readonly since: string | null
  readonly alias: 'handover' | 'takeover' | null
  /** `invalid`: the key must be missing or wrong. */
  readonly auth: 'valid' | 'invalid'
  /** Name -> path in the call: `body.sender.name`, `response.chatmessage_id`, `status`. */
  readonly capture: Readonly<Record<string, string>>
}

export type ExpectTree =
  | ({ readonly op: 'call' } & Expectation)
  | { readonly op: 'all' | 'seq' | 'oneOf'; readonly of: readonly ExpectTree[] }

export interface Check {
  readonly status?: Template
  readonly typing?: Template
  readonly availability?: Template
  /** Event name -> how many so far in this lane. */
  readonly events?: Readonly<Record<string, Template>>
  readonly transcript?: {
    /** The transcript ends with these. */
    readonly last?: readonly Template[]
    /** These are in it, in this order, others may stand between. */
    readonly contains?: readonly Template[]
    /** None of these is in it. */
    readonly lacks?: readonly Template[]
    readonly length?: Template
  }
}
