/** A verb as a function of a module. */

import { type CallOutcome, failed, messageOf, STOPPED, timedOut, withTimeLimit } from './call-outcome.ts'
import type { DriverContext, FunctionVerb } from './driver.ts'

/** What it throws is what failed. One that does not heed its signal is left to itself. */
export async function callFunction(
  verb: FunctionVerb,
  context: DriverContext,
  signal: AbortSignal,
): Promise<CallOutcome> {
  try {
    const done = await withTimeLimit(verb.timeoutMs, signal, async inner => ({
      value: await verb.run({ ...context, signal: inner }),
    }))
    if (done === 'timeout') return timedOut(verb.timeoutMs, 'not finished')
    return done === 'stopped' ? STOPPED : { outcome: 'ok', ...done }
  } catch (error) {
    return failed(`threw ${JSON.stringify(whole(error))}${placeOf(error)}`)
  }
}

/** `fetch failed` alone says nothing. */
function whole(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return messageOf(error)
  return `${messageOf(error)}: ${cause.message || ((cause as NodeJS.ErrnoException).code ?? cause.name)}`
}

/** Where a slip of the pen is. What a driver says itself needs no place. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error) || error.name === 'Error') return ''
  const [, place] = /^\s+at .*?([^/\\() ]+\.[cm]?[jt]s:\d+:\d+)\)?$/m.exec(error.stack ?? '') ?? []
  return place === undefined ? '' : ` (${place})`
}
