/** Waits until a simulator is ready (`handover-sim wait`). */
import { elapsedMs, wallDelay } from '../base/runtime/clock.ts'
import { formatDuration, parseDuration } from '../base/text/quantities.ts'
import { failureText } from '../platform/wording/failures.ts'
import { type NotReady, probe } from '../running/agent-driver/probe.ts'
import { defineCommand } from './command.ts'
import { type Context, EnvironmentError, UsageError } from './io.ts'
import { ADDRESS_FLAGS, type AddressFlags, findSimulator } from './running-simulator.ts'

export const POLL_MS = 100

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

/** Answers 200 once the simulator at this URL serves. */
export const readyAddress = (url: string): string => `${url}/_sim/readyz`

/** Resolves with the URL of the simulator. */
async function untilReady(context: Context, flags: AddressFlags, timeoutMs: number): Promise<string> {
  const until = elapsedMs() + timeoutMs
  for (;;) {
    // Again each time, because the ready file appears when the simulator serves.
    const simulator = await findSimulator(context, flags)
    const why = simulator === null ? 'it is not there' : reasonText(await probe(readyAddress(simulator.url)))
    if (simulator !== null && why === null) return simulator.url
    if (elapsedMs() + POLL_MS > until) {
      const what = simulator?.url ?? `The ready file ${JSON.stringify(flags.readyFile)}`
      throw new EnvironmentError(`${what} is not ready after ${formatDuration(timeoutMs)}: ${why}.`)
    }
    await wallDelay(POLL_MS)
  }
}

const reasonText = (why: NotReady | null): string | null =>
  why?.code === 'status' ? `it answered ${why.status}` : why && failureText(why)
