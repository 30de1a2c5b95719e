/** Runs the checks of a certification against one intermediary. */

import { elapsedMs, wallTime } from '../../base/runtime/clock.ts'
import { anySignal, machineVersions } from '../../base/runtime/node.ts'
import { withoutCredentials } from '../../base/text/redactor.ts'
import { VERSION } from '../../platform/contract/version.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import { earlyEndText } from '../../platform/wording/failures.ts'
import { probeTarget, TargetStartError } from '../agent-driver/target.ts'
import { runConcurrently } from '../runner/schedule.ts'
import { earlyEndOf, InterruptedError } from '../runner/waiting.ts'
import { type Certificate, certificateOf } from './certificate.ts'
import type { CheckDefinition, CheckResult, CheckRun, Profile } from './check.ts'
import { CHECKS } from './checks/index.ts'
import type { ExpectedFailure } from './expected-failures.ts'
import { type CheckEnvironment, type CheckSeries, notRun, runCheck, runWithout } from './run-check.ts'
import {
  attemptsOf,
  collectEnds,
  isRefused,
  runAfterEnd,
  type WatchedCheck,
  withInterruptedChecks,
  withoutUnreachableFindings,
} from './target-watch.ts'

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
  const { checks, profiles, environment, listener } = options
  const { seed, rotates, missing, limits } = environment
  const startedAt = wallTime()
  const started = elapsedMs()
  listener.planned(checks.length)
  const certification = new Certification(options)
  let results = await certification.run()
  const end = certification.endOf(results)
  if (end?.code === 'target_unreachable') results = results.map(withoutUnreachableFindings)
  const facts = {
    version: VERSION,
    machine: machineVersions(),
    target: withoutCredentials(options.target),
    seed,
    rotates,
    limits: { ackMs: limits.ackMs, effectMs: limits.effectMs, quietMs: limits.quietMs },
    missing: [...missing],
    startedAt,
    durationMs: elapsedMs() - started,
    profiles,
    isPartial: CHECKS.some(check => profiles.includes(check.profile) && !checks.includes(check)),
    checks: results,
    stopped: end === null ? null : earlyEndText(end),
  }
  return certificateOf(facts, options)
}

/** So many checks in a row, all without an answer to any event, mean that the intermediary does not answer. */
const SILENT_CHECKS = 4
/** For a program that is restarted by another one. */
const RETURN_MS = 3_000

/** The checks of one run: each begins when a place is free. */
class Certification {
  readonly #options: CertifyTargetOptions
  /** Its signal aborts also when the run stops itself. */
  readonly #environment: CheckEnvironment
  readonly #stopped = new AbortController()
  /** How many checks in a row got no answer to any event. */
  #silentChecks = 0
  #failed = 0

  constructor(options: CertifyTargetOptions) {
    const { environment } = options
    const signal = anySignal([environment.signal, this.#stopped.signal])
    this.#options = options
    this.#environment = { ...environment, signal }
  }

  /** Resolves with the results in the order of the checks. */
  async run(): Promise<CheckResult[]> {
    const { checks, jobs } = this.#options
    const isExclusive = ({ exclusive = false }: CheckDefinition) => exclusive
    // The exclusive checks begin last, so that none of the others waits for them.
    const rankOf = (check: CheckDefinition) => (check.runsLast ? 2 : isExclusive(check) ? 1 : 0)
    const together = new Map<CheckDefinition, WatchedCheck>()
    await runConcurrently(checks, { jobs, rankOf, isExclusive }, async check => {
      const watched = await this.#runWatched(check, 'together')
      together.set(check, watched)
      // An interrupted check is repeated later.
      if (watched.ends.length === 0) this.#finish(watched.run.result)
    })
    // Runs the checks during which the target ended again, each alone, so that only the one that ends it fails.
    const interrupted = checks.filter(check => together.get(check)!.ends.length > 0)
    const alone = new Map<CheckDefinition, WatchedCheck>()
    for (const check of interrupted) alone.set(check, await this.#runWatched(check, 'alone'))
    const runs = new Map<CheckDefinition, CheckRun>()
    for (const check of interrupted) {
      const run = runAfterEnd(check, together, alone)
      runs.set(check, run)
      this.#finish(run.result)
    }
    return checks.map(check => {
      const { result, withLateEntries } = runs.get(check) ?? together.get(check)!.run
      return withLateEntries(result)
    })
  }

  /** Why the run stopped early; null when it did not. */
  endOf(results: readonly CheckResult[]): EarlyEnd | null {
    const { signal } = this.#environment
    if (signal.aborted) return withInterruptedChecks(earlyEndOf(signal), results)
    const isIncomplete = results.some(({ reason }) => reason?.code === 'stopped')
    return isIncomplete ? { code: 'check_limit', failures: this.#failed } : null
  }

  #finish(result: CheckResult): void {
    if (result.outcome === 'fail' || result.outcome === 'error') this.#failed++
    this.#options.listener.finished(result)
  }

  /** Stops the run when the target does not answer any more and cannot be started again. */
  async #runWatched(check: CheckDefinition, series: CheckSeries): Promise<WatchedCheck> {
    const { bail, listener } = this.#options
    const { signal, driver } = this.#environment
    const target = driver?.target ?? null
    try {
      if (!signal.aborted) await target?.start()
    } catch (error) {
      if (!(error instanceof TargetStartError)) throw error
      this.#stop({ code: 'target_not_restarted', failure: error.failure })
    }
    if (signal.aborted || (bail !== null && this.#failed >= bail))
      return { run: runWithout(notRun(check, { code: 'stopped' })), ends: [] }
    if (series === 'together') listener.started(check)
    const run = () => runCheck(check, this.#environment, series)
    const watched = target === null ? { run: await run(), ends: [] } : await collectEnds(target, run)
    if (watched.ends.length > 0) return watched
    const end = await this.#endAfter(watched.run.result)
    if (end === null) return watched
    this.#stop(end)
    if (end.code !== 'target_unreachable') return watched
    return { ...watched, run: { ...watched.run, result: withoutUnreachableFindings(watched.run.result) } }
  }

  /** Why the run must end; null when it goes on. A function does not go away. */
  async #endAfter(result: CheckResult): Promise<EarlyEnd | null> {
    const { hasWire, signal } = this.#environment
    const attempts = attemptsOf(result)
    if (!hasWire || attempts.length === 0) return null
    this.#silentChecks = attempts.some(({ status }) => status !== null) ? 0 : this.#silentChecks + 1
    if (attempts.some(isRefused)) {
      const failure = await probeTarget(new URL(this.#options.target), RETURN_MS, signal)
      if (failure !== null && !signal.aborted) return { code: 'target_unreachable', failure }
    }
    return this.#silentChecks >= SILENT_CHECKS ? { code: 'target_silent', checks: this.#silentChecks } : null
  }

  #stop(end: EarlyEnd): void {
    this.#stopped.abort(new InterruptedError(end))
  }
}
