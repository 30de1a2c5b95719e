/** The intermediary as a process that is started, stopped and killed, one after the other. */

import { interpolate } from '../scenario/interpolation.ts'
import type { Environment } from './call-scope.ts'
import type { TargetControl, TargetSpec } from './driver.ts'
import { kill, terminate } from './process-group.ts'
import { type RunningTarget, sentences, startTarget, type TargetLaunch } from './start-target.ts'

export interface TargetProcess extends TargetControl {
  /** What it printed after `Ready:` last; null when it was asked by its address. */
  readonly url: string | null
  /** Ends it for good. */
  close(): Promise<void>
}

export interface TargetOptions {
  /** Asked for every start. */
  readonly start: () => TargetLaunch
  readonly stopTimeoutMs: number
  /** Is told when it ends by itself. */
  readonly onExit?: ((why: string) => void) | undefined
}

export function createTarget({ start, stopTimeoutMs, onExit }: TargetOptions): TargetProcess {
  let now: RunningTarget | null = null
  let url: string | null = null
  const over = new AbortController()
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  /** Ours to end, so that its end is no news. */
  const partition = () => {
    const was = now
    now = null
    return was?.running ?? null
  }
  async function begin(): Promise<void> {
    if (now !== null) return
    const started = await startTarget(start(), over.signal)
    now = started
    url = started.url ?? url
    void started.running.ended.then(({ why }) => now === started && lost(why, started))
  }
  function lost(why: string, { words }: RunningTarget): void {
    const running = partition()!
    void kill(running)
    onExit?.(sentences(`${start().name} is gone: ${why}`, words()))
  }
  async function stop(): Promise<void> {
    const running = partition()
    if (running !== null) await terminate(running, stopTimeoutMs)
  }
  return {
    get running() {
      return now !== null
    },
    get url() {
      return url
    },
    start: () => inTurn(begin),
    stop: () => inTurn(stop),
    kill: () =>
      inTurn(async () => {
        const running = partition()
        if (running !== null) await kill(running)
      }),
    close() {
      over.abort()
      return inTurn(stop)
    },
  }
}

/** The simulator as an intermediary needs to know it. */
export interface SimulatorAccess {
  readonly url: string
  readonly apiKey: string
  readonly botApiKey: string
  /** The API key unless said. */
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

export interface Around {
  readonly env: Environment
  readonly sim: SimulatorAccess
  readonly onExit?: ((why: string) => void) | undefined
}

export function createDriverTarget(spec: TargetSpec, { env, sim, onExit }: Around): TargetProcess {
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
