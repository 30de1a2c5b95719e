/** Starts the reference intermediary as a child process, the webhook target of `start --demo`. */
import { referenceStart } from '../agent-driver/reference-program.ts'
import { createTarget } from '../agent-driver/target.ts'
import { EnvironmentError } from './errors.ts'

export interface DemoTarget {
  readonly url: string
  readonly webhookUrl: string
  stop(): Promise<void>
  kill(): void
}

export interface DemoPlatform {
  readonly url: string
  readonly apiKey: string
  readonly botApiKey: string
  readonly botId: number
}

const STOP_WITHIN_MS = 2_000

/** Calls `onLost` when the process ends by itself. */
export async function startDemoTarget(
  platform: DemoPlatform,
  env: Readonly<Record<string, string | undefined>>,
  onExit: (why: string) => void,
): Promise<DemoTarget> {
  const start = () => referenceStart('The demo intermediary', env, platform, { PORT: '0' })
  const target = createTarget({ start, stopTimeoutMs: STOP_WITHIN_MS, onExit })
  await target.start().catch((error: Error) => {
    throw new EnvironmentError(`--demo: ${error.message}`)
  })
  const { url } = target
  if (url === null) throw new EnvironmentError('--demo: the intermediary has no URL.')
  return { url, webhookUrl: `${url}/webhook`, stop: () => target.close(), kill: () => void target.kill() }
}
