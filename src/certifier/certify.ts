/** Runs the checks of a certification against one intermediary. */
import { VERSION } from '../contract/version.ts'
import type { EarlyEnd } from '../journal/run-failures.ts'
import { createConcurrencyLimiter } from '../runner/schedule.ts'
import { earlyEndOf, InterruptedError } from '../runner/waiting.ts'
import { elapsedMs, wallTime } from '../runtime/clock.ts'
import { anySignal, machineVersions } from '../runtime/node.ts'
import { withoutCredentials } from '../text/redactor.ts'
import { earlyEndText } from '../wording/failures.ts'
import { type Certificate, certificateOf } from './certificate.ts'
import type { CheckDefinition, CheckResult, Profile } from './check.ts'
import { CHECKS } from './checks/index.ts'
import type { ExpectedFailure } from './expected-failures.ts'
import { type CheckEnvironment, type CheckRun, notRun, runCheck, runOf } from './run-check.ts'
import { createTargetWatch, type TargetWatch, withoutAbsence } from './target-watch.ts'

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
  const stopped = endOf(run, late)
  const results = stopped?.code === 'target_gone' ? late.map(withoutAbsence) : late
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
    watch: environment.hasWire ? createTargetWatch(new URL(target), signal) : null,
    stop: why => own.abort(new InterruptedError(why)),
    failed: 0,
  }
}

/** Begins the exclusive checks last, so that none of the others waits for them. Resolves in the given order. */
async function runAll(run: Run, checks: readonly CheckDefinition[]): Promise<CheckResult[]> {
  const isLast = ({ exclusive = false }: CheckDefinition) => exclusive
  const inTurn = [...checks.filter(check => !isLast(check)), ...checks.filter(isLast)]
  const ended = new Map(await Promise.all(inTurn.map(async check => [check, await runScheduled(run, check)] as const)))
  return checks.map(check => ended.get(check)!.withLateEntries())
}

async function runScheduled(run: Run, check: CheckDefinition): Promise<CheckRun> {
  const { environment, limiter } = run
  const { bail, listener } = run.options
  const slot = await limiter.take(check.exclusive ?? false)
  try {
    const isOver = environment.signal.aborted || (bail !== null && run.failed >= bail)
    if (!isOver) listener.started(check)
    const ended = isOver ? runOf(notRun(check, { code: 'stopped' })) : await runWatched(run, check)
    if (ended.result.outcome === 'fail' || ended.result.outcome === 'error') run.failed++
    listener.finished(ended.result)
    return ended
  } finally {
    slot.close()
  }
}

/** Stops the run when the target does not answer any more. */
async function runWatched(run: Run, check: CheckDefinition): Promise<CheckRun> {
  const ended = await runCheck(check, run.environment)
  const why = (await run.watch?.judge(ended.result)) ?? null
  if (why === null) return ended
  run.stop(why)
  return why.code === 'target_gone' ? { ...ended, result: withoutAbsence(ended.result) } : ended
}

/** Why the run stopped early; null when it did not. */
function endOf({ environment, failed }: Run, results: readonly CheckResult[]): EarlyEnd | null {
  if (environment.signal.aborted) return earlyEndOf(environment.signal)
  const isIncomplete = results.some(({ reason }) => reason?.code === 'stopped')
  return isIncomplete ? { code: 'check_limit', failures: failed } : null
}
