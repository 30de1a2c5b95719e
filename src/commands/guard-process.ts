/**
 * Runs the command of `exec` in a process of its own, which ends the command and all programs that it started when the parent
 * has ended, also when the parent was killed.
 */
import type { ProcessFailure } from '../platform/journal/run-failures.ts'
import {
  isRunning,
  killProcess,
  type LaunchOptions,
  launch,
  type RunningProcess,
  terminateProcess,
} from '../running/agent-driver/process-group.ts'

/** From `exec`. */
export type GuardRequest =
  | { readonly type: 'run'; readonly launch: LaunchOptions; readonly graceMs: number }
  | { readonly type: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly type: 'stop' }

/** To `exec`. `pid`: the group of the command. */
export type GuardResponse =
  | { readonly type: 'started'; readonly pid: number }
  | { readonly type: 'ended'; readonly how: ProcessFailure }

const respond = (message: GuardResponse) =>
  new Promise<void>(resolve => {
    if (process.connected) process.send?.(message, () => resolve())
    else resolve()
  })

function guard(): void {
  let running: RunningProcess | null = null
  let graceMs = 0

  const stop = async () => {
    if (running !== null) await terminateProcess(running, graceMs)
  }
  const end = () => void stop().then(() => process.exit())
  const run = async (options: LaunchOptions) => {
    const launched = launch(options)
    if (isRunning(launched)) {
      running = launched
      if (launched.child.pid !== undefined) void respond({ type: 'started', pid: launched.child.pid })
      // The parent may have ended while the command was started.
      if (!process.connected) await stop()
      const how = await launched.ended
      await killProcess(launched)
      await respond({ type: 'ended', how })
    } else await respond({ type: 'ended', how: launched })
    process.exit()
  }

  process.on('message', (request: GuardRequest) => {
    if (request.type === 'run') {
      graceMs = request.graceMs
      void run(request.launch)
    } else if (running === null) process.exit()
    else if (request.type === 'signal') running.signal(request.signal)
    else void stop()
  })
  process.on('disconnect', end)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end)
}

guard()
