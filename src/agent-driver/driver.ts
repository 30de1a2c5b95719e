/** The human agent's side, as the player of a scenario uses it. */

import type { Problem } from '../files/errors.ts'
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

export interface DriverSpec {
  /** Where it was read from, for messages. */
  readonly name: string
  /** Relative commands run from here. */
  readonly folder: string
  /** `accept`, `inbox`, `does.transfer`. */
  readonly verbs: Readonly<Record<string, VerbSpec>>
  /** Verbs it names but cannot do here, and why. */
  readonly missing: Readonly<Record<string, string>>
  readonly target: TargetSpec | null
  /** The environment variables its texts read, and what to say about one that is not set. */
  readonly variables: readonly { readonly name: string; readonly unset: Problem }[]
}

export type VerbSpec = HttpVerb | ExecVerb | FunctionVerb | ManualVerb

export const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

export interface HttpVerb {
  readonly kind: 'http'
  readonly method: Method
  /** Scheme, host and port, perhaps the beginning of the path: filled as it is. */
  readonly base: string
  /** The rest: what is filled in is percent-encoded. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: no body. */
  readonly json: unknown
  readonly timeoutMs: number
}

export interface ExecVerb {
  readonly kind: 'exec'
  readonly command: readonly string[]
  readonly timeoutMs: number
}

/** What a module's verb is called with. `signal` aborts when its time is over. */
export type FunctionContext = DriverContext & { readonly signal: AbortSignal }

export interface FunctionVerb {
  readonly kind: 'function'
  readonly run: (context: FunctionContext) => unknown
  readonly timeoutMs: number
}

/** A person does it, and says so on the terminal. */
export interface ManualVerb {
  readonly kind: 'manual'
  readonly ask: Prompt
}

/** Shows a question on the terminal and resolves with the line that was typed. Rejects when aborted. */
export type Prompt = (question: string, signal: AbortSignal) => Promise<string>

export interface TargetSpec {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  /** Answers 2xx once it serves. */
  readonly ready: string
  readonly readyTimeoutMs: number
  readonly stopTimeoutMs: number
}
