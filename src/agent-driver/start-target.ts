/** Starting the intermediary and waiting until it serves. */
import { wallDelay } from '../runtime/clock.ts'
import { formatDuration } from '../text/duration.ts'
import { kill, type LaunchOptions, launch, outputTail, type ProcessEnd, type RunningProcess } from './process-group.ts'

export interface TargetLaunch extends LaunchOptions {
  /** How it is called in messages: `The target`. */
  readonly name: string
  readonly readyTimeoutMs: number
  /** An address that answers 2xx once it serves, or null: it prints `Ready: URL`. */
  readonly ready: string | null
}

export interface RunningTarget {
  readonly running: RunningProcess
  /** What it printed after `Ready:`; null when it was asked by its address. */
  readonly url: string | null
  /** The end of what it said. */
  words(): string
}

const TAIL_CHARS = 2_000

const GIVEN_UP = 'the run is over'

/** Rejects with `TargetProblem`, and nothing is left running then. `signal` gives it up. */
export async function startTarget(start: TargetLaunch, signal: AbortSignal): Promise<RunningTarget> {
  if (start.ready !== null) await checkFree(start.name, start.ready)
  if (signal.aborted) throw new TargetStartError(`${start.name} did not start: ${GIVEN_UP}.`)
  const running = run(start)
  const words = outputTail(running, TAIL_CHARS)
  const outcome = await readiness(start, running, signal)
  if (!('why' in outcome)) return { running, url: outcome.url, words }
  await kill(running)
  throw new TargetStartError(sentences(`${start.name} did not start: ${outcome.why}`, words()))
}

/** A message, and what the program said last. */
export const sentences = (message: string, words: string): string =>
  words === '' ? `${message}.` : `${message}. It said last:\n${words}`

function run(start: TargetLaunch): RunningProcess {
  try {
    return launch(start)
  } catch (error) {
    throw new TargetStartError(`${start.name} did not start: ${(error as Error).message}.`)
  }
}

/** Another one that serves there would be taken for ours. */
async function checkFree(name: string, ready: string): Promise<void> {
  const never = new AbortController().signal
  if (!(await answers(ready, never))) return
  throw new TargetStartError(`${name} cannot be started: something answers at ${ready} already. Stop it first.`)
}

type Readiness = { readonly url: string | null } | Pick<ProcessEnd, 'why'>

/** The first of: it serves, it ended, it took too long, it is not wanted any more. */
async function readiness(start: TargetLaunch, running: RunningProcess, signal: AbortSignal): Promise<Readiness> {
  const over = new AbortController()
  const { readyTimeoutMs: within, ready } = start
  const given = AbortSignal.any([over.signal, signal])
  const late = wallDelay(within, given).then(() => ({
    why: signal.aborted ? GIVEN_UP : `it was not ready within ${formatDuration(within)}`,
  }))
  const there = ready === null ? printed(running) : answered(ready, given)
  const outcome = await Promise.race([there, late, running.ended])
  over.abort()
  return outcome
}

function printed({ child }: RunningProcess): Promise<Readiness> {
  return new Promise(resolve => {
    let said = ''
    child.stdout!.setEncoding('utf8').on('data', function look(chunk: string) {
      said += chunk
      const url = /^Ready: (http\S+)$/m.exec(said)?.[1]
      if (url === undefined) return
      child.stdout!.off('data', look)
      resolve({ url })
    })
  })
}

const ASK_EVERY_MS = 50
const ONE_ASK_MS = 2_000

/** Resolves only when it answered; the caller has an eye on the time. */
async function answered(ready: string, over: AbortSignal): Promise<Readiness> {
  while (!(await answers(ready, over)) && !over.aborted) await wallDelay(ASK_EVERY_MS, over)
  return over.aborted ? new Promise(() => {}) : { url: null }
}

async function answers(url: string, over: AbortSignal): Promise<boolean> {
  const enough = new AbortController()
  const stop = () => enough.abort()
  over.addEventListener('abort', stop, { once: true })
  const late = wallDelay(ONE_ASK_MS, enough.signal).then(stop)
  try {
    const response = await fetch(url, { signal: enough.signal, redirect: 'manual' })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  } finally {
    over.removeEventListener('abort', stop)
    stop()
    await late
  }
}

export class TargetStartError extends Error {
  override readonly name = 'TargetStartError'
}
