/** Starts, stops and kills the intermediary as a process, one action after the other, and keeps what it prints. */

import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { stripVTControlCharacters } from 'node:util'
import { saveText } from '../../base/files/user-files.ts'
import { elapsedMs, wallDelay, wallTimer } from '../../base/runtime/clock.ts'
import { type ConnectionFailure, connectionFailure } from '../../base/runtime/connection-failure.ts'
import { createSequence } from '../../base/runtime/sequence.ts'
import { cut } from '../../base/text/cut.ts'
import { isStackFrame, messageOf } from '../../base/text/error-text.ts'
import { counted } from '../../base/text/quantities.ts'
import { interpolate } from '../../evaluation/scenario/interpolation.ts'
import type { StepFailure, TargetFailure, TargetOutput } from '../../platform/journal/run-failures.ts'
import { targetEndedText, targetNotStartedText } from '../../platform/wording/failures.ts'
import type { Environment, TargetControl, TargetEnd, TargetSpec } from './driver.ts'
import { type NotReady, probe } from './probe.ts'
import {
  isRunning,
  killProcess,
  type LaunchOptions,
  launch,
  type RunningProcess,
  terminateProcess,
} from './process-group.ts'

export interface TargetOptions {
  /** Called for every start. */
  readonly start: () => TargetLaunch
  readonly stopTimeoutMs: number
  /** Receives a sentence when the target ends by itself. */
  readonly onExit?: ((message: string) => void) | undefined
  /** Default: only the last lines, in memory. */
  readonly log?: TargetLog | undefined
}

export class TargetProcess implements TargetControl {
  readonly ends: TargetEnd[] = []
  readonly #options: TargetOptions
  readonly #closed = new AbortController()
  readonly #inSequence = createSequence()
  readonly #log: TargetLog
  readonly #listeners = new Set<() => void>()
  #current: RunningTarget | null = null
  /** How it ended by itself; null when it was started again, or stopped. */
  #lastEnd: TargetEnd | null = null
  #url: string | null = null

  constructor(options: TargetOptions) {
    this.#options = options
    this.#log = options.log ?? new TargetLog({ file: null, redact: line => line, onProblem: () => {} })
  }

  get running(): boolean {
    return this.#current !== null
  }

  /** The URL that the target printed last after `Ready:`; null for a target with an address in `ready`. */
  get url(): string | null {
    return this.#url
  }

  get printed(): number {
    return this.#log.printed
  }

