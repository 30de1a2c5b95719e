/** Waits until a simulator is ready (`handover-sim wait`). */
import { elapsedMs, wallDelay, wallTimer } from '../base/runtime/clock.ts'
import { type ConnectionFailure, connectionFailure } from '../base/runtime/connection-failure.ts'
import { formatDuration, parseDuration } from '../base/text/quantities.ts'
import { failureText } from '../platform/wording/failures.ts'
import { defineCommand } from './command.ts'
import { type Context, EnvironmentError, UsageError } from './io.ts'
import { ADDRESS_FLAGS, type AddressFlags, findSimulator } from './running-simulator.ts'

export const POLL_MS = 100
const ANSWER_WITHIN_MS = 2_000

export const waitCommand = defineCommand({
  flags: {
    ...ADDRESS_FLAGS,
    '--timeout <duration>': { description: 'how long to wait', default: '30s' },
  },
  async run(context, flags) {
    const url = await untilReady(context, flags, timeoutFrom(flags.timeout))
    context.io.stdout.write(`Ready: ${url}\n`)
    return 0
  },
})

/** Reads `--timeout` as milliseconds. */
export function timeoutFrom(text: string): number {
  const timeoutMs = parseDuration(text)
  if (timeoutMs !== null) return timeoutMs
  throw new UsageError(`--timeout: must be a duration such as 500ms, 30s, 2m, got ${JSON.stringify(text)}.`)
}

/** Resolves with the URL of the simulator. */
async function untilReady(context: Context, flags: AddressFlags, timeoutMs: number): Promise<string> {
  const until = elapsedMs() + timeoutMs
  for (;;) {
    // Again each time, because the ready file appears when the simulator serves.
    const simulator = await findSimulator(context, flags)
    const why = simulator === null ? 'it is not there' : reasonText(await probe(simulator.url))
    if (simulator !== null && why === null) return simulator.url
    if (elapsedMs() + POLL_MS > until) {
      const what = simulator?.url ?? `The ready file ${JSON.stringify(flags.readyFile)}`
      throw new EnvironmentError(`${what} is not ready after ${formatDuration(timeoutMs)}: ${why}.`)
    }
    await wallDelay(POLL_MS)
  }
}

interface NotReady {
  readonly code: 'answered'
  readonly status: number
}

const reasonText = (why: ConnectionFailure | NotReady | null): string | null =>
  why?.code === 'answered' ? `it answered ${why.status}` : why && failureText(why)

/** Null when ready, else the reason. */
export async function probe(url: string): Promise<ConnectionFailure | NotReady | null> {
  const giveUp = new AbortController()
  const timer = wallTimer(ANSWER_WITHIN_MS, () => giveUp.abort(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`)))
  try {
    const response = await fetch(`${url}/_sim/readyz`, { signal: giveUp.signal })
    await response.arrayBuffer()
    return response.status === 200 ? null : { code: 'answered', status: response.status }
  } catch (error) {
    return connectionFailure(error, new URL(url).host)
  } finally {
    timer.cancel()
  }
}
