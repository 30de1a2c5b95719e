/**
 * Defines the plan of a scenario and the actions of its steps as plain data: includes inserted, repeats unrolled,
 * parallel users expanded, defaults set, steps numbered. Values may still hold `$(...)`, which is interpolated with the
 * scope of a step when it runs.
 */
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import type { SignMode } from '../../platform/contract/event-names.ts'
import type { AvailabilityReason, AvailabilityValue, Button } from '../../platform/contract/schemas.ts'
import type { FaultFields } from '../../platform/faults/schema.ts'

export interface Place {
  /** The path as the user writes it. */
  readonly file: string
  readonly line: number
  readonly column: number
}

/** `scenarios/happy.yaml:19:5`, as editors and terminals understand it. */
export const placeText = ({ file, line, column }: Place): string => `${file}:${line}:${column}`

/** Whether something is ignored, a warning or a failure. */
export type Severity = 'off' | 'warn' | 'fail'

/** must: required, so that its failure fails the scenario. should: recommended, so that its failure is a warning. */
export type ScenarioLevel = 'must' | 'should'

export interface ConversationSpec {
  /** `main` when the scenario has one chat. */
  readonly name: string
  readonly language: Template
  readonly source: Template
  readonly user: Template
  readonly history: readonly Template[]
  readonly transcript: string | null
  readonly context: Template
  readonly labels: Template
  /** Values of `$(...)` in this conversation: `user` in conversations of parallel users. */
  readonly scope: Readonly<Record<string, unknown>>
}

export interface Plan {
  /** Ends with `[language=nb]` for an instance of a matrix. */
  readonly name: string
  /** The name without the values of the matrix. */
  readonly title: string
  readonly description: string | null
  readonly file: string
  readonly place: Place | null
  readonly tags: readonly string[]
  readonly spec: readonly string[]
  /** Null for that of the run. */
  readonly seed: number | null
  /** Null for that of the run. */
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
  /** Whether a unique token is appended to every user text. */
  readonly tokens: boolean
  readonly conversations: readonly ConversationSpec[]
  readonly vars: Readonly<Record<string, unknown>>
  /** Values of this instance of the matrix. */
  readonly matrix: Readonly<Record<string, unknown>>
  readonly never: readonly CallPattern[]
  readonly steps: readonly PlannedItem[]
  readonly finally: readonly PlannedItem[]
  /** The number of steps, including `finally`. */
  readonly count: number
  /** Why no other scenario may run at the same time; null when others may. */
  readonly exclusive: string | null
  /** Required driver verbs: `accept`, `inbox`, `does.transfer`, `target.restart`. */
  readonly needs: readonly string[]
  /** Names of environment variables its texts read. */
  readonly env: readonly string[]
  /** Whether a step is about availability; only then unclaimed availability calls count. */
  readonly mentionsAvailability: boolean
}

export type PlannedItem = PlannedStep | PlannedParallel

/** Branches that run at the same time; each has its own turns. */
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
  /** The conversation it is about. */
  readonly conversation: string
  readonly level: ScenarioLevel
  readonly soft: boolean
  readonly place: Place | null
  /** The step in one line: `expect message { message: "I'm Anna" }`. */
  readonly label: string
  /** Include parameters, `i` of a repeat, `user` of a parallel, `texts`; in addition to vars, matrix and captures. */
  readonly scope: Readonly<Record<string, unknown>>
  /** Numbers of the steps that opened its turn. Calls count from their earliest start, or from the beginning. */
  readonly turn: readonly number[]
  /** Conversations whose inbox is read before this step, because a `sees` of its turn needs it. */
  readonly readsInboxOf: readonly string[]
  readonly action: Action
}

/** Every step inside the items, in the order of their numbers. */
export function* stepsOf(items: readonly PlannedItem[]): Generator<PlannedStep> {
  for (const item of items) {
    if (item.kind === 'step') yield item
    else for (const branch of item.branches) yield* stepsOf(branch)
  }
}

export const isStimulus = ({ action }: PlannedStep): boolean =>
  ['user', 'leaves', 'press', 'bot', 'agent', 'availability', 'deliver', 'target', 'wait'].includes(action.verb)
export const isCheck = ({ action }: PlannedStep): boolean => ['expect', 'none', 'check', 'sees'].includes(action.verb)

/** A value with `$(...)` inside. */
export type Template = unknown

export type CallName = EndpointId | 'any'

export type Verb = Action['verb']

/** The expected answer of the webhook: a status, `any` or `non-2xx`. */
export type ExpectedAck = number | 'any' | 'non-2xx'

export type Action =
  | {
      readonly verb: 'user'
      readonly text: Template
      readonly attach: readonly Template[]
      readonly ack: ExpectedAck
      readonly async: boolean
    }
  /** The user leaves the chat. */
  | { readonly verb: 'leaves'; readonly does: 'close' | 'delete' }
  | { readonly verb: 'press'; readonly button: Template; readonly ack: ExpectedAck; readonly async: boolean }
  | { readonly verb: 'bot'; readonly text: Template; readonly buttons: readonly Button[] }
  | { readonly verb: 'agent'; readonly does: AgentVerb; readonly text: Template; readonly with: Template }
  | {
      readonly verb: 'sees'
      readonly item: Template
      readonly times: Times
      readonly withinMs: number | null
      /** How long to wait for more items than `times` allows. */
      readonly forMs: number | null
    }
  | {
      readonly verb: 'wait'
      readonly ms: number
      /** Of a `think`: the seed draws a time from `ms` to this. */
      readonly toMs?: number
    }
  | { readonly verb: 'availability'; readonly value: AvailabilityValue; readonly reason?: AvailabilityReason }
  | {
      readonly verb: 'fault'
      readonly fault: FaultFields | { readonly clear: string | true }
      /** As it is written, with names to fill in; absent for a fault that is cleared. */
      readonly template?: Template
    }
  | {
      readonly verb: 'deliver'
      /** The name of a new event; null when `replay` names the step whose event is sent again. */
      readonly event: Template
      readonly replay: string | null
      readonly body: Template
      readonly sign: SignMode
      readonly ack: ExpectedAck
      readonly async: boolean
    }
  | { readonly verb: 'target'; readonly does: 'start' | 'stop' | 'restart' | 'kill' }
  | {
      readonly verb: 'expect'
      readonly tree: ExpectTree
      readonly withinMs: number | null
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
  /** Whether the scenario states `times`: too many calls then fail it, whatever `strict` says. */
  readonly statesTimes: boolean
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
