/** Runs the selected scenarios against one intermediary. Each has its own simulator; all share one port. */

import { elapsedMs, wallTime } from '../../base/runtime/clock.ts'
import { httpTransport } from '../../base/runtime/http-transport.ts'
import type { HttpTransport } from '../../base/runtime/transport.ts'
import { leaksBetween } from '../../evaluation/evaluator/echo.ts'
import type { Reason, RunResult, ScenarioResult, Verdict } from '../../evaluation/evaluator/verdict.ts'
import { type Plan, stepsOf } from '../../evaluation/scenario/plan.ts'
import { VERSION } from '../../platform/contract/version.ts'
import type { PlatformSimulatorOptions } from '../../platform/simulator/options.ts'
import { coreOf, createPlatformSimulator } from '../../platform/simulator/simulator.ts'
import { earlyEndText } from '../../platform/wording/failures.ts'
import type { PlatformServerOptions } from '../../server/start.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { probeTarget } from '../agent-driver/target.ts'
import {
  applyStrict,
  finalVerdict,
  maskedJournal,
  orphanFailures,
  runResult,
  scenarioResult,
  skippedResult,
  unsetVariable,
} from './results.ts'
import { createRunContext, nameOf, type RunContext, scenarioSeed } from './run-context.ts'
import { type RunListener, runPlan } from './run-scenario.ts'
import { type ConcurrencySlot, runConcurrently, type SelectedScenario, scenarioGroupRank } from './schedule.ts'
import type { SimulatorRouter } from './simulator-router.ts'
import { earlyEndOf } from './waiting.ts'

export interface SuiteOptions {
  readonly wanted: readonly SelectedScenario[]
  readonly router: SimulatorRouter
  /** The options of every simulator of the run. */
  readonly base: PlatformServerOptions
  readonly target: string
  /** Seed of the run. A scenario may set its own, unless `seedWins`. */
  readonly seed: number
  readonly seedWins: boolean
  readonly driver: Driver | null
  readonly jobs: number
  /** Treats warnings as failures, and inconclusive results as exit code 4. */
  readonly strict: boolean
  /** How many scenarios may fail before no further one is started; null for any number. */
  readonly bail: number | null
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborts with an `InterruptedError` when the run ends early. */
  readonly signal: AbortSignal
  readonly listener: RunListener
  /** The command line that runs one scenario again. */
  rerunCommand(plan: Plan, seed: number, instance: number): string
}

/** Never rejects for a failure of the intermediary. */
export async function runSuite(options: SuiteOptions): Promise<RunResult> {
  const { wanted, jobs, target, seed, signal, strict, router } = options
  const startedAt = wallTime()
  const started = elapsedMs()
  const suite = new Suite(options)
  const isExclusive = ({ plan }: SelectedScenario) => plan.exclusive !== null
  const hasFaults = ({ plan }: SelectedScenario) =>
    [...stepsOf(plan.steps)].some(({ action }) => action.verb === 'fault')
  // In their group, those with faults begin first, because they wait for slow answers and retries. Exclusive ones begin
  // last, so that no other one waits for them.
  const rankOf = (selected: SelectedScenario) => {
    const group = 3 * scenarioGroupRank(selected.plan)
    if (jobs === 1) return group
    if (isExclusive(selected)) return group + 2
    return hasFaults(selected) ? group : group + 1
  }
  const runs = await runConcurrently(wanted, { jobs, rankOf, isExclusive }, (...selection) => suite.run(...selection))
  const finished = runs.map(run => ({ plan: run.plan, result: suite.resultWithLateEntries(run) }))
  const scenarios = finished.map(({ result }) => result)
  const journal = maskedJournal(router.server)
  for (const { context } of runs) context?.close()
  await suite.transport.close()
  // Why the run stopped early; null when it did not.
  let stopped: string | null = null
  if (signal.aborted) stopped = earlyEndText(earlyEndOf(signal))
  else if (scenarios.some(({ outcome }) => outcome === 'skipped'))
    stopped = earlyEndText({ code: 'failure_limit', failures: suite.failureCount })
  const failures = [...orphanFailures(journal), ...leaksBetween(finished)]
  const facts = { version: VERSION, startedAt, durationMs: elapsedMs() - started, target, seed }
  return runResult({ ...facts, scenarios, failures, journal, stopped }, strict)
}

/** The result of a run whose target cannot be reached: an error of every scenario, with the same reason. */
export function unreachableResult(options: Omit<SuiteOptions, 'listener'>, message: string): RunResult {
  const { wanted, target, seed } = options
  const why = { outcome: 'error', reason: { code: 'unreachable', text: message } } as const
  const scenarios = wanted.map(selected => skippedResult(selected.plan, why, factsOf(options, selected)))
  const facts = { version: VERSION, startedAt: wallTime(), durationMs: 0, target, seed }
  return runResult({ ...facts, scenarios, failures: [], journal: [], stopped: message })
}

function factsOf(options: Omit<SuiteOptions, 'listener'>, { plan, instance }: SelectedScenario) {
  const seed = options.seedWins ? options.seed : (plan.seed ?? options.seed)
  return { seed, instance, rerunCommand: options.rerunCommand(plan, seed, instance) }
}

