/**
 * What the player of a scenario writes into the journal beside what happens anyway, so that a verdict needs nothing
 * but the plan and the journal. All are notes; `chat_id` is that of the lane where there is one.
 */
import type { Entry, EntryOf } from '../journal/entry.ts'
import type { DriverFailure, EarlyEnd, StepFailure } from '../journal/run-failures.ts'
import type { ConnectionFailure } from '../runtime/connection-failure.ts'

/** First entry of a play. */
export interface ScenarioStarted {
  readonly note: 'scenario_started'
  readonly scenario: string
  readonly file: string
  /** 1, 2 ... with `--repeat`. */
  readonly instance: number
  readonly seed: number
  readonly clock: 'real' | 'virtual'
  readonly bot: { readonly id: number; readonly name: string }
  /** What `$(config.X)` reads: everything in force, keys masked. */
  readonly config: Readonly<Record<string, unknown>>
  /** What `$(env.X)` reads. */
  readonly env: Readonly<Record<string, string>>
  /** What `$(sim.X)` reads: `url`, `api_key` (masked), `bot_id`. */
  readonly sim: Readonly<Record<string, unknown>>
  /** Whether the driver is there, and which verbs it has: `accept`, `inbox`, `does.transfer`, `target.restart`. */
  readonly driver: readonly string[] | null
}

/** A chat of the scenario, when it is made; what `$(chat.X)` reads. */
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
    /** When it is not the bot of the scenario. */
    readonly bot_id?: number
  }
}

export interface StepStarted {
  readonly note: 'step_started'
  readonly step: number
  readonly verb: string
  readonly label: string
}

/** What came of playing it; whether a check was met is for the judge to say. */
export interface StepEnded {
  readonly note: 'step_ended'
  readonly step: number
  /** The event a stimulus caused, when one was due. */
  readonly delivery_id?: string | null
  /** Why the runner could not execute it. */
  readonly failure?: StepFailure
  /** The verb that the driver lacks. */
  readonly missing?: string
  /** The end of the run or of the time limit interrupted it. */
  readonly interrupted?: true
  /** The unique token put into the user's text. */
  readonly token?: string
  /** Index of the last inbox item a `sees` looked at, and of others what the judge needs. */
  readonly [detail: string]: unknown
}

/** The chat as a `check` saw it; written again whenever what it looks at has changed. */
export interface Observed {
  readonly note: 'observed'
  readonly step: number
  readonly chat_id: string
  readonly status: 'bot' | 'pending' | 'agent'
  readonly typing: boolean
  readonly availability: 'OPEN' | 'CLOSED'
  /** Only when the check asks for it. */
  readonly transcript?: readonly TranscriptRow[]
}

/** Exactly one of user, bot, agent. `agent` is the name shown, with `text`. */
export type TranscriptRow =
  | { readonly user: string }
  | { readonly bot: string; readonly buttons?: readonly unknown[] }
  | { readonly agent: string; readonly text: string }

/** The target accepted no connection after a step had waited in vain. */
export interface TargetUnreachable {
  readonly note: 'target_unreachable'
  readonly failure: ConnectionFailure
}

/** All steps are over; from here on only stragglers. */
export interface StepsDone {
  readonly note: 'steps_done'
}

/** Last entry of a play that came to its end. What follows arrived after it and is charged to it. */
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
  | StepsDone
  | ScenarioEnded

export type RunEventOf<Name extends RunEvent['note']> = Extract<RunEvent, { note: Name }> & EntryOf<'note'>

export const isRunEvent = <Name extends RunEvent['note']>(entry: Entry, ...names: Name[]): entry is RunEventOf<Name> =>
  entry.kind === 'note' && names.some(name => name === entry.note)

/** One call of the driver. An inbox read has `items`. */
export interface DriverCall {
  readonly verb: string
  readonly outcome: 'ok' | 'failed' | 'unreachable'
  /** `POST http://127.0.0.1:3100/desk/c1/accept`, `./agent.sh accept c1`, `function accept`, `manual`. */
  readonly how: string
  readonly status?: number
  readonly duration_ms: number
  /** What the agent was to write. */
  readonly text?: string
  /** Why it failed. */
  readonly failure?: DriverFailure
  /** The start of what it answered. */
  readonly answer?: string
  readonly items?: readonly InboxItem[]
  readonly chat_id?: string
}

/** What an agent sees of a chat; oldest first. */
export interface InboxItem {
  readonly request?: true
  readonly text?: string
  readonly attachments?: readonly { readonly name?: string; readonly url?: string; readonly type?: string }[]
  readonly [more: string]: unknown
}

/** The conversation of a chat id; `null` for chats that the scenario did not open. */
export type ConversationOf = (chatId: string | undefined) => string | null

export function conversationsIn(entries: readonly Entry[]): ConversationOf {
  const conversations = new Map<string | undefined, string>()
  for (const entry of entries) {
    if (entry.kind === 'note' && entry.note === 'conversation')
      conversations.set(entry.chat_id, String(entry.conversation))
  }
  return chatId => conversations.get(chatId) ?? null
}
