/** A driver as it was read: what each verb does, and how the intermediary is started. Texts still hold `$(...)`. */
import type { Problem } from '../files/errors.ts'
import type { DriverContext } from './agent-driver.ts'

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
  readonly ask: Ask
}

/** Shows a question on the terminal and resolves with the line that was typed. Rejects when aborted. */
export type Ask = (question: string, signal: AbortSignal) => Promise<string>

export interface TargetSpec {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  /** Answers 2xx once it serves. */
  readonly ready: string
  readonly readyTimeoutMs: number
  readonly stopTimeoutMs: number
}
