/** Controls the intermediary as a process: starts, stops and kills it, one action after the other. */
import { interpolate } from '../scenario/interpolation.ts'
import { targetEndedText } from '../wording/run-failures.ts'
import type { Environment, TargetControl, TargetSpec } from './driver.ts'
import { killProcess, type RunningProcess, terminateProcess } from './process-group.ts'
import { type RunningTarget, startTarget, type TargetLaunch } from './start-target.ts'

export interface TargetProcess extends TargetControl {
  /** The URL that the target printed last after `Ready:`; null for a target with an address in `ready`. */
  readonly url: string | null
  /** Stops it. Ends a start that is under way. */
  close(): Promise<void>
}

export interface TargetOptions {
  /** Called for every start. */
  readonly start: () => TargetLaunch
  readonly stopTimeoutMs: number
  /** Receives a sentence when the target ends by itself. */
  readonly onExit?: ((message: string) => void) | undefined
}

export function createTarget({ start, stopTimeoutMs, onExit }: TargetOptions): TargetProcess {
  const closed = new AbortController()
  const enqueue = createQueue()
  let current: RunningTarget | null = null
  let url: string | null = null

  /** Forgets the process, so that its end is not reported. */
  const release = (): RunningProcess | null => {
    const running = current?.running ?? null
    current = null
    return running
  }
  const end = (how: (running: RunningProcess) => Promise<void>) =>
    enqueue(async () => {
      const running = release()
      if (running !== null) await how(running)
    })
  const stop = () => end(running => terminateProcess(running, stopTimeoutMs))
  async function begin(): Promise<void> {
    if (current !== null) return
    const launch = start()
    const started = await startTarget(launch, closed.signal)
    current = started
    url = started.url ?? url
    void started.running.ended.then(failure => {
      if (current !== started) return
      release()
      void killProcess(started.running)
      onExit?.(targetEndedText(launch.name, failure, started.output()))
    })
  }
  return {
    get running() {
      return current !== null
    },
    get url() {
      return url
    },
    start: () => enqueue(begin),
    stop,
    kill: () => end(killProcess),
    close() {
      closed.abort()
      return stop()
    },
  }
}

/** Runs one action after the other, also after one has failed. */
function createQueue(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
}

/** What an intermediary has to know of the simulator. */
export interface SimulatorAccess {
  readonly url: string
  readonly apiKey: string
  readonly botApiKey: string
  /** Default: the API key. */
  readonly webhookSecret?: string
  readonly botId: number
}

export const simulatorVariables = ({ url, apiKey, botApiKey, webhookSecret, botId }: SimulatorAccess) => ({
  HANDOVER_SIM_URL: url,
  HANDOVER_SIM_API_KEY: apiKey,
  HANDOVER_SIM_BOT_API_KEY: botApiKey,
  HANDOVER_SIM_WEBHOOK_SECRET: webhookSecret ?? apiKey,
  HANDOVER_SIM_BOT_ID: String(botId),
})

interface DriverTargetOptions {
  readonly env: Environment
  readonly sim: SimulatorAccess
  readonly onExit?: TargetOptions['onExit']
}

/** Creates the target that a driver file describes under `target`. */
export function createDriverTarget(spec: TargetSpec, { env, sim, onExit }: DriverTargetOptions): TargetProcess {
  const scope = { env, sim: { url: sim.url, api_key: sim.apiKey, bot_id: sim.botId } }
  const text = (template: string) => String(interpolate(template, scope))
  const own = Object.fromEntries(Object.entries(spec.env).map(([name, value]) => [name, text(value)]))
  const start = {
    name: 'The target',
    command: spec.command.map(text),
    cwd: spec.folder,
    env: { ...env, ...simulatorVariables(sim), ...own },
    ready: text(spec.ready),
    readyTimeoutMs: spec.readyTimeoutMs,
  }
  return createTarget({ start: () => start, stopTimeoutMs: spec.stopTimeoutMs, onExit })
}
