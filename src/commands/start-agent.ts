/** Plays the agent of `handover-sim start` through an agent driver, or through the help desk of the demo. */
import { connectDriver, createDriver } from '../running/agent-driver/create-driver.ts'
import type { Driver } from '../running/agent-driver/driver.ts'
import { loadDriver } from '../running/agent-driver/load-driver.ts'
import { referenceSpec, referenceStart } from '../running/agent-driver/read-driver.ts'
import { TargetProcess } from '../running/agent-driver/target.ts'
import { driverChat } from '../running/runner/run-context.ts'
import type { AgentPlayer } from '../server/control/route.ts'
import type { PlatformServer } from '../server/start.ts'
import { type Context, EnvironmentError, type Shutdown } from './io.ts'
import { addSecretsOfDriver } from './secrets.ts'

const STOP_WITHIN_MS = 2_000

/** The agent as the page plays it, and the driver of checks and scenarios beside the simulator. */
export interface AttachedAgent {
  readonly agent: AgentPlayer
  readonly loadDriver: () => Promise<Driver>
}

/** Starts the reference intermediary as the webhook target. Resolves with the URL of its help desk, and the agent in it. */
export async function attachDemo(
  server: PlatformServer,
  { io, env }: Context,
  shutdown: Shutdown,
): Promise<AttachedAgent & { desk: string }> {
  const { url: platformUrl, apiKey, botApiKey, botId } = server
  const platform = { url: platformUrl, apiKey, botApiKey, botId }
  const target = new TargetProcess({
    start: () => referenceStart('The demo intermediary', env, platform, { PORT: '0' }),
    stopTimeoutMs: STOP_WITHIN_MS,
    onExit: why => io.stderr.write(`${why}\n`),
  })
  await target.start().catch((error: Error) => {
    throw new EnvironmentError(`--demo: ${error.message}`)
  })
  const { url: desk } = target
  if (desk === null) throw new EnvironmentError('--demo: the intermediary has no URL.')
  shutdown.defer(
    () => target.close(),
    () => void target.kill(),
  )
  await server.configure({ 'webhook.url': `${desk}/webhook` })
  const driver = retried(async () => connectDriver(referenceSpec(desk), env, null))
  return {
    desk,
    agent: createPlayer(server, 'demo', 'The demo intermediary', driver, shutdown),
    loadDriver: driver.get,
  }
}

/** A URL is read when it is needed, because the help desk may start later. Rejects with `ConfigError`. */
export async function attachDriver(
  server: PlatformServer,
  ref: string,
  { agentDriver, allowRemote = false }: { readonly agentDriver?: string; readonly allowRemote?: boolean },
  context: Context,
  shutdown: Shutdown,
): Promise<AttachedAgent> {
  const { io, env } = context
  // A person at the terminal is no help to a person at the page, so manual verbs count as missing.
  const options = { cwd: io.cwd, env, nodeVersion: io.nodeVersion, isTTY: false, prompt: io.ask, allowRemote }
  const driver = retried(async signal => {
    const spec = await loadDriver(ref, { ...options, signal })
    addSecretsOfDriver(spec, context)
    // The intermediary is started by its developer here.
    return createDriver({ ...spec, target: null }, { env, sim: server })
  })
  const player = createPlayer(server, 'driver', ref, driver, shutdown)
  // A file that a flag names, and that cannot be read, ends the start.
  if (agentDriver !== undefined && !/^https?:/i.test(ref)) await driver.get()
  return { agent: player, loadDriver: driver.get }
}

interface LoadedDriver {
  get(): Promise<Driver>
  close(): Promise<void>
}

/** Loads once; after a failure, the next caller tries again. */
function retried(load: (signal: AbortSignal) => Promise<Driver>): LoadedDriver {
  const ended = new AbortController()
  let loading: Promise<Driver> | null = null
  return {
    get() {
      loading ??= load(ended.signal).catch((error: unknown) => {
        loading = null
        throw error
      })
      return loading
    },
    async close() {
      ended.abort()
      // A driver that could not be read has nothing to close.
      const driver = await loading?.catch(() => null)
      await driver?.close()
    },
  }
}

function createPlayer(
  { url, apiKey, botId }: PlatformServer,
  plays: AgentPlayer['plays'],
  name: string,
  driver: LoadedDriver,
  shutdown: Shutdown,
): AgentPlayer {
  shutdown.defer(() => driver.close())
  const sim = { url, api_key: apiKey, bot_id: botId }
  return {
    plays,
    name,
    verbs: async () => (await driver.get()).verbs,
    async call({ verb, chat, text, with: parameters }, signal) {
      const context = { chat: chat && driverChat(chat), sim, ...(text === undefined ? {} : { text }) }
      const { call } = await driver.get()
      return call(verb, { ...context, ...(parameters === undefined ? {} : { with: parameters }) }, signal)
    },
  }
}
