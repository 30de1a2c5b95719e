/** The human agent's side, as the player of a scenario uses it. */
import type { DriverCall, InboxItem } from '../scenario/run-events.ts'

export interface DriverChat {
  readonly id: string
  readonly user_id: string
  readonly language: string
  readonly source: string
  readonly name: string
}

/** What `$(...)` in a driver may read. */
export interface DriverContext {
  /** Null for the verbs that are about the whole desk: away, back. */
  readonly chat: DriverChat | null
  readonly text?: string
  /** The parameters of a custom verb. */
  readonly with?: Readonly<Record<string, unknown>>
  readonly sim: { readonly url: string; readonly api_key: string; readonly bot_id: number }
}

/** Plain verbs, `does.NAME`, and `inbox`. */
export type DriverVerb = string

export interface Driver {
  /** Where it was read from, for messages. */
  readonly name: string
  /** `accept`, `inbox`, `does.transfer`, `target.restart`: what scenarios may need. */
  readonly verbs: readonly string[]
  /** Never rejects: whatever went wrong is in the outcome. Ends within its timeout, or when aborted. */
  call(verb: DriverVerb, context: DriverContext, signal: AbortSignal): Promise<DriverCall>
  /** An inbox read has `items` when its outcome is `ok`. */
  inbox(context: DriverContext, signal: AbortSignal): Promise<DriverCall & { readonly items?: readonly InboxItem[] }>
  readonly target: TargetControl | null
  close(): Promise<void>
}

/** The intermediary as a process of ours. */
export interface TargetControl {
  /** Starts it and waits until it is ready. Rejects with an Error in words a user can act on, with what it said last. */
  start(): Promise<void>
  /** SIGTERM, then SIGKILL when it does not go. */
  stop(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
  readonly running: boolean
}

export type { DriverCall, InboxItem }
