/** What came of one attempt to do something at the desk, before it is a `DriverCall`. */

import { wallTimer } from '../runtime/clock.ts'
import type { DriverFailure } from '../scenario/run-events.ts'
import { formatDuration } from '../text/duration.ts'

export interface CallOutcome {
  readonly outcome: 'ok' | 'failed' | 'unreachable'
  readonly status?: number
  readonly error?: string
  readonly failure?: DriverFailure
  /** What it answered or printed, at most `MOST_CHARS` of it. */
  readonly text?: string
  /** What a function returned. */
  readonly value?: unknown
}

/** Longer answers are not read to their end. */
export const MOST_CHARS = 1_048_576
export const TOO_LONG = 'more than 1 MiB'
const SHOWN_CHARS = 300
const READ_CHARS = 10_000

export const failed = (error: string): CallOutcome => ({ outcome: 'failed', error })
export const unreachable = (error: string): CallOutcome => ({ outcome: 'unreachable', error })
export const timedOut = (ms: number, what: string): CallOutcome =>
  failed(`timeout: ${what} within ${formatDuration(ms)}`)
export const STOPPED = failed('broken off, because the run is over')

/** The start of a text, on one line. */
export function startOf(text: string): string {
  const line = oneLine(text.slice(0, SHOWN_CHARS * 2))
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS - 1)}…` : line
}

/** Where a program was, not what went wrong: call stacks as Python and Node print them. */
const STACKS = [
  /^[ \t]*File ".*", line \d+.*\n(?:[ \t]{4,}.*(?:\n|$))*/gm,
  /^[ \t]+at .+$/gm,
  /^[ \t]*[\^~]+[ \t]*$/gm,
  /^(?:Traceback \(most recent call last\):|Node\.js v[\d.]+)$/gm,
]

/** What a program that failed complained of, on one line. What made it give up stands at the end. */
export function complaintOf(text: string): string {
  const words = oneLine(STACKS.reduce((left, stack) => left.replace(stack, ''), text.slice(-READ_CHARS)))
  return words.length > SHOWN_CHARS ? `…${words.slice(1 - SHOWN_CHARS)}` : words
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export type TimeLimitEnd = 'timeout' | 'stopped'

/** `work` is told by its signal, but not waited for. Rejects with what `work` rejects with. */
export function withTimeLimit<T>(
  timeoutMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | TimeLimitEnd> {
  return new Promise((resolve, reject) => {
    if (outer.aborted) return resolve('stopped')
    const inner = new AbortController()
    const cut = (why: TimeLimitEnd) => {
      resolve(why)
      inner.abort()
    }
    const timer = wallTimer(timeoutMs, () => cut('timeout'))
    const stop = () => cut('stopped')
    outer.addEventListener('abort', stop, { once: true })
    work(inner.signal)
      .then(resolve, reject)
      .finally(() => {
        timer.cancel()
        outer.removeEventListener('abort', stop)
      })
  })
}
