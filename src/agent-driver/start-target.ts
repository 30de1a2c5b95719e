/** Starts the intermediary and waits until it serves. */
import type { TargetFailure } from '../journal/run-failures.ts'
import { wallDelay } from '../runtime/clock.ts'
import { targetNotStartedText } from '../wording/run-failures.ts'
import { isRunning, killProcess, type LaunchOptions, launch, outputTail, type RunningProcess } from './process-group.ts'

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

export interface TargetProblem {
  /** The subject of messages: `The target`. */
  readonly target: string
  readonly failure: TargetFailure
  /** The end of what the target printed. */
  readonly output: string
}

/** The intermediary did not start. */
export class TargetStartError extends Error {
  override readonly name = 'TargetStartError'
  readonly problem: TargetProblem

  constructor(target: string, failure: TargetFailure, output = '') {
    super(targetNotStartedText(target, failure, output))
    this.problem = { target, failure, output }
  }
}

const OUTPUT_CHARS = 2_000

/** Rejects with `TargetStartError`, after it has ended the process. `signal` aborts the start. */
export async function startTarget(start: TargetLaunch, signal: AbortSignal): Promise<RunningTarget> {
  const { name, ready } = start
  // The test below would take another program that serves at the address for the target.
  if (ready !== null && (await answers(ready, new AbortController().signal)))
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
  const late = wallDelay(readyTimeoutMs, either).then(
    (): Readiness => (signal.aborted ? { code: 'run_ended' } : { code: 'not_ready', within_ms: readyTimeoutMs }),
  )
  const serving = ready === null ? printedUrl(running) : answered(ready, either)
  const outcome = await Promise.race([serving, late, running.ended])
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
const ANSWER_MS = 2_000

/** Resolves when the address answers. Stays pending when the signal aborts. */
async function answered(address: string, signal: AbortSignal): Promise<Readiness> {
  while (!(await answers(address, signal)) && !signal.aborted) await wallDelay(POLL_MS, signal)
  return signal.aborted ? new Promise(() => {}) : { url: null }
}

async function answers(address: string, signal: AbortSignal): Promise<boolean> {
  const enough = new AbortController()
  const stop = () => enough.abort()
  signal.addEventListener('abort', stop, { once: true })
  const late = wallDelay(ANSWER_MS, enough.signal).then(stop)
  try {
    const response = await fetch(address, { signal: enough.signal, redirect: 'manual' })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
    await late
  }
}
