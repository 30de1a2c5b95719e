/** Defines an agent driver, which acts as the human agent: the driver itself, and its spec as it is read from a file. */

import type { Problem } from '../../base/files/errors.ts'
import type { DriverCall, InboxItem } from '../../evaluation/scenario/run-events.ts'
import type { TargetFailure, TargetOutput } from '../../platform/journal/run-failures.ts'

export interface DriverChat {
  readonly id: string
  readonly user_id: string
  readonly language: string
  readonly source: string
  readonly name: string
}

/** The values that `$(...)` reads in a driver. */
export interface DriverContext {
  /** Null for the verbs of the whole help desk: `away`, `back`. */
  readonly chat: DriverChat | null
  readonly text?: string
  /** The parameters of a custom verb. */
  readonly with?: Readonly<Record<string, unknown>>
  readonly sim: { readonly url: string; readonly api_key: string; readonly bot_id: number }
}

export type Environment = Readonly<Record<string, string | undefined>>

export interface Driver {
  /** The file or address it was read from, for messages. */
  readonly name: string
  /** Every verb it has: `accept`, `inbox`, `does.transfer`, `target.restart`. */
  readonly verbs: readonly string[]
  /** Never rejects: a failure is in the outcome. Resolves within its timeout, or when `signal` aborts. */
  call(verb: string, context: DriverContext, signal: AbortSignal): Promise<DriverCall>
  readonly target: TargetControl | null
  close(): Promise<void>
}

/** Controls the intermediary as a child process. */
export interface TargetControl {
  /** Resolves when it is ready. Rejects with `TargetStartError`. */
  start(): Promise<void>
  /** Sends SIGTERM, and SIGKILL when it does not end in time. */
  stop(): Promise<void>
  /** Sends SIGKILL. */
  kill(): Promise<void>
  readonly running: boolean
  /** How it has ended by itself, each time, oldest first. */
  readonly ends: readonly TargetEnd[]
  /** How many lines it has printed. */
  readonly printed: number
  /** The last lines that it printed after the first `after`; how it ended, when it does not run any more. Null for nothing. */
  outputAfter(after: number): TargetOutput | null
  /** Resolves when it has ended by itself, or answers: a connection that broke may be the first sign of its end. */
  endedOrServing(signal: AbortSignal): Promise<void>
  /** Calls the listener when it ends by itself. Returns a function that removes the listener. */
  onEnd(listener: () => void): () => void
}

/** The target ended by itself. */
export interface TargetEnd extends TargetOutput {
  readonly ended: TargetFailure
}

export type { DriverCall, InboxItem }

export interface DriverSpec {
  /** The file or address it was read from, for messages. */
  readonly name: string
  /** The folder in which commands run. */
  readonly folder: string
  /** `accept`, `inbox`, `does.transfer`. */
  readonly verbs: Readonly<Record<string, VerbSpec>>
  /** Manual verbs, when there is no terminal. */
  readonly needTerminal: readonly string[]
  readonly target: TargetSpec | null
  /** The environment variables it reads, each with the problem to report when it is not set. */
  readonly variables: readonly { readonly name: string; readonly unset: Problem }[]
}

export type VerbSpec = HttpVerb | ExecVerb | FunctionVerb | ManualVerb

export const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

export interface HttpVerb {
  readonly kind: 'http'
  readonly method: Method
  /** Scheme, host, port, and possibly the beginning of the path. Interpolated as it is. */
  readonly base: string
  /** The rest of the address. Interpolated values are percent-encoded. */
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

/** The argument of a function of a module. `signal` aborts when its time limit has passed. */
export type FunctionContext = DriverContext & { readonly signal: AbortSignal }

export interface FunctionVerb {
  readonly kind: 'function'
  readonly run: (context: FunctionContext) => unknown
  readonly timeoutMs: number
}

/** A person executes the verb and confirms it on the terminal. */
export interface ManualVerb {
  readonly kind: 'manual'
  readonly prompt: Prompt
}

/** Shows a question on the terminal and resolves with the line that was typed. Rejects when aborted. */
export type Prompt = (question: string, signal: AbortSignal) => Promise<string>

export interface TargetSpec {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  /** An address that answers 2xx once the target serves. */
  readonly ready: string
  readonly readyTimeoutMs: number
  readonly stopTimeoutMs: number
}
