/** Ends a running simulator (`handover-sim stop`). */
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod/mini'
import { elapsedMs, wallDelay, wallTimer } from '../base/runtime/clock.ts'
import { processRuns } from '../base/runtime/node.ts'
import { formatDuration } from '../base/text/quantities.ts'
import { probe } from '../running/agent-driver/probe.ts'
import { isLoopback } from '../server/control/addresses.ts'
import { findPortHolder } from '../server/listen.ts'
import { defineCommand } from './command.ts'
import { type Context, EnvironmentError, UsageError } from './io.ts'
import {
  ADDRESS_FLAGS,
  type AddressFlags,
  findSimulator,
  noAnswer,
  postControl,
  type RunningSimulator,
  refusalMessage,
} from './running-simulator.ts'
import { POLL_MS, readyAddress, timeoutFrom } from './wait.ts'

export const stopCommand = defineCommand({
  flags: {
    ...ADDRESS_FLAGS,
    '--timeout <duration>': { description: 'how long to wait until it has ended', default: '15s' },
  },
  async run(context, flags) {
    const timeoutMs = timeoutFrom(flags.timeout)
    const simulator = await findSimulator(context, flags)
    const stopped = simulator !== null && (await stop(simulator, timeoutMs))
    if (!stopped) removeReadyFile(flags, context)
    const where = simulator?.url ?? `its ready file ${JSON.stringify(flags.readyFile)} is not there`
    context.io.stdout.write(stopped ? `Stopped: ${where}\n` : `No simulator runs: ${where}\n`)
    return 0
  },
})

/** Removes the file of a simulator that ended without removing it. */
function removeReadyFile({ readyFile }: AddressFlags, { io }: Context): void {
  if (readyFile !== undefined) rmSync(resolve(io.cwd, readyFile), { force: true })
}

/** Resolves when the simulator has ended: with false when none runs. */
async function stop(simulator: RunningSimulator, timeoutMs: number): Promise<boolean> {
  const { url } = simulator
  const until = elapsedMs() + timeoutMs
  const holder = await findPortHolder(Number(new URL(url).port))
  const pid = await requestStop(simulator, timeoutMs)
  if (pid === null) return false
  const isLocal =
    isLoopback(new URL(url).hostname) && (holder === null ? process.platform !== 'linux' : holder.pid === pid)
  while ((await probe(readyAddress(url)))?.code !== 'connection_refused' || (isLocal && processRuns(pid))) {
    if (elapsedMs() + POLL_MS > until)
      throw new EnvironmentError(
        `${url} has not ended ${formatDuration(timeoutMs)} after the request to stop (process ${pid}).`,
      )
    await wallDelay(POLL_MS)
  }
  return true
}

const Answer = z.looseObject({ stopping: z.literal(true), pid: z.int() })

/** Returns the id of the process that ends, or null when nothing listens. */
async function requestStop(simulator: RunningSimulator, timeoutMs: number): Promise<number | null> {
  const giveUp = new AbortController()
  const timer = wallTimer(timeoutMs, () => giveUp.abort(new Error(`no answer within ${formatDuration(timeoutMs)}`)))
  const answered = await postControl(simulator, '/stop', {}, giveUp.signal).finally(timer.cancel)
  if ('code' in answered) {
    if (answered.code === 'connection_refused') return null
    throw noAnswer(simulator.url, answered)
  }
  const answer = Answer.safeParse(answered.body)
  if (answered.status === 200 && answer.success) return answer.data.pid
  const message = refusalMessage(simulator, answered)
  throw answered.status === 401 ? new UsageError(message) : new EnvironmentError(message)
}
