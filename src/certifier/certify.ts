/** Runs the checks of a certification against one intermediary. */
import { VERSION } from '../contract/version.ts'
import type { EarlyEnd } from '../journal/run-failures.ts'
import { createConcurrencyLimiter } from '../runner/schedule.ts'
import { earlyEndOf } from '../runner/waiting.ts'
import { elapsedMs, wallTime } from '../runtime/clock.ts'
import { machineVersions } from '../runtime/node.ts'
import { withoutCredentials } from '../text/redactor.ts'
import { earlyEndText } from '../wording/failures.ts'
import { type Certificate, certificateOf } from './certificate.ts'
import type { CheckDefinition, CheckResult, Profile } from './check.ts'
import { CHECKS } from './checks/index.ts'
import type { ExpectedFailure } from './expected-failures.ts'
import { type CheckEnvironment, notRun, runCheck } from './run-check.ts'

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
  const run: Run = { options, limiter: createConcurrencyLimiter(options.jobs), failed: 0 }
  const results = await Promise.all(checks.map(check => runScheduled(run, check)))
  const stopped = endOf(run, results)
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
  readonly limiter: ReturnType<typeof createConcurrencyLimiter>
  failed: number
}

async function runScheduled(run: Run, check: CheckDefinition): Promise<CheckResult> {
  const { environment, bail, listener } = run.options
  const slot = await run.limiter.take(check.exclusive ?? false)
  try {
    const isOver = environment.signal.aborted || (bail !== null && run.failed >= bail)
    if (!isOver) listener.started(check)
    const result = isOver ? notRun(check, { code: 'stopped' }) : await runCheck(check, environment)
    if (result.outcome === 'fail' || result.outcome === 'error') run.failed++
    listener.finished(result)
    return result
  } finally {
    slot.close()
  }
}

/** Why the run stopped early; null when it did not. */
function endOf({ options, failed }: Run, results: readonly CheckResult[]): EarlyEnd | null {
  const { signal } = options.environment
  if (signal.aborted) return earlyEndOf(signal)
  const isIncomplete = results.some(({ reason }) => reason?.code === 'stopped')
  return isIncomplete ? { code: 'failure_limit', failures: failed } : null
}
