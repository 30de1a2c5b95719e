/** Ends a running simulator (`handover-sim stop`), and waits until one is ready (`handover-sim wait`). */
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod/mini'
import { elapsedMs, wallDelay, wallTimer } from '../base/runtime/clock.ts'
import { processRuns } from '../base/runtime/node.ts'
import { isLoopback } from '../base/text/hosts.ts'
import { formatDuration, parseDuration } from '../base/text/quantities.ts'
import { failureText } from '../platform/wording/failures.ts'
import { probe } from '../running/agent-driver/probe.ts'
import { findPortHolder } from '../server/listen.ts'
import { defineCommand } from './command.ts'
import { EnvironmentError, UsageError } from './io.ts'
import {
  ADDRESS_FLAGS,
  callControl,
  findSimulator,
  noResponseError,
  type RunningSimulator,
  refusalMessage,
} from './running-simulator.ts'

const POLL_MS = 100
const MAX_RESPONSE_MS = 2_000

/** What `GET /_sim/readyz` answers; another program answers something else. */
const Health = z.looseObject({ status: z.string(), version: z.string() })

export const waitCommand = defineCommand({
  flags: {
    ...ADDRESS_FLAGS,
    '--timeout <duration>': { description: 'how long to wait', default: '30s' },
  },
  examples: {
    'wait --timeout 30s': 'until the simulator is ready',
  },
  async run(context, flags) {
    const timeoutMs = timeoutFrom(flags.timeout)
    for (const until = elapsedMs() + timeoutMs; ; await wallDelay(POLL_MS)) {
      // Again each time, because the ready file appears when the simulator serves.
      const simulator = await findSimulator(context, flags)
      const response =
        simulator && (await callControl(simulator, 'GET', '/readyz', undefined, AbortSignal.timeout(MAX_RESPONSE_MS)))
      if (simulator !== null && response !== null && !('code' in response)) {
        if (!Health.safeParse(response.body).success) throw new EnvironmentError(refusalMessage(simulator, response))
        if (response.status === 200) {
          context.io.stdout.write(`Ready: ${simulator.url}\n`)
          return 0
        }
      }
      if (elapsedMs() + POLL_MS <= until) continue
      const what = simulator?.url ?? `The ready file ${JSON.stringify(flags.readyFile)}`
      let why = 'it is not there'
      if (response !== null) why = 'code' in response ? failureText(response) : `it answered ${response.status}`
      throw new EnvironmentError(`${what} is not ready after ${formatDuration(timeoutMs)}: ${why}.`)
    }
  },
})

export const stopCommand = defineCommand({
  flags: {
    ...ADDRESS_FLAGS,
    '--timeout <duration>': { description: 'how long to wait until it has ended', default: '15s' },
  },
  examples: {
    stop: 'the simulator on the configured port',
  },
  async run(context, flags) {
    const { io } = context
    const timeoutMs = timeoutFrom(flags.timeout)
    const simulator = await findSimulator(context, flags)
    if (simulator !== null && (await stop(simulator, timeoutMs))) {
      io.stdout.write(`Stopped: ${simulator.url}\n`)
      return 0
    }
    // The file of a simulator that ended without removing it.
    if (flags.readyFile !== undefined) rmSync(resolve(io.cwd, flags.readyFile), { force: true })
    const where = simulator?.url ?? `its ready file ${JSON.stringify(flags.readyFile)} is not there`
    io.stdout.write(`No simulator runs: ${where}\n`)
    return 0
  },
})

function timeoutFrom(text: string): number {
  const timeoutMs = parseDuration(text)
  if (timeoutMs !== null) return timeoutMs
  throw new UsageError(`--timeout: must be a duration such as 500ms, 30s, 2m, got ${JSON.stringify(text)}.`)
}

const StopResponse = z.looseObject({ stopping: z.literal(true), pid: z.int() })

/** Resolves when the simulator has ended: with false when none runs. */
async function stop(simulator: RunningSimulator, timeoutMs: number): Promise<boolean> {
  const { url } = simulator
  const until = elapsedMs() + timeoutMs
  const holder = await findPortHolder(Number(new URL(url).port))
  const giveUp = new AbortController()
  const timer = wallTimer(timeoutMs, () => giveUp.abort(new Error(`no answer within ${formatDuration(timeoutMs)}`)))
  const response = await callControl(simulator, 'POST', '/stop', {}, giveUp.signal).finally(timer.cancel)
  if ('code' in response) {
    if (response.code === 'connection_refused') return false
    throw noResponseError(url, response)
  }
  const parsed = StopResponse.safeParse(response.body)
  if (response.status !== 200 || !parsed.success) {
    const message = refusalMessage(simulator, response)
    throw response.status === 401 ? new UsageError(message) : new EnvironmentError(message)
  }

  const { pid } = parsed.data
  const isLocal =
    isLoopback(new URL(url).hostname) && (holder === null ? process.platform !== 'linux' : holder.pid === pid)
  while ((await probe(`${url}/_sim/readyz`))?.code !== 'connection_refused' || (isLocal && processRuns(pid))) {
    if (elapsedMs() + POLL_MS > until)
      throw new EnvironmentError(
        `${url} is still running ${formatDuration(timeoutMs)} after the request to stop (process ${pid}).`,
      )
    await wallDelay(POLL_MS)
  }
  return true
}
