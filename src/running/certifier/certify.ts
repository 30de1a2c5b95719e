/** Runs the checks of a certification against one intermediary. */

import { elapsedMs, wallTime } from '../../base/runtime/clock.ts'
import { anySignal, machineVersions } from '../../base/runtime/node.ts'
import { withoutCredentials } from '../../base/text/redactor.ts'
import { VERSION } from '../../platform/contract/version.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import { earlyEndText } from '../../platform/wording/failures.ts'
import { TargetStartError } from '../agent-driver/target.ts'
import { runConcurrently } from '../runner/schedule.ts'
import { earlyEndOf, InterruptedError } from '../runner/waiting.ts'
import { explainFindings, knobsWithout, mayBeBlocked, withoutExplained } from './causes.ts'
import { type Certificate, certificateOf } from './certificate.ts'
import type { CheckDefinition, CheckResult, CheckRun, Profile } from './check.ts'
import { CHECKS } from './checks/index.ts'
import type { ExpectedFailure } from './expected-failures.ts'
import { STOPPED } from './reason.ts'
import { withoutAssumedFailure } from './rotation.ts'
import { type CheckEnvironment, notRun, type RunOptions, runCheck, runWithout, withDecisiveKnobs } from './run-check.ts'
import {
  AddressWatch,
  attemptsOf,
  collectEnds,
  runAfterEnd,
  type WatchedCheck,
  withInterruptedChecks,
  withoutTarget,
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
  const { seed, rotates, tiers, missing, limits } = environment
  const startedAt = wallTime()
  const started = elapsedMs()
  listener.planned(checks.length)
  const certification = new Certification(options)
  const results = await certification.run()
  const end = certification.endOf(results)
  const facts = {
    version: VERSION,
    machine: machineVersions(),
    target: withoutCredentials(options.target),
    seed,
    rotates,
    tiers,
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
/** A check that avoids one cause may meet another one. */
const MAX_ROUNDS = 6

/** The checks of one run: each begins when a place is free. */
class Certification {
  readonly #options: CertifyTargetOptions
  /** Its signal aborts also when the run stops itself. */
  readonly #environment: CheckEnvironment
  readonly #stopped = new AbortController()
  /** How many checks in a row got no answer to any event. */
  #silentChecks = 0
  #failed = 0
  /** Null for a function, which does not go away. */
  readonly #watch: AddressWatch | null

  constructor(options: CertifyTargetOptions) {
    const { environment } = options
    const signal = anySignal([environment.signal, this.#stopped.signal])
    this.#options = options
    const watch = environment.hasWire ? new AddressWatch(new URL(options.target), signal) : null
    const open: CheckEnvironment['open'] = async (knobs, seed) => {
      const opened = await environment.open(knobs, seed)
      watch?.observe(opened.sim)
      return opened
    }
    this.#watch = watch
    this.#environment = { ...environment, open, signal }
  }

  /** Resolves with the results in the order of the checks. */
  async run(): Promise<CheckResult[]> {
    const { checks, listener } = this.#options
    const together = new Map<CheckDefinition, WatchedCheck>()
    const finished = new Set<CheckDefinition>()
    const finish = ({ result }: CheckRun) => {
      finished.add(result.check)
      listener.finished(result)
    }
    await this.#runEach(checks, async check => {
      const watched = await this.#runWatched(check)
      const { run, ends } = watched
      together.set(check, watched)
      // An interrupted check is repeated later, and another check may show why this one could not judge.
      if (ends.length > 0) return
      if (run.result.outcome === 'fail' || run.result.outcome === 'error') this.#failed++
      if (!mayBeBlocked(run.result)) finish(run)
    })
    const inOrder = checks.flatMap(check => together.get(check) ?? [])
    // Runs the checks during which the target ended again, each alone, so that only the one that ends it fails.
    const alone = new Map<CheckDefinition, WatchedCheck>()
    for (const { run, ends } of inOrder) {
      const { check } = run.result
      if (ends.length > 0) alone.set(check, await this.#runWatched(check, { repetition: 'alone' }))
    }
    let runs = inOrder.map(watched => runAfterEnd(watched, together, alone))
    await this.#repeatStopped(runs)
    const { signal } = this.#environment
    if (signal.aborted && earlyEndOf(signal).code === 'target_unreachable') {
      const decided = withoutTarget(runs.map(({ result }) => result))
      runs = runs.map((run, index) => ({ ...run, result: decided[index] ?? run.result }))
    }
    const results = runs.map(({ result }) => result)
    const explanations = explainFindings(results, new Set(results))
    return runs.map(run => {
      const explanation = explanations.get(run.result)
      const judged = explanation === undefined ? run.result : withoutExplained(run.result, explanation)
      const result = withoutAssumedFailure(judged)
      if (!finished.has(result.check)) finish({ ...run, result })
      return run.withLateEntries(result)
    })
  }

  #runEach(checks: readonly CheckDefinition[], run: (check: CheckDefinition) => Promise<void>): Promise<unknown> {
    const isExclusive = ({ exclusive = false }: CheckDefinition) => exclusive
    // Most exclusive checks begin late, so that none of the others waits for them.
    const rankOf = (check: CheckDefinition) =>
      check.begins === undefined ? Number(isExclusive(check)) : { first: -1, last: 2 }[check.begins]
    return runConcurrently(checks, { jobs: this.#options.jobs, rankOf, isExclusive }, run)
  }

  /** Repeats the checks that another one explains, in a way that avoids the cause, so that they judge their subject. */
  async #repeatStopped(runs: CheckRun[]): Promise<void> {
    const searched = new Set<CheckResult>()
    for (let round = 1; round <= MAX_ROUNDS && !this.#environment.signal.aborted; round++) {
      const results = runs.map(({ result }) => result)
      const explanations = explainFindings(results, searched)
      const repetitions = new Map<CheckDefinition, () => Promise<void>>()
      for (const [index, run] of runs.entries()) {
        const { result } = run
        const { check, decisive } = result
        const explanation = explanations.get(result)
        const knobs = explanation && knobsWithout(explanation, result)
        if (explanation && knobs != null)
          repetitions.set(check, async () => {
            const avoided = { check: explanation.by.check.id, knobs }
            const again = await this.#runWatched(check, { repetition: `without cause ${round}`, avoided })
            if (again.ends.length === 0 && again.run.result.reason?.code !== 'stopped') runs[index] = again.run
          })
        else if (explanation === undefined && mayBeBlocked(result) && decisive.length === 0 && !searched.has(result))
          repetitions.set(check, async () => {
            const decided = await withDecisiveKnobs(result, this.#environment)
            searched.add(decided)
            runs[index] = { ...run, result: decided }
          })
      }
      if (repetitions.size === 0) return
      await this.#runEach([...repetitions.keys()], async check => repetitions.get(check)?.())
    }
  }

  /** Why the run stopped early; null when it did not. */
  endOf(results: readonly CheckResult[]): EarlyEnd | null {
    const { signal } = this.#environment
    if (signal.aborted) return withInterruptedChecks(earlyEndOf(signal), results)
    const isIncomplete = results.some(({ reason }) => reason?.code === 'stopped')
    return isIncomplete ? { code: 'check_limit', failures: this.#failed } : null
  }

  /** Stops the run when the target does not answer any more and cannot be started again. */
  async #runWatched(check: CheckDefinition, options: RunOptions = {}): Promise<WatchedCheck> {
    const { bail, listener } = this.#options
    const { signal, driver } = this.#environment
    const target = driver?.target ?? null
    try {
      if (!signal.aborted) await target?.start()
      if (target === null) await this.#watch?.returned()
      else this.#watch?.forget()
    } catch (error) {
      if (!(error instanceof TargetStartError)) throw error
      this.#stop({ code: 'target_not_restarted', failure: error.failure })
    }
    if (signal.aborted || (bail !== null && this.#failed >= bail))
      return { run: runWithout(notRun(check, STOPPED)), ends: [] }
    if (options.repetition === undefined) listener.started(check)
    const run = () => runCheck(check, this.#environment, options)
    const watch = target ?? this.#watch
    const watched = watch === null ? { run: await run(), ends: [] } : await collectEnds(watch, run, signal)
    if (target !== null && watched.ends.length > 0) return watched
    const failure = (await this.#watch?.returned()) ?? null
    if (failure !== null && !signal.aborted) this.#stop({ code: 'target_unreachable', failure })
    if (failure !== null) return { ...watched, ends: [] }
    if (watched.ends.length > 0) return watched
    const end = this.#endAfter(watched.run.result)
    if (end === null) return watched
    this.#stop(end)
    return watched
  }

  /** Why the run must end; null when it goes on. A function does not go away. */
  #endAfter(result: CheckResult): EarlyEnd | null {
    const { hasWire } = this.#environment
    const attempts = attemptsOf(result)
    if (!hasWire || attempts.length === 0) return null
    this.#silentChecks = attempts.some(({ status }) => status !== null) ? 0 : this.#silentChecks + 1
    return this.#silentChecks >= SILENT_CHECKS ? { code: 'target_silent', checks: this.#silentChecks } : null
  }

  #stop(end: EarlyEnd): void {
    this.#stopped.abort(new InterruptedError(end))
  }
}
