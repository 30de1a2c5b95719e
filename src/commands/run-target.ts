/** Finds or starts the intermediary of a run, and the agent driver. */
import type { Driver } from '../running/agent-driver/driver.ts'
import { referenceDriver } from '../running/agent-driver/reference-driver.ts'
import { TargetStartError } from '../running/agent-driver/target.ts'
import { probeTarget } from '../running/runner/probe-target.ts'
import type { SimulatorRouter } from '../running/runner/simulator-router.ts'
import type { Resolved } from '../server/config/resolve.ts'
import { isLoopback } from '../server/control/addresses.ts'
import { type Context, EnvironmentError, type Shutdown, UsageError } from './io.ts'
import type { RunFlags } from './run-flags.ts'
import { addSecretsOfDriver } from './secrets.ts'

export interface RunTarget {
  readonly target: URL
  readonly driver: Driver | null
}

/** The flags that name the intermediary. */
export type TargetFlags = Pick<RunFlags, 'target' | 'agentDriver' | 'selfTest' | 'allowRemote'>

export interface AttachOptions {
  readonly context: Context
  readonly flags: TargetFlags
  readonly resolved: Resolved
  /** Whether the built-in intermediary stores its chats in a file, so that it can be restarted. */
  readonly storesChats: boolean
  readonly router: SimulatorRouter
  readonly shutdown: Shutdown
  /** Aborts when the run ends early. */
  readonly signal: AbortSignal
}

/** Finds or starts the target. Rejects with `EnvironmentError` when it cannot be started. */
export async function attach(options: AttachOptions): Promise<RunTarget> {
  const start = await prepareTarget(options)
  return start()
}

/** Checks the target and loads the agent driver. Resolves with a function that starts the target. */
export const prepareTarget = async (options: AttachOptions): Promise<() => Promise<RunTarget>> =>
  options.flags.selfTest ? () => startReference(options) : prepareDriver(options)

async function startReference(options: AttachOptions): Promise<RunTarget> {
  const driver = await started(() => referenceDriver({ ...driverContext(options), storesChats: options.storesChats }))
  options.shutdown.defer(() => driver.close())
  return { target: new URL(driver.webhookUrl), driver }
}

async function prepareDriver(options: AttachOptions): Promise<() => Promise<RunTarget>> {
  const { flags, resolved, context } = options
  const target = targetFrom(flags, resolved.values['webhook.url'] as string | null)
  const ref = flags.agentDriver ?? resolved.agentDriver
  if (ref === null) return async () => ({ target, driver: null })
  const { io, env } = context
  const { loadDriver } = await import('../running/agent-driver/load-driver.ts')
  const environment = { cwd: io.cwd, env, nodeVersion: io.nodeVersion, isTTY: io.canAsk, prompt: io.ask }
  const spec = await loadDriver(ref, { ...environment, allowRemote: flags.allowRemote ?? false })
  addSecretsOfDriver(spec, context)
  const { createDriver } = await import('../running/agent-driver/create-driver.ts')
  return async () => {
    const driver = createDriver(spec, driverContext(options))
    options.shutdown.defer(() => driver.close())
    return { target, driver: await withTarget(driver, target, options) }
  }
}

/** Starts the target that the driver defines, unless it runs already; then scenarios may not stop it. */
async function withTarget(driver: Driver, target: URL, { context, signal }: AttachOptions): Promise<Driver> {
  const { target: program } = driver
  if (program === null) return driver
  if ((await probeTarget(target, 0, new AbortController().signal)) !== null) {
    // Calls `giveUp`, which ends the work, when the signal aborts before the work has ended; not later.
    const giveUp = () => driver.close()
    const work = started(() => program.start())
    let ending: Promise<void> | null = null
    const onAbort = () => {
      ending = giveUp()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      await work
    } finally {
      signal.removeEventListener('abort', onAbort)
      await ending
    }

    return driver
  }
  context.io.stderr.write(`${target.host} is running already: it is used as it is, and not restarted by scenarios.\n`)
  return { ...driver, target: null, verbs: driver.verbs.filter(verb => !verb.startsWith('target.')) }
}

async function started<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    if (error instanceof TargetStartError) throw new EnvironmentError(error.message)
    throw error
  }
}

function driverContext({ context, router }: AttachOptions) {
  const { url, apiKey, botApiKey, botId } = router.server
  const onExit = (why: string) => context.io.stderr.write(`${why}\n`)
  return { env: context.env, sim: { url, apiKey, botApiKey, botId }, onExit }
}

function targetFrom(flags: TargetFlags, configured: string | null): URL {
  const from = flags.target === undefined ? 'webhook.url' : '--target'
  const text = flags.target ?? configured
  if (text === null) {
    throw new UsageError(
      'No target URL: pass --target or set webhook.url. To try a scenario without an intermediary, pass --self-test.',
    )
  }
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `${from} must be an http or https URL such as http://127.0.0.1:3000/webhook, got ${JSON.stringify(text)}.`,
    )
  }
  if (flags.allowRemote || isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) return url
  throw new UsageError(
    `${from} ${text} is on another machine. Scenarios write as users and agents there; if that is wanted, add --allow-remote.`,
  )
}
