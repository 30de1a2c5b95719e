/** Executes a verb as a function of a module. */
import { messageOf } from '../text/error-text.ts'
import { type CallOutcome, failed, withTimeLimit } from './call-outcome.ts'
import type { DriverContext, FunctionVerb } from './driver.ts'

/** Fails with what the function throws. A function that ignores its signal goes on after its time limit. */
export async function callFunction(
  { run, timeoutMs }: FunctionVerb,
  context: DriverContext,
  signal: AbortSignal,
): Promise<CallOutcome> {
  try {
    return await withTimeLimit({ timeoutMs, call: 'function', signal }, async inner => ({
      outcome: 'ok',
      value: await run({ ...context, signal: inner }),
    }))
  } catch (error) {
    return failed({ code: 'threw', detail: detailOf(error), ...placeOf(error) })
  }
}

/** Adds the cause: `fetch failed` alone does not say why. */
function detailOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return messageOf(error)
  return `${messageOf(error)}: ${cause.message || ('code' in cause ? String(cause.code) : cause.name)}`
}

/** The line of a mistake such as a `TypeError`. An `Error` is one that the driver throws on purpose. */
function placeOf(error: unknown): { place?: string } {
  if (!(error instanceof Error) || error.name === 'Error') return {}
  const [, place] = /^\s+at .*?([^/\\() ]+\.[cm]?[jt]s:\d+:\d+)\)?$/m.exec(error.stack ?? '') ?? []
  return place === undefined ? {} : { place }
}
