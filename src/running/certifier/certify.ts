/** Runs the checks of a certification against one intermediary. */

import { elapsedMs, wallTime } from '../../base/runtime/clock.ts'
import { anySignal, machineVersions } from '../../base/runtime/node.ts'
import { withoutCredentials } from '../../base/text/redactor.ts'
import { VERSION } from '../../platform/contract/version.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import { earlyEndText } from '../../platform/wording/failures.ts'
import type { TargetControl } from '../agent-driver/driver.ts'
import { createConcurrencyLimiter } from '../runner/schedule.ts'
import { earlyEndOf, InterruptedError } from '../runner/waiting.ts'
import { type Certificate, certificateOf } from './certificate.ts'
import type { CheckDefinition, CheckResult, Profile } from './check.ts'
import { CHECKS } from './checks/index.ts'
import type { ExpectedFailure } from './expected-failures.ts'
import { type CheckEnvironment, type CheckRun, notRun, type PlaySeries, runCheck, runOf } from './run-check.ts'
import { collectEnds, explained, startAgain, type WatchedRun } from './target-ends.ts'
import { createTargetWatch, type TargetWatch, withChecks, withoutAbsence } from './target-watch.ts'

export interface CertifyTargetOptions {
  readonly checks: readonly CheckDefinition[]
  readonly profiles: readonly Profile[]
  readonly environment: CheckEnvironment
  readonly target: string
  readonly jobs: number
  /** How many checks may fail before no further one is started; null for any number. */
  readonly bail: number | null
  /** Treats warnings as failures, and every inconclusive check as incomplete. */
  readonly strict: boolean
  readonly expected: readonly ExpectedFailure[]
  readonly listener: CertifyListener
}

/** Receives the progress of a certification. */
export interface CertifyListener {
  planned(checks: number): void
  started(check: CheckDefinition): void
  finished(result: CheckResult): void
}

/** Never rejects for a failure of the intermediary. */
export async function certifyTarget(options: CertifyTargetOptions): Promise<Certificate> {
  const { checks, listener } = options
  const startedAt = wallTime()
  const started = elapsedMs()
  listener.planned(checks.length)
  const run = createRun(options)
  const late = await runAll(run, checks)
  const end = endOf(run, late)
  const stopped = end === null ? null : withChecks(end, late)
  const results = stopped?.code === 'target_unreachable' ? late.map(withoutAbsence) : late
  return certificateOf(
    {
      ...factsOf(options),
      startedAt,
      checks: results,
      durationMs: elapsedMs() - started,
      stopped: stopped === null ? null : earlyEndText(stopped),
    },
    options,
  )
}

/** What a certificate says about how the run was made. */
function factsOf({ checks, environment, target, profiles }: CertifyTargetOptions) {
  const { seed, rotates, limits, missing } = environment
  return {
    version: VERSION,
    machine: machineVersions(),
    target: withoutCredentials(target),
    seed,
    rotates,
    limits: { ackMs: limits.ackMs, effectMs: limits.effectMs, quietMs: limits.quietMs },
    missing: [...missing],
    profiles,
    isPartial: CHECKS.some(check => profiles.includes(check.profile) && !checks.includes(check)),
  }
}

interface Run {
  readonly options: CertifyTargetOptions
  /** Its signal aborts also when the run stops itself. */
  readonly environment: CheckEnvironment
  readonly limiter: ReturnType<typeof createConcurrencyLimiter>
  /** The process of the intermediary; null when it cannot be started again. */
  readonly target: TargetControl | null
  /** Null for a function, which does not go away. */
  readonly watch: TargetWatch | null
  stop(why: EarlyEnd): void
  failed: number
}

