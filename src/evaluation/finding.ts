/** Defines a finding, which says that something is wrong: in words for people, in codes and values for programs. */
import type { PlannedStep } from './scenario/plan.ts'
import type { Notation } from './scenario/value-text.ts'

/** MUST: the platform's description, or the scenario, demands it. SHOULD: good practice. INFO: a fact without a verdict. */
export type Level = 'MUST' | 'SHOULD' | 'INFO'

export interface Finding {
  /** Names what happened: `no_call`, `event-refused`. */
  readonly code: string
  readonly level: Level
  /** What happened, complete by itself. */
  readonly happened: string
  /** What to try, when it is typical of one mistake. */
  readonly hint?: string
  /** The values behind `happened`. */
  readonly details: Readonly<Record<string, unknown>>
  /** Numbers of the entries that show it. */
  readonly entrySeqs: readonly number[]
  /** The chat by its name; null for the bot as a whole. */
  readonly conversation: string | null
}

/** What happened and what to try, for a reader who sees one text. */
export const findingText = ({ happened, hint }: Pick<Finding, 'happened' | 'hint'>): string =>
  hint === undefined ? happened : `${happened} ${hint}`

export type FailureKind =
  | 'expect' // an expected call did not arrive
  | 'none' // a call arrived that must not
  | 'sees' // the agent did not see an item, or saw it too often
  | 'check' // the chat is in another state
  | 'stimulus' // a stimulus was not acknowledged, or could not be done
  | 'driver' // the agent driver failed
  | 'unexpected' // a call that no step expects
  | 'contract' // a call that the platform refuses
  | 'never' // a call that the whole scenario forbids
  | 'times' // too many calls, or calls too close to each other
  | 'echo' // a user's text came back as an agent's message
  | 'leak' // a user's text appeared in another chat
  | 'late' // a call after the end of the scenario
  | 'lint' // a warning that `--strict` made a failure
  | 'evicted' // the journal lost entries that a check needs
  | 'scenario' // the scenario or the test cannot be evaluated: a pattern is too slow
  | 'stopped' // the time limit of the scenario, or an interruption
  | 'environment' // the target or the agent driver is missing, or the driver reads no inbox
  | 'internal' // an error of the simulator itself

/** A finding by which a scenario or a test fails. */
export interface Failure extends Finding {
  readonly kind: FailureKind
  readonly step: StepRef | null
  readonly expected: string
  readonly hintCode?: string
  /** Rule ids of docs/reference/platform.md: `E6`. */
  readonly rules: readonly string[]
  /** Best first. */
  readonly nearest: readonly NearMiss[]
  /** The conversation continued after it. */
  readonly soft: boolean
  /** What scenarios with the same cause have in common; null where it says nothing about others. */
  readonly cause: Cause | null
}

/** A failure that is not yet attributed to a step or a conversation. */
export type FailureDetails = Omit<Failure, 'step' | 'conversation' | 'soft'>

/** What to try after a failure. */
export interface Hint {
  readonly code: string
  readonly text: string
}

type Optional = Partial<Pick<Failure, 'details' | 'rules' | 'nearest' | 'entrySeqs'>>

/** The fields with which an evaluator describes a failure; those that it leaves out have defaults. */
interface FailureFacts extends Pick<Failure, 'code' | 'expected' | 'happened'>, Optional {
  readonly hint?: Hint | null | undefined
  readonly cause?: Cause | null
}

export const createFailure = (
  kind: FailureKind,
  { hint = null, cause = null, ...facts }: FailureFacts,
): FailureDetails => ({
  ...{ kind, level: 'MUST' as const, details: {}, rules: [], nearest: [], entrySeqs: [], cause },
  ...facts,
  ...hintFields(hint),
})

/** A failure that belongs to no step. */
export const createOrphan = (
  kind: FailureKind,
  facts: FailureFacts & Partial<Pick<Failure, 'conversation'>>,
): Failure => {
  const { conversation = null, ...rest } = facts
  return { ...createFailure(kind, rest), step: null, conversation, soft: false }
}

export const hintFields = (hint: Hint | null): Pick<Failure, 'hint' | 'hintCode'> =>
  hint === null ? {} : { hint: hint.text, hintCode: hint.code }

export const causedBy = (code: string, text: string, ...facts: readonly unknown[]): Cause => ({ code, text, facts })

/** Why something failed, in words that fit several scenarios. */
export interface Cause {
  readonly code: string
  readonly text: string
  /** Equal for the same cause: no step, place, time or entry. */
  readonly facts: readonly unknown[]
}

export interface StepRef extends Pick<PlannedStep, 'number' | 'id' | 'name' | 'label' | 'conversation' | 'place'> {
  readonly of: number
}

export type StepName = Pick<PlannedStep, 'number' | 'id' | 'label'>

/** A call, an inbox item or an observation that was examined and not taken. */
export interface NearMiss {
  readonly seq: number
  /** `POST /api/v2/handover/message/`, `inbox item 3 "Hello"`. */
  readonly what: string
  /** Milliseconds after the moment the step looks from. */
  readonly afterMs: number
  readonly codes: readonly string[]
  /** `2 fields differ`, `already claimed by step 3`. */
  readonly why: string
  /** The numbers of the steps that `why` names. */
  readonly steps: readonly number[]
  readonly differences: readonly Difference[]
}

/** A field whose value is not the expected one. */
export interface Difference {
  /** `message`, `sender.name`, `attachments[0].name`; empty for the whole. */
  readonly path: string
  readonly expected: Notation
  /** `absent` for nothing. */
  readonly received: Notation
  /** The mistake that explains it. */
  readonly code?: string
  readonly hint?: string
}
