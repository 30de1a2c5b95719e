/** Waits until a simulator is ready (`handover-sim wait`). */
import type { Command } from 'commander'
import { elapsedMs, wallDelay, wallTimer } from '../runtime/clock.ts'
import { connectionFailure } from '../runtime/connection-failure.ts'
import { formatDuration, parseDuration } from '../text/quantities.ts'
import { failureText } from '../wording/failures.ts'
import { EnvironmentError, UsageError } from './errors.ts'
import type { Context } from './io.ts'
import { type SimulatorFlags, simulatorUrl } from './simulator-url.ts'

interface WaitFlags extends SimulatorFlags {
  readonly timeout: string
}

export function define(command: Command): void {
  command
    .option('--url <url>', 'the simulator (default: HANDOVER_SIM_URL, else the configured port on this machine)')
    .option('--timeout <duration>', 'how long to wait', '30s')
    .option('--port <number>', 'its port, when it is on this machine')
    .option('--config <file>', 'config file that names its port')
}

const POLL_MS = 100
const ANSWER_WITHIN_MS = 2_000

export async function run(context: Context, flags: WaitFlags): Promise<number> {
  const timeoutMs = parseDuration(flags.timeout)
  if (timeoutMs === null)
    throw new UsageError(`--timeout: must be a duration such as 500ms, 30s, 2m, got ${JSON.stringify(flags.timeout)}.`)
  const url = await simulatorUrl(context, flags)
  const until = elapsedMs() + timeoutMs
  for (;;) {
    const why = await probe(url)
    if (why === null) break
    if (elapsedMs() + POLL_MS > until)
      throw new EnvironmentError(`${url} is not ready after ${formatDuration(timeoutMs)}: ${why}.`)
    await wallDelay(POLL_MS)
  }
  context.io.stdout.write(`Ready: ${url}\n`)
  return 0
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
