/**
 * Defines the notes that a run of a scenario adds to the journal, so that a verdict needs only plan and journal. A note
 * about one conversation has its `chat_id`.
 */

import type { ConnectionFailure } from '../../base/runtime/connection-failure.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import type { DriverFailure, EarlyEnd, StepFailure, TargetOutput } from '../../platform/journal/run-failures.ts'

/** The first entry of a run. */
export interface ScenarioStarted {
  readonly note: 'scenario_started'
  readonly scenario: string
  readonly file: string
  /** 1, 2 ... with `--repeat`. */
  readonly instance: number
  readonly seed: number
  readonly clock: 'real' | 'virtual'
  readonly bot: { readonly id: number; readonly name: string }
  /** Values of `$(config.X)`: every effective setting, keys masked. */
  readonly config: Readonly<Record<string, unknown>>
  /** Values of `$(env.X)`. */
  readonly env: Readonly<Record<string, string>>
  /** Values of `$(sim.X)`: `url`, `api_key` (masked), `bot_id`. */
  readonly sim: Readonly<Record<string, unknown>>
  /** Verbs of the agent driver, such as `accept`, `inbox`, `does.transfer`, `target.restart`; null without a driver. */
  readonly driver: readonly string[] | null
}

/** A chat of the scenario was created; `chat` has the values of `$(chat.X)`. */
export interface ConversationOpened {
  readonly note: 'conversation'
  readonly chat_id: string
  readonly conversation: string
  readonly chat: {
    readonly id: string
    readonly user_id: string
    readonly language: string
    readonly source: string
    readonly name: string
    /** Set when it is not the bot of the scenario. */
    readonly bot_id?: number
  }
}

export interface StepStarted {
  readonly note: 'step_started'
  readonly step: number
  readonly verb: string
  readonly label: string
}

/** The result of running a step; the evaluator decides whether an expectation was met. */
export interface StepEnded extends StepDetails {
  readonly note: 'step_ended'
  readonly step: number
}

/** What the runner records of a step. */
export interface StepDetails {
  /** The event that a stimulus caused; null when it caused none. */
  readonly delivery_id?: string | null
  /** Why the runner could not execute it. */
  readonly failure?: StepFailure
  /** The verb that the driver lacks. */
  readonly missing?: string
  /** The end of the run or of the time limit interrupted it. */
  readonly interrupted?: true
  /** Values that a met `expect` captured, for later steps. */
  readonly captured?: Readonly<Record<string, unknown>>
  /** The unique token put into the user's text. */
  readonly token?: string
  /** Values that the evaluator needs, such as the index of the last inbox item that a `sees` read. */
  readonly [detail: string]: unknown
}

/** The state of the chat while a `check` waits; added again after every change. */
export interface Observed {
  readonly note: 'observed'
  readonly step: number
  readonly chat_id: string
  readonly status: 'bot' | 'pending' | 'agent'
  readonly typing: boolean
  readonly availability: 'OPEN' | 'CLOSED'
  /** Only for checks of the transcript. */
  readonly transcript?: readonly TranscriptRow[]
}

/** Exactly one of user, bot and agent; `agent` is the displayed name and comes with `text`. */
export type TranscriptRow =
  | { readonly user: string }
  | { readonly bot: string; readonly buttons?: readonly unknown[] }
  | { readonly agent: string; readonly text: string }

/** The target accepted no connection after a step had waited in vain. */
export interface TargetUnreachable {
  readonly note: 'target_unreachable'
  readonly failure: ConnectionFailure
}

/** What the target printed last, when it ended by itself, and after the end of a scenario that failed. */
export interface TargetOutputNote extends TargetOutput {
  readonly note: 'target_output'
}

/** All steps have ended; later calls are late. */
export interface StepsDone {
  readonly note: 'steps_done'
}

/** The last entry of a complete run. Later entries still count for it. */
export interface ScenarioEnded {
  readonly note: 'scenario_ended'
  /** Why it ended before its last step. */
  readonly stopped?: EarlyEnd
}

export type RunEvent =
  | ScenarioStarted
  | ConversationOpened
  | StepStarted
  | StepEnded
  | Observed
  | TargetUnreachable
  | TargetOutputNote
  | StepsDone
  | ScenarioEnded

export type RunEventOf<Name extends RunEvent['note']> = Extract<RunEvent, { note: Name }> & EntryOf<'note'>

export function isRunEvent<Name extends RunEvent['note']>(
  entry: Entry,
  ...names: readonly Name[]
): entry is RunEventOf<Name> {
  const searched: readonly string[] = names
  return entry.kind === 'note' && searched.includes(entry.note)
}

/** One call of the agent driver; an inbox read has `items`. */
export interface DriverCall {
  readonly verb: string
  readonly outcome: 'ok' | 'failed' | 'unreachable'
  /** `POST http://127.0.0.1:3100/desk/c1/accept`, `./agent.sh accept c1`, `function accept`, `manual`. */
  readonly how: string
  readonly status?: number
  readonly duration_ms: number
  /** The text for the agent to send. */
  readonly text?: string
  /** Why it failed. */
  readonly failure?: DriverFailure
  /** The start of the answer. */
  readonly answer?: string
  readonly items?: readonly InboxItem[]
  readonly chat_id?: string
}

export type DriverCallEntry = EntryOf<'driver'> & DriverCall

/** The runner appends the calls of the driver as they are. */
export const isDriverCall = (entry: Entry): entry is DriverCallEntry => entry.kind === 'driver'

/** What an agent sees of a chat; oldest first. */
export interface InboxItem {
  /** True for the request of the user to talk to an agent. */
  readonly request?: boolean
  readonly text?: string
  readonly attachments?: readonly { readonly name?: string; readonly url?: string; readonly type?: string }[]
  readonly [more: string]: unknown
}