interface ScenarioRun {
  readonly plan: Plan
  readonly result: ScenarioResult
  /** Null when the scenario did not run. */
  readonly context: RunContext | null
  /** Seq of the last entry that the verdict contains. */
  readonly evaluatedTo: number
}

/** Runs the scenarios of one run. */
class Suite {
  readonly transport = httpTransport()
  /** How many scenarios have failed until now. */
  failureCount = 0
  readonly #options: SuiteOptions

  constructor(options: SuiteOptions) {
    this.#options = options
  }

  async run(selected: SelectedScenario, slot: ConcurrencySlot): Promise<ScenarioRun> {
    const { plan } = selected
    const { signal, bail, env } = this.#options
    const skip = (outcome: 'skipped' | 'error', reason: Reason): ScenarioRun => {
      const result = skippedResult(plan, { outcome, reason }, factsOf(this.#options, selected))
      return { plan, result, context: null, evaluatedTo: 0 }
    }
    if (signal.aborted || (bail !== null && this.failureCount >= bail))
      return skip('skipped', { code: 'run_stopped', text: 'not run, because the run had stopped' })
    const unset = unsetVariable(plan, env)
    const run = unset === null ? await this.#runOne(selected, slot) : skip('error', unset)
    if (run.result.outcome === 'fail' || run.result.outcome === 'error') this.failureCount++
    return run
  }

  async #runOne(selected: SelectedScenario, slot: ConcurrencySlot): Promise<ScenarioRun> {
    const { plan } = selected
    const { listener, bail } = this.#options
    const facts = factsOf(this.#options, selected)
    const name = nameOf(selected)
    listener.started(name)
    const onQuiet = () => {
      // Whether the next one may start depends on the result.
      if (bail === null) slot.releaseSlot()
    }
    const options = { ...this.#options, transport: this.transport, seed: facts.seed, onQuiet }
    const { context, verdict, ...times } = await runServed(selected, options)
    const result = scenarioResult(context, applyStrict(this.#options, verdict), { ...facts, ...times })
    listener.finished({ ...result, name })
    return { plan, result, context, evaluatedTo: context.core.journal.nextSeq - 1 }
  }

  /** Evaluates the journal again when entries came after the scenario had ended. */
  resultWithLateEntries({ context, result, evaluatedTo }: ScenarioRun): ScenarioResult {
    if (context === null || context.core.journal.nextSeq - 1 === evaluatedTo) return result
    const verdict = applyStrict(this.#options, finalVerdict(context))
    return { ...result, ...verdict, journal: maskedJournal(context.sim) }
  }
}

export interface ServedRunOptions {
  readonly router: SimulatorRouter
  /** The options of every simulator. */
  readonly base: PlatformServerOptions
  readonly target: string
  readonly driver: Driver | null
  readonly env: Readonly<Record<string, string | undefined>>
  readonly transport: HttpTransport
  readonly seed: number
  /** Aborts with an `InterruptedError` when the run ends early. */
  readonly signal: AbortSignal
  readonly listener?: Partial<RunListener>
  /** Called when all steps have ended. */
  onQuiet?(): void
}

export interface ServedRun {
  readonly context: RunContext
  readonly verdict: Verdict
  readonly startedAt: string
  /** A moment of `elapsedMs()`. */
  readonly started: number
}

/** The verdict needs the whole journal. */
const JOURNAL_LIMIT = 200_000

/** Runs one scenario with a simulator of its own, which the router still has afterwards, for late calls. Never rejects for a failure of the intermediary. */
export async function runServed(selected: SelectedScenario, options: ServedRunOptions): Promise<ServedRun> {
  const { plan, instance } = selected
  const { router, driver, env, transport, seed, signal, target, listener = {}, onQuiet } = options
  const times = { startedAt: wallTime(), started: elapsedMs() }
  const { url } = router.server
  const { secrets } = coreOf(router.server)
  const sim = createPlatformSimulator(simulatorOptions(selected, options), transport, undefined, secrets)
  if (plan.availability !== null) sim.setAvailability({ availability: plan.availability })
  const checkTarget = () => probeTarget(new URL(target), 0, signal)
  const context = await createRunContext({ plan, sim, driver, seed, instance, env, url, checkTarget })
  router.attach(sim)
  listener.opened?.(nameOf(selected), sim)
  const verdict = await runPlan(context, { signal, listener, ...(onQuiet && { onQuiet }) })
  router.detach(sim)
  return { context, verdict, ...times }
}

function simulatorOptions(
  selected: SelectedScenario,
  { base, target, router, seed }: ServedRunOptions,
): PlatformSimulatorOptions {
  const { plan } = selected
  let clock = base.clock ?? 'real'
  if (plan.clock?.mode === 'real') clock = 'real'
  else if (plan.clock !== null)
    clock = plan.clock.start === undefined ? 'virtual' : { mode: 'virtual', start: plan.clock.start }
  return {
    ...base,
    seed: scenarioSeed(seed, selected),
    baseUrl: router.server.baseUrl,
    clock,
    bot: { ...base.bot, ...(plan.bot as PlatformSimulatorOptions['bot']) },
    webhook: { url: target },
    businessHours: plan.businessHours ?? base.businessHours ?? null,
    knobs: { ...base.knobs, ...plan.config },
    journalLimit: JOURNAL_LIMIT,
  }
}