function createRun(options: CertifyTargetOptions): Run {
  const { environment, target, jobs } = options
  const own = new AbortController()
  const signal = anySignal([environment.signal, own.signal])
  return {
    options,
    environment: { ...environment, signal },
    limiter: createConcurrencyLimiter(jobs),
    target: environment.driver?.target ?? null,
    watch: environment.hasWire ? createTargetWatch(new URL(target), signal) : null,
    stop: why => own.abort(new InterruptedError(why)),
    failed: 0,
  }
}

/** Begins the exclusive checks last, so that none of the others waits for them. Resolves in the given order. */
async function runAll(run: Run, checks: readonly CheckDefinition[]): Promise<CheckResult[]> {
  const inTurn = checks.toSorted((a, b) => placeOf(a) - placeOf(b))
  const ended = new Map(await Promise.all(inTurn.map(async check => [check, await runScheduled(run, check)] as const)))
  const repeated = await repeatInterrupted(run, ended)
  return checks.map(check => (repeated.get(check) ?? ended.get(check)!.run).withLateEntries())
}

const placeOf = ({ exclusive = false }: CheckDefinition): number => (exclusive === 'last' ? 2 : exclusive ? 1 : 0)

async function runScheduled(run: Run, check: CheckDefinition): Promise<WatchedRun> {
  const slot = await run.limiter.take(placeOf(check) > 0)
  try {
    const watched = await runWatched(run, check, 'together')
    // An interrupted check is repeated later.
    if (watched.ends.length === 0) finish(run, watched.run)
    return watched
  } finally {
    slot.close()
  }
}

function finish(run: Run, { result }: CheckRun): void {
  if (result.outcome === 'fail' || result.outcome === 'error') run.failed++
  run.options.listener.finished(result)
}

/** Stops the run when the target does not answer any more and cannot be started again. */
async function runWatched(run: Run, check: CheckDefinition, series: PlaySeries): Promise<WatchedRun> {
  const { bail, listener } = run.options
  if (run.target !== null) await keepRunning(run, run.target)
  const isOver = run.environment.signal.aborted || (bail !== null && run.failed >= bail)
  if (isOver) return { run: runOf(notRun(check, { code: 'stopped' })), ends: [] }
  if (series === 'together') listener.started(check)
  const play = () => runCheck(check, run.environment, series)
  const watched = run.target === null ? { run: await play(), ends: [] } : await collectEnds(run.target, play)
  if (watched.ends.length > 0) return watched
  return { ...watched, run: await judged(run, watched.run) }
}

async function keepRunning(run: Run, target: TargetControl): Promise<void> {
  const why = run.environment.signal.aborted ? null : await startAgain(target)
  if (why !== null) run.stop(why)
}

async function judged(run: Run, ended: CheckRun): Promise<CheckRun> {
  const why = (await run.watch?.endAfter(ended.result)) ?? null
  if (why === null) return ended
  run.stop(why)
  return why.code === 'target_unreachable' ? { ...ended, result: withoutAbsence(ended.result) } : ended
}

/** Plays the checks during which the target ended again, each alone, so that only the one that ends it fails. */
async function repeatInterrupted(
  run: Run,
  played: ReadonlyMap<CheckDefinition, WatchedRun>,
): Promise<ReadonlyMap<CheckDefinition, CheckRun>> {
  const interrupted = [...played].filter(([, { ends }]) => ends.length > 0)
  const alone = new Map<CheckDefinition, WatchedRun>()
  for (const [check] of interrupted) alone.set(check, await runWatched(run, check, 'alone'))
  const repeated = interrupted.map(([check]) => [check, explained(check, played, alone)] as const)
  for (const [, ended] of repeated) finish(run, ended)
  return new Map(repeated)
}

/** Why the run stopped early; null when it did not. */
function endOf({ environment, failed }: Run, results: readonly CheckResult[]): EarlyEnd | null {
  if (environment.signal.aborted) return earlyEndOf(environment.signal)
  const isIncomplete = results.some(({ reason }) => reason?.code === 'stopped')
  return isIncomplete ? { code: 'check_limit', failures: failed } : null
}
