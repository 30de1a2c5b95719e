/** Finds or starts the intermediary of a run and its agent driver, and ends the run early. */
import { wallTimer } from '../base/runtime/clock.ts'
import { formatDuration } from '../base/text/quantities.ts'
import { withoutCredentials } from '../base/text/redactor.ts'
import type { EarlyEnd } from '../platform/journal/run-failures.ts'
import { earlyEndText, failureText } from '../platform/wording/failures.ts'
import type { Driver } from '../running/agent-driver/driver.ts'
import { referenceDriver } from '../running/agent-driver/reference-driver.ts'
import { probeTarget, TargetStartError } from '../running/agent-driver/target.ts'
import type { SimulatorRouter } from '../running/runner/simulator-router.ts'
import { earlyEndOf, InterruptedError } from '../running/runner/waiting.ts'
import type { Resolved } from '../server/config/resolve.ts'
import { isLoopback } from '../server/control/addresses.ts'
import { type Context, EnvironmentError, type Shutdown, type Signal, UsageError } from './io.ts'
import { addSecretsOfDriver } from './secrets.ts'

export interface RunTarget {
  readonly target: URL
  readonly driver: Driver | null
}

/** The flags that name the intermediary. */
export interface TargetFlags {
  readonly target?: string
  readonly agentDriver?: string
  readonly selfTest?: boolean
  readonly allowRemote?: boolean
}

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

/** Ends a run at the first signal of the process, or at its time limit. The reports are still written. */
export function listenForInterruption({ ended, defer }: Shutdown, timeoutMs: number | null) {
  const stop = new AbortController()
  const end = (why: EarlyEnd) => stop.abort(new InterruptedError(why))
  if (timeoutMs !== null) {
    const timer = wallTimer(timeoutMs, () => end({ code: 'run_time_limit', limit_ms: timeoutMs }))
    defer(timer.cancel)
  }
  let received: Signal | null = null
  void ended.then(reason => {
    if (reason === 'request') return
    received = reason
    end({ code: 'interrupted', signal: reason })
  })
  return { signal: stop.signal, by: (): Signal | null => received }
}

/** Finds or starts the target. Rejects with `EnvironmentError` when it cannot be started. */
export async function attach(options: AttachOptions): Promise<RunTarget> {
  const start = await prepareTarget(options)
  return start()
}

/** Checks the target and loads the agent driver. Resolves with a function that starts the target. */
export async function prepareTarget(options: AttachOptions): Promise<() => Promise<RunTarget>> {
  const { flags, resolved, context, router, shutdown } = options
  const { io, env } = context
  const { url, apiKey, botApiKey, botId } = router.server
  const onExit = (why: string) => io.stderr.write(`${why}\n`)
  const platform = { env, sim: { url, apiKey, botApiKey, botId }, onExit }
  if (flags.selfTest)
    return async () => {
      const driver = await started(() => referenceDriver({ ...platform, storesChats: options.storesChats }))
      shutdown.defer(() => driver.close())
      return { target: new URL(driver.webhookUrl), driver }
    }

  const target = targetFrom(flags, resolved.values['webhook.url'] as string | null)
  const ref = flags.agentDriver ?? resolved.agentDriver
  if (ref === null) return async () => ({ target, driver: null })
  const { loadDriver } = await import('../running/agent-driver/load-driver.ts')
  const { createDriver } = await import('../running/agent-driver/create-driver.ts')
  const files = { cwd: io.cwd, env, nodeVersion: io.nodeVersion, allowRemote: flags.allowRemote ?? false }
  const spec = await loadDriver(ref, { ...files, isTTY: io.canAsk, prompt: io.ask })
  addSecretsOfDriver(spec, context)
  return async () => {
    const driver = createDriver(spec, platform)
    shutdown.defer(() => driver.close())
    return { target, driver: await withTarget(driver, target, options) }
  }
}

/** Starts the target that the driver defines, unless it runs already; then scenarios may not stop it. */
async function withTarget(driver: Driver, target: URL, { context, signal }: AttachOptions): Promise<Driver> {
  const { target: program, verbs } = driver
  if (program === null) return driver
  if ((await probeTarget(target, 0, new AbortController().signal)) === null) {
    context.io.stderr.write(`${target.host} is running already: it is used as it is, and not restarted by scenarios.\n`)
    return { ...driver, target: null, verbs: verbs.filter(verb => !verb.startsWith('target.')) }
  }
  // Closes the driver, which ends the start, when the signal aborts before the target has started; not later.
  const starting = started(() => program.start())
  let closing: Promise<void> | null = null
  const onAbort = () => {
    closing = driver.close()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    await starting
    return driver
  } finally {
    signal.removeEventListener('abort', onAbort)
    await closing
  }
}

async function started<Result>(start: () => Promise<Result>): Promise<Result> {
  try {
    return await start()
  } catch (error) {
    throw error instanceof TargetStartError ? new EnvironmentError(error.message) : error
  }
}

function targetFrom(flags: TargetFlags, configured: string | null): URL {
  const from = flags.target === undefined ? 'webhook.url' : '--target'
  const text = flags.target ?? configured
  if (text === null)
    throw new UsageError(
      'No target URL: pass --target or set webhook.url. To try a scenario without an intermediary, pass --self-test.',
    )
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `${from} must be an http or https URL such as http://127.0.0.1:3000/webhook, got ${JSON.stringify(text)}.`,
    )
  if (flags.allowRemote || isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) return url
  throw new UsageError(
    `${from} ${text} is on another machine. Scenarios write as users and agents there; if that is wanted, add --allow-remote.`,
  )
}

/** Waits for the target at most `waitMs`. Resolves with a sentence without its period when nothing answers. */
export async function whyUnreachable(target: URL, waitMs: number, signal: AbortSignal): Promise<string | null> {
  const failure = await probeTarget(target, waitMs, signal)
  if (failure === null) return null
  const why = `the target ${withoutCredentials(target.href)} is not reachable: ${failureText(failure)}`
  if (signal.aborted) return `${why}; ${earlyEndText(earlyEndOf(signal))}`
  if (waitMs > 0) return `${why}, after waiting ${formatDuration(waitMs)}`
  return `${why}; start it first, or wait for it with --wait-for-target 30s`
}
