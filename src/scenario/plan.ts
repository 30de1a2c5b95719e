/**
 * A scenario ready to be played and judged: includes put in, repeats unrolled, parallel users written out, every
 * default filled, each step numbered and placed. Plain data. Values still hold `$(...)`: they are filled in when a
 * step is played or judged, with the scope of that step.
 */
import type { EndpointId } from '../contract/endpoints.ts'
import type { AvailabilityValue } from '../contract/schemas.ts'
import type { Action, CallPattern, Template } from './action.ts'

export interface Place {
  /** As the user would write it. */
  readonly file: string
  readonly line: number
  readonly column: number
}

/** `scenarios/happy.yaml:19:5`, as editors and terminals understand it. */
export const placeText = ({ file, line, column }: Place): string => `${file}:${line}:${column}`

/** What a scenario does about something: let it pass, mention it, fail. */
export type Severity = 'off' | 'warn' | 'fail'

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
  readonly conversations: readonly ConversationSpec[]
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
  readonly conversation: string
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
