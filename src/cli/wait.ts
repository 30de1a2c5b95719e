/** Waits until a simulator is ready (`handover-sim wait`). */
import { elapsedMs, wallDelay, wallTimer } from '../runtime/clock.ts'
import { connectionFailure } from '../runtime/connection-failure.ts'
import { formatDuration, parseDuration } from '../text/quantities.ts'
import { failureText } from '../wording/failures.ts'
import { defineCommand, simulatorUrl, URL_FLAG } from './command.ts'
import { EnvironmentError, UsageError } from './io.ts'

const POLL_MS = 100
const ANSWER_WITHIN_MS = 2_000

export const waitCommand = defineCommand({
  flags: {
    ...URL_FLAG,
    '--timeout <duration>': { description: 'how long to wait', default: '30s' },
    '--port <number>': 'its port, when it is on this machine',
    '--config <file>': 'config file that names its port',
  },
  async run(context, flags) {
    const timeoutMs = parseDuration(flags.timeout)
    if (timeoutMs === null)
      throw new UsageError(
        `--timeout: must be a duration such as 500ms, 30s, 2m, got ${JSON.stringify(flags.timeout)}.`,
      )
    const url = await simulatorUrl(context, flags)
    await untilReady(url, timeoutMs)
    context.io.stdout.write(`Ready: ${url}\n`)
    return 0
  },
})

async function untilReady(url: string, timeoutMs: number): Promise<void> {
  const until = elapsedMs() + timeoutMs
  for (let why = await probe(url); why !== null; why = await probe(url)) {
    if (elapsedMs() + POLL_MS > until)
      throw new EnvironmentError(`${url} is not ready after ${formatDuration(timeoutMs)}: ${why}.`)
    await wallDelay(POLL_MS)
  }
}

/** Null when ready, else the reason. */
async function probe(url: string): Promise<string | null> {
  const giveUp = new AbortController()
  const timer = wallTimer(ANSWER_WITHIN_MS, () => giveUp.abort(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`)))
  try {
    const response = await fetch(`${url}/_sim/readyz`, { signal: giveUp.signal })
    await response.arrayBuffer()
    return response.status === 200 ? null : `it answered ${response.status}`
  } catch (error) {
    return failureText(connectionFailure(error, new URL(url).host))
  } finally {
    timer.cancel()
  }
}