  outputAfter(after: number): TargetOutput | null {
    const lines = this.#log.last(after)
    return this.#lastEnd ?? (lines.length === 0 ? null : { ended: null, lines, file: this.#log.fileName })
  }

  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async endedOrServing(signal: AbortSignal): Promise<void> {
    const { ready, readyTimeoutMs } = this.#options.start()
    const address = ready ?? this.#url
    if (this.#current === null || address === null) return
    const decided = new AbortController()
    const either = AbortSignal.any([decided.signal, signal])
    const unsubscribe = this.onEnd(() => decided.abort())
    // A process that hangs neither ends nor answers.
    await Promise.race([waitForResponse(address, either), wallDelay(readyTimeoutMs, either)])
    unsubscribe()
    decided.abort()
  }

  start(): Promise<void> {
    return this.#inSequence(async () => {
      if (this.#current !== null) return
      const launched = this.#options.start()
      const started = await startTarget(launched, this.#log, this.#closed.signal)
      this.#current = started
      this.#lastEnd = null
      this.#url = started.url ?? this.#url
      void started.running.ended.then(failure => this.#afterEnd(launched.name, started, failure))
    })
  }

  async #afterEnd(name: string, started: RunningTarget, failure: TargetFailure): Promise<void> {
    if (this.#current !== started) return
    void killProcess(started.running)
    await lastOutput(started.outputRead)
    if (this.#current !== started) return
    this.#current = null
    this.#lastEnd = { ended: failure, lines: this.#log.last(started.printedBefore), file: this.#log.fileName }
    this.ends.push(this.#lastEnd)
    for (const listener of [...this.#listeners]) listener()
    this.#options.onExit?.(targetEndedText(name, this.#lastEnd))
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
      this.#lastEnd = null
      if (running !== undefined) await how(running)
    })
  }
}

export interface TargetLogOptions {
  /** `path` is absolute; `name` is for messages and reports. Null: no file. */
  readonly file: { readonly path: string; readonly name: string } | null
  /** Replaces the secrets in a line. */
  redact(line: string): string
  /** Receives a sentence when the file cannot be written. */
  onProblem(message: string): void
}

const MAX_LINES = 20
/** More frames of one stack trace are counted: the exception and the first ones say what is wrong. */
const MAX_FRAMES = 5
const MAX_LINE_CHARS = 400
/** A longer line without an end is split. At the ellipses the redactor finds both parts of a secret that was cut in two. */
const SPLIT_CHARS = 65_536
const MAX_FILE_BYTES = 10 * 2 ** 20
const LEFT_OUT = '... earlier output is left out\n'

/** Keeps what the target prints: the last lines for failures, and the last megabytes in a file. */
export class TargetLog {
  /** How many lines the target has printed. */
  printed = 0
  readonly #options: TargetLogOptions
  /** With the number of the last line of the output that each stands for. */
  readonly #lines: { text: string; number: number }[] = []
  /** How many frames of a stack trace came one after the other. */
  #frames = 0
  readonly #file: BoundedFile | null

  constructor(options: TargetLogOptions) {
    this.#options = options
    this.#file = options.file === null ? null : new BoundedFile(options.file.path)
  }

  /** The name of the file; null when there is none. */
  get fileName(): string | null {
    return this.printed === 0 || this.#file?.isBroken ? null : (this.#options.file?.name ?? null)
  }

  /** The last lines of those that came after the first `after`. */
  last(after: number): string[] {
    const lines = this.#lines.filter(({ number }) => number > after).map(({ text }) => text)
    while (lines[0] === '') lines.shift()
    while (lines.at(-1) === '') lines.pop()
    return lines
  }

  /** Reads both streams of the program. Resolves when they have ended. */
  async follow({ child }: RunningProcess): Promise<void> {
    await Promise.all(
      [child.stdout, child.stderr].map(
        stream =>
          new Promise<void>(resolve => {
            if (stream === null) return resolve()
            let rest = ''
            stream.setEncoding('utf8').on('data', (chunk: string) => {
              const lines = (rest + chunk).split('\n')
              rest = lines.pop() ?? ''
              for (; rest.length > SPLIT_CHARS; rest = `…${rest.slice(SPLIT_CHARS)}`)
                lines.push(`${rest.slice(0, SPLIT_CHARS)}…`)
              this.#add(lines)
            })
            stream.once('close', () => {
              if (rest !== '') this.#add([rest])
              resolve()
            })
          }),
      ),
    )
  }

  #add(lines: readonly string[]): void {
    let output = ''
    for (const line of lines) {
      const shown = this.#options.redact(stripVTControlCharacters(line).trimEnd())
      output += `${shown}\n`
      this.printed++
      this.#frames = isStackFrame(shown) ? this.#frames + 1 : 0
      const hidden = this.#frames - MAX_FRAMES
      if (hidden > 1) this.#lines.pop()
      const kept = hidden > 0 ? `    ... ${counted(hidden, 'more frame')}` : shown.replaceAll('\t', '    ')
      this.#lines.push({ text: cut(kept, MAX_LINE_CHARS), number: this.printed })
      if (this.#lines.length > MAX_LINES) this.#lines.shift()
    }
    const { file, onProblem } = this.#options
    if (output === '' || file === null) return
    try {
      this.#file?.append(output)
    } catch (error) {
      onProblem(`Note: the output of the target could not be written to ${file.name}: ${messageOf(error)}`)
    }
  }
}

/** A file that loses its older half when it is full. */
class BoundedFile {
  readonly #path: string
  /** Null before the first write. */
  #size: number | null = null
  isBroken = false

  constructor(path: string) {
    this.#path = path
  }

  /** Throws the first error, and does nothing after it. A text is written when this returns, so that no crash loses it. */
  append(text: string): void {
    if (this.isBroken) return
    try {
      if (this.#size === null) saveText(this.#path, [text], 0o600)
      else writeFileSync(this.#path, text, { flag: 'a' })
      this.#size = (this.#size ?? 0) + Buffer.byteLength(text)
      if (this.#size <= MAX_FILE_BYTES) return
      const half = readFileSync(this.#path).subarray(-MAX_FILE_BYTES / 2)
      // From a whole line on.
      const kept = half.subarray(half.indexOf('\n') + 1)
      writeFileSync(this.#path, Buffer.concat([Buffer.from(LEFT_OUT), kept]))
      this.#size = LEFT_OUT.length + kept.length
    } catch (error) {
      this.isBroken = true
      throw error
    }
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
  readonly log?: TargetOptions['log']
}

/** Creates the target that a driver file describes under `target`. */
export function createDriverTarget(spec: TargetSpec, { env, sim, onExit, log }: DriverTargetOptions): TargetProcess {
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
  return new TargetProcess({ start: () => launched, stopTimeoutMs: spec.stopTimeoutMs, onExit, log })
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
  /** How many lines the target had printed before this start. */
  readonly printedBefore: number
  /** Resolves when everything that it printed has been read. */
  readonly outputRead: Promise<void>
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

/** Rejects with `TargetStartError`, after it has ended the process. `signal` aborts the start. */
async function startTarget(start: TargetLaunch, log: TargetLog, signal: AbortSignal): Promise<RunningTarget> {
  const { name, ready } = start
  // The test below would take another program that serves at the address for the target.
  if (ready !== null && (await probe(ready)) === null)
    throw new TargetStartError(name, { code: 'address_in_use', address: ready })
  if (signal.aborted) throw new TargetStartError(name, { code: 'run_ended' })
  const running = launch(start)
  if (!isRunning(running)) throw new TargetStartError(name, running)
  const printedBefore = log.printed
  const outputRead = log.follow(running)
  const outcome = await readiness(start, running, signal)
  if ('url' in outcome) return { running, url: outcome.url, printedBefore, outputRead }
  await killProcess(running)
  await lastOutput(outputRead)
  throw new TargetStartError(name, outcome, log.last(printedBefore).join('\n'))
}

/** A program that has left its group may hold the streams open. */
const LAST_OUTPUT_MS = 200

/** Waits for what a program printed last, which may come after its end. */
async function lastOutput(outputRead: Promise<void>): Promise<void> {
  const enough = new AbortController()
  await Promise.race([outputRead, wallDelay(LAST_OUTPUT_MS, enough.signal)])
  enough.abort()
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
  const serving = ready === null ? printedUrl(running) : waitForSuccess(ready, either, probes)
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
async function waitForSuccess(address: string, signal: AbortSignal, probes: { last?: NotReady }): Promise<Readiness> {
  for (;;) {
    const failure = await probe(address, signal)
    if (signal.aborted) return new Promise(() => {})
    if (failure === null) return { url: null }
    probes.last = failure
    await wallDelay(POLL_MS, signal)
  }
}

/** Resolves when the address answers with any status, or when the signal aborts. */
async function waitForResponse(address: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const failure = await probe(address, signal)
    if (failure === null || failure.code === 'status') return
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
