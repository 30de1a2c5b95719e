/** Starts, stops and kills the intermediary as a process, one action after the other. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { elapsedMs, wallDelay, wallTimer } from '../../base/runtime/clock.ts'
import { type ConnectionFailure, connectionFailure } from '../../base/runtime/connection-failure.ts'
import { createSequence } from '../../base/runtime/sequence.ts'
import { interpolate } from '../../evaluation/scenario/interpolation.ts'
import type { StepFailure, TargetFailure } from '../../platform/journal/run-failures.ts'
import { targetEndedText, targetNotStartedText } from '../../platform/wording/failures.ts'
import type { Environment, TargetControl, TargetEnd, TargetSpec } from './driver.ts'
import { type NotReady, probe } from './probe.ts'
import {
  isRunning,
  killProcess,
  type LaunchOptions,
  launch,
  outputTail,
  type RunningProcess,
  terminateProcess,
} from './process-group.ts'

export interface TargetOptions {
  /** Called for every start. */
  readonly start: () => TargetLaunch
  readonly stopTimeoutMs: number
  /** Receives a sentence when the target ends by itself. */
  readonly onExit?: ((message: string) => void) | undefined
}

export class TargetProcess implements TargetControl {
  readonly ends: TargetEnd[] = []
  readonly #options: TargetOptions
  readonly #closed = new AbortController()
  readonly #inSequence = createSequence()
  #current: RunningTarget | null = null
  #url: string | null = null

  constructor(options: TargetOptions) {
    this.#options = options
  }

  get running(): boolean {
    return this.#current !== null
  }

  /** The URL that the target printed last after `Ready:`; null for a target with an address in `ready`. */
  get url(): string | null {
    return this.#url
  }

  start(): Promise<void> {
    return this.#inSequence(async () => {
      if (this.#current !== null) return
      const launched = this.#options.start()
      const started = await startTarget(launched, this.#closed.signal)
      this.#current = started
      this.#url = started.url ?? this.#url
      void started.running.ended.then(failure => {
        if (this.#current !== started) return
        this.#current = null
        void killProcess(started.running)
        const output = started.output()
        this.ends.push({ failure, output })
        this.#options.onExit?.(targetEndedText(launched.name, failure, output))
      })
    })
  }

  stop(): Promise<void> {
    return this.#end(running => terminateProcess(running, this.#options.stopTimeoutMs))
  }

  kill(): Promise<void> {
    return this.#end(killProcess)
  }

  /** Stops it. Ends a start that is under way. */
  close(): Promise<void> {
    this.#closed.abort()
    return this.stop()
  }

  #end(how: (running: RunningProcess) => Promise<void>): Promise<void> {
    return this.#inSequence(async () => {
      const running = this.#current?.running
      // Its end is not reported.
      this.#current = null
      if (running !== undefined) await how(running)
    })
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
  const variables: Record<string, string | undefined> = { ...env, ...simulatorVariables(sim) }
  for (const [name, value] of Object.entries(spec.env)) variables[name] = text(value)
  const launched = {
    name: 'The target',
    command: spec.command.map(text),
    cwd: spec.folder,
    env: variables,
    ready: text(spec.ready),
    readyTimeoutMs: spec.readyTimeoutMs,
  }
  return new TargetProcess({ start: () => launched, stopTimeoutMs: spec.stopTimeoutMs, onExit })
}

export interface TargetLaunch extends LaunchOptions {
  /** The subject of messages: `The target`. */
  readonly name: string
  readonly readyTimeoutMs: number
  /** An address that answers 2xx once the target serves. Null: the target prints `Ready: URL`. */
  readonly ready: string | null
}

export interface RunningTarget {
  readonly running: RunningProcess
  /** The URL after `Ready:`; null for a target with an address in `ready`. */
  readonly url: string | null
  /** The end of what the target printed. */
  output(): string
}

/** The intermediary did not start. */
export class TargetStartError extends Error {
  override readonly name = 'TargetStartError'
  readonly failure: Extract<StepFailure, { code: 'target_not_started' }>

