/**
 * A scenario ready to be played and judged: includes put in, repeats unrolled, parallel users written out, every
 * default filled, each step numbered and placed. Plain data. Values still hold `$(...)`: they are filled in when a
 * step is played or judged, with the scope of that step.
 */
import type { EndpointId } from '../contract/endpoints.ts'
import type { AvailabilityReason, AvailabilityValue, Button } from '../contract/schemas.ts'
import type { SignMode } from '../contract/sign-modes.ts'
import type { FaultSpec } from '../faults/spec.ts'

export interface Place {
  /** As the user would write it. */
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Anything with `$(...)` in it. */
export type Template = unknown

export type CallName = EndpointId | 'any'

/** What a scenario does about something: let it pass, mention it, fail. */
export type Severity = 'off' | 'warn' | 'fail'

export interface LaneSpec {
  /** `main` when the scenario has one chat. */
  readonly name: string
  readonly language: Template
  readonly source: Template
  readonly user: Template
  readonly history: readonly Template[]
  readonly transcript: string | null
  readonly context: Template
  readonly labels: Template
  /** Values of `$(...)` for this lane: `user` in fresh lanes of `parallel`. */
  readonly scope: Readonly<Record<string, unknown>>
}

export interface Plan {
  /** With `[language=nb]` for an instance of a matrix. */
  readonly name: string
  readonly file: string
  readonly place: Place | null
  readonly tags: readonly string[]
  readonly spec: readonly string[]
  /** Null: that of the run. */
  readonly seed: number | null
  /** Null: that of the run. */
  readonly clock: { readonly mode: 'real' | 'virtual'; readonly start?: string } | null
  readonly timeouts: {
    readonly ackMs: number
    readonly expectMs: number
    readonly settleMs: number
    readonly scenarioMs: number
  }
  readonly strict: {
    readonly unexpected: Severity
    readonly contract: Severity
    readonly allow: readonly EndpointId[]
  }
  /** Knobs by dotted name. */
  readonly config: Readonly<Record<string, unknown>>
  readonly bot: { readonly id?: number; readonly name?: string; readonly replies?: readonly unknown[] }
  readonly availability: AvailabilityValue | null
  readonly businessHours: Readonly<Record<string, unknown>> | null
  /** Whether every user text gets a token of its own appended. */
  readonly tokens: boolean
  readonly lanes: readonly LaneSpec[]
  readonly vars: Readonly<Record<string, unknown>>
  /** Values of this instance of the matrix. */
  readonly matrix: Readonly<Record<string, unknown>>
  readonly never: readonly CallPattern[]
  readonly steps: readonly PlannedItem[]
  readonly finally: readonly PlannedItem[]
  /** How many numbered steps there are, those of `finally` included. */
  readonly count: number
  /** Why nothing else may run beside it; null when anything may. */
  readonly exclusive: string | null
  /** Driver verbs it cannot do without: `accept`, `inbox`, `does.transfer`, `target.restart`. */
  readonly needs: readonly string[]
  /** Names of environment variables its texts read. */
  readonly env: readonly string[]
  /** Whether it says anything about availability: only then unclaimed availability calls count. */
  readonly mentionsAvailability: boolean
}

export type PlannedItem = PlannedStep | PlannedParallel

/** Branches played beside each other; each keeps its own turn. */
export interface PlannedParallel {
  readonly kind: 'parallel'
  readonly branches: readonly (readonly PlannedItem[])[]
}

export interface PlannedStep {
  readonly kind: 'step'
  /** 1, 2, 3 ... over the whole plan, `finally` last. */
  readonly number: number
  readonly id: string | null
  readonly name: string | null
  /** The lane it speaks of. */
  readonly lane: string
  readonly soft: boolean
  readonly place: Place | null
  /** The step in one line: `expect message { message: "I'm Anna" }`. */
  readonly label: string
  /** Include parameters, `i` of a repeat, `user` of a parallel, `texts`; beside vars, matrix and captures. */
  readonly scope: Readonly<Record<string, unknown>>
  /** Numbers of the steps that opened its turn: the earliest start of them is where it looks from. Empty: the beginning. */
  readonly turn: readonly number[]
  /** Lanes whose inbox is to be read before this step, because its turn has a `sees` of them. */
  readonly readsInboxOf: readonly string[]
  readonly action: Action
}

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

/** Every step of a list of items, in the order of their numbers. */
export function* stepsOf(items: readonly PlannedItem[]): Generator<PlannedStep> {
  for (const item of items) {
    if (item.kind === 'step') yield item
    else for (const branch of item.branches) yield* stepsOf(branch)
  }
}

export const isStimulus = ({ action }: PlannedStep): boolean =>
  ['user', 'press', 'bot', 'agent', 'availability', 'deliver', 'target', 'wait'].includes(action.verb)
export const isCheck = ({ action }: PlannedStep): boolean => ['expect', 'none', 'check', 'sees'].includes(action.verb)
