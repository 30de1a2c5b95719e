/** Defines the outcome of one driver call, and bounds how long a call takes. */

import { wallTimer } from '../../base/runtime/clock.ts'
import { cut } from '../../base/text/cut.ts'
import { pageText } from '../../base/text/error-text.ts'
import type { DriverFailure } from '../../platform/journal/run-failures.ts'

export interface CallOutcome {
  /** `unreachable`: the help desk did not answer at all, or the command was not started. */
  readonly outcome: 'ok' | 'failed' | 'unreachable'
  readonly status?: number
  /** Set unless `outcome` is `ok`. */
  readonly failure?: DriverFailure
  /** What the call answered or printed, at most `MAX_CHARS` of it. */
  readonly text?: string
  /** What a function returned. */
  readonly value?: unknown
}

/** The driver stops reading an answer at this length. */
export const MAX_CHARS = 1_048_576
const SHOWN_CHARS = 300
const READ_CHARS = 10_000

export const failed = (failure: DriverFailure): CallOutcome => ({ outcome: 'failed', failure })
export const unreachable = (failure: DriverFailure): CallOutcome => ({ outcome: 'unreachable', failure })

/** Rejects a call before it is made. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly failure: DriverFailure

  constructor(failure: DriverFailure) {
    super(failure.code)
    this.failure = failure
  }
}

/** The start of a text, on one line; of an error page what it shows. */
export function startOf(text: string): string {
  return cut(oneLine(cut(pageText(text), SHOWN_CHARS * 2)), SHOWN_CHARS)
}

/** Lines of call stacks as Python and Node print them. */
const STACKS = [
  /^[ \t]*File ".*", line \d+.*\n(?:[ \t]{4,}.*(?:\n|$))*/gm,
  /^[ \t]+at .+$/gm,
  /^[ \t]*[\^~]+[ \t]*$/gm,
  /^(?:Traceback \(most recent call last\):|Node\.js v[\d.]+)$/gm,
]

/** The end of what a failed program printed, on one line and without call stacks: programs print the cause last. */
export function endOfOutput(text: string): string {
  let shown = text.length > READ_CHARS ? `…${text.slice(-READ_CHARS)}` : text
  for (const stack of STACKS) shown = shown.replace(stack, '')
  const line = oneLine(shown)
  return line.length > SHOWN_CHARS ? `…${line.slice(1 - SHOWN_CHARS)}` : line
}

const oneLine = (text: string) => (/[^\S ]| {2}/.test(text) ? text.replace(/\s+/g, ' ') : text).trim()

export interface TimeLimit {
  readonly timeoutMs: number
  /** Names the call in the failure. */
  readonly call: 'command' | 'function' | 'http'
  /** Aborts when the run ends. */
  readonly signal: AbortSignal
}

/** Fails the call after `timeoutMs`, or when the run ends. Aborts the signal of `work` then, and does not wait for it. */
export function withTimeLimit(
  { timeoutMs, call, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve(failed({ code: 'run_ended' }))
    const inner = new AbortController()
    const end = (failure: DriverFailure) => {
      resolve(failed(failure))
      inner.abort()
    }
    const stop = () => end({ code: 'run_ended' })
    const timer = wallTimer(timeoutMs, () => end({ code: 'call_timeout', timeout_ms: timeoutMs, call }))
    signal.addEventListener('abort', stop, { once: true })
    work(inner.signal)
      .then(resolve, reject)
      .finally(() => {
        timer.cancel()
        signal.removeEventListener('abort', stop)
      })
  })
}