  /** `target`: the subject of the message. `output`: the end of what the target printed. */
  constructor(target: string, failure: TargetFailure, output = '') {
    super(targetNotStartedText(target, failure, output))
    this.failure = { code: 'target_not_started', target, failure, output }
  }
}

const OUTPUT_CHARS = 2_000

/** Rejects with `TargetStartError`, after it has ended the process. `signal` aborts the start. */
async function startTarget(start: TargetLaunch, signal: AbortSignal): Promise<RunningTarget> {
  const { name, ready } = start
  // The test below would take another program that serves at the address for the target.
  if (ready !== null && (await probe(ready)) === null)
    throw new TargetStartError(name, { code: 'address_in_use', address: ready })
  if (signal.aborted) throw new TargetStartError(name, { code: 'run_ended' })
  const running = launch(start)
  if (!isRunning(running)) throw new TargetStartError(name, running)
  const output = outputTail(running, OUTPUT_CHARS)
  const outcome = await readiness(start, running, signal)
  if ('url' in outcome) return { running, url: outcome.url, output }
  await killProcess(running)
  throw new TargetStartError(name, outcome, output())
}

type Readiness = { readonly url: string | null } | TargetFailure

/** Resolves when the target serves, has ended, or needs too long, or when the run ends. */
async function readiness(start: TargetLaunch, running: RunningProcess, signal: AbortSignal): Promise<Readiness> {
  const decided = new AbortController()
  const { readyTimeoutMs, ready } = start
  const either = AbortSignal.any([decided.signal, signal])
  const probes: { last?: NotReady } = {}
  const address = ready === null ? {} : { address: ready }
  const timeLimit = wallDelay(readyTimeoutMs, either).then(
    (): Readiness =>
      signal.aborted ? { code: 'run_ended' } : { code: 'not_ready', within_ms: readyTimeoutMs, ...address, ...probes },
  )
  const serving = ready === null ? printedUrl(running) : answered(ready, either, probes)
  const outcome = await Promise.race([serving, timeLimit, running.ended])
  decided.abort()
  return outcome
}

function printedUrl({ child }: RunningProcess): Promise<Readiness> {
  return new Promise(resolve => {
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', function read(chunk: string) {
      output += chunk
      const url = /^Ready: (http\S+)$/m.exec(output)?.[1]
      if (url === undefined) return
      child.stdout?.off('data', read)
      resolve({ url })
    })
  })
}

const POLL_MS = 50

/** Resolves when the address answers, and meanwhile stores why it did not. Stays pending when the signal aborts. */
async function answered(address: string, signal: AbortSignal, probes: { last?: NotReady }): Promise<Readiness> {
  for (;;) {
    const failure = await probe(address, signal)
    if (signal.aborted) return new Promise(() => {})
    if (failure === null) return { url: null }
    probes.last = failure
    await wallDelay(POLL_MS, signal)
  }
}

const CONNECT_MS = 2_000
const CONNECT_POLL_MS = 100

/** Tries for `waitMs` to connect. Null: the target accepts connections. */
export async function probeTarget(target: URL, waitMs: number, signal: AbortSignal): Promise<ConnectionFailure | null> {
  const until = elapsedMs() + waitMs
  for (;;) {
    const failure = await probePort(target)
    if (failure === null) return null
    if (elapsedMs() >= until || signal.aborted) return failure
    await wallDelay(Math.min(CONNECT_POLL_MS, Math.max(1, until - elapsedMs())), signal)
  }
}

async function probePort({ hostname, port, protocol, host }: URL): Promise<ConnectionFailure | null> {
  const standardPort = protocol === 'https:' ? 443 : 80
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || standardPort })
  const timeout = Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })
  const timer = wallTimer(CONNECT_MS, () => socket.destroy(timeout))
  try {
    await once(socket, 'connect')
    return null
  } catch (error) {
    return connectionFailure(error, host)
  } finally {
    timer.cancel()
    socket.destroy()
  }
}
