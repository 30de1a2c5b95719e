/** Plays the agent of `handover-sim start` through an agent driver, or through the desk of the demo. */
import { createDriver, driverOf } from '../running/agent-driver/create-driver.ts'
import type { Driver } from '../running/agent-driver/driver.ts'
import { loadDriver } from '../running/agent-driver/load-driver.ts'
import { referenceSpec } from '../running/agent-driver/reference-driver.ts'
import { driverChat } from '../running/runner/run-context.ts'
import type { AgentPlayer } from '../server/control/route.ts'
import type { PlatformServer } from '../server/start.ts'
import type { Context, Shutdown } from './io.ts'
import { addSecretsOfDriver } from './secrets.ts'

export interface DriverReference {
  /** A file or a URL. */
  readonly ref: string
  readonly allowRemote: boolean
  /** Whether a flag names it: then a file that cannot be read ends the start. */
  readonly isFlag: boolean
}

/** A URL is read when it is needed, because the help desk may start later. Rejects with `ConfigError`. */
export async function attachDriver(
  server: PlatformServer,
  { ref, allowRemote, isFlag }: DriverReference,
  context: Context,
  shutdown: Shutdown,
): Promise<AgentPlayer> {
  const { io, env } = context
  // A person at the terminal is no help to a person at the page, so manual verbs count as missing.
  const options = { cwd: io.cwd, env, nodeVersion: io.nodeVersion, isTTY: false, prompt: io.ask, allowRemote }
  const load = async (signal: AbortSignal) => {
    const spec = await loadDriver(ref, { ...options, signal })
    addSecretsOfDriver(spec, context)
    // The intermediary is started by its developer here.
    return createDriver({ ...spec, target: null }, { env, sim: server })
  }
  const { player, driver } = createPlayer(server, { plays: 'driver', name: ref }, load, shutdown)
  if (isFlag && !/^https?:/i.test(ref)) await driver()
  return player
}

/** `url` is the address of the reference intermediary. */
export function attachDemoDesk(server: PlatformServer, url: string, { env }: Context, shutdown: Shutdown): AgentPlayer {
  const load = async () => driverOf(referenceSpec(url), env, null)
  return createPlayer(server, { plays: 'demo', name: 'The demo intermediary' }, load, shutdown).player
}

function createPlayer(
  { url, apiKey, botId }: PlatformServer,
  what: Pick<AgentPlayer, 'plays' | 'name'>,
  load: (signal: AbortSignal) => Promise<Driver>,
  shutdown: Shutdown,
): { player: AgentPlayer; driver: () => Promise<Driver> } {
  const ended = new AbortController()
  const driver = retried(() => load(ended.signal))
  shutdown.defer(async () => {
    ended.abort()
    // A driver that could not be read has nothing to close.
    const loaded = await driver.loaded().catch(() => null)
    await loaded?.close()
  })
  const sim = { url, api_key: apiKey, bot_id: botId }
  const player: AgentPlayer = {
    ...what,
    verbs: async () => (await driver.get()).verbs,
    async call({ verb, chat, text, with: parameters }, signal) {
      const context = { chat: chat && driverChat(chat), sim, ...(text === undefined ? {} : { text }) }
      const own = parameters === undefined ? {} : { with: parameters }
      const { call, inbox } = await driver.get()
      return verb === 'inbox' ? inbox(context, signal) : call(verb, { ...context, ...own }, signal)
    },
  }
  return { player, driver: driver.get }
}

/** Loads once; after a failure, the next caller tries again. */
function retried<Value>(load: () => Promise<Value>) {
  let loading: Promise<Value> | null = null
  return {
    get(): Promise<Value> {
      loading ??= load().catch((error: unknown) => {
        loading = null
        throw error
      })
      return loading
    },
    loaded: async (): Promise<Value | null> => loading,
  }
}
