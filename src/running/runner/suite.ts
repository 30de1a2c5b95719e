/** Runs the selected scenarios against one intermediary. Each has its own simulator; all share one port. */

import { elapsedMs, wallTime } from '../../base/runtime/clock.ts'
import { httpTransport } from '../../base/runtime/http-transport.ts'
import type { Transport } from '../../base/runtime/transport.ts'
import { leaksBetween } from '../../evaluation/evaluator/echo.ts'
import type { Awaited } from '../../evaluation/evaluator/step-evaluator.ts'
import type { Reason, RunResult, ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import type { Plan, PlannedStep } from '../../evaluation/scenario/plan.ts'
import { VERSION } from '../../platform/contract/version.ts'
import type { PlatformSimulatorOptions } from '../../platform/simulator/platform-options.ts'
import { coreOf, createPlatformSimulator, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { earlyEndText } from '../../platform/wording/failures.ts'
import type { PlatformServerOptions } from '../../server/start.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { probeTarget } from './probe-target.ts'
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
import { createRunContext, type RunContext, scenarioSeed } from './run-context.ts'
import { runScenario } from './run-scenario.ts'
import {
  type ConcurrencyLimiter,
  type ConcurrencySlot,
  createConcurrencyLimiter,
  inTurn,
  type SelectedScenario,
} from './schedule.ts'
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

/** Receives the progress of a run. */
export interface RunListener {
  started(name: string): void
  /** The chats of a scenario are open; its steps begin. */
  opened?(name: string, sim: PlatformSimulator): void
  step(name: string, step: PlannedStep): void
  stepEnded?(name: string, step: PlannedStep, failed: boolean): void
  /** A step waits for `what`, since a moment of `elapsedMs()`. */
  waiting(name: string, what: Awaited, sinceMs: number, atMostMs: number): void
  /** All steps have ended; the runner waits for late calls. */
  listening(name: string): void
  finished(result: ScenarioResult): void
}

/** Never rejects for a failure of the intermediary. */
export async function runSuite(options: SuiteOptions): Promise<RunResult> {
  const { wanted, jobs, target, seed, signal, strict, router } = options
  const startedAt = wallTime()
  const started = elapsedMs()
  const transport = httpTransport()
  const limiter = createConcurrencyLimiter(jobs)
  const failing: FailureCount = { count: 0 }
  const runs = await inTurn(wanted, jobs, selected => runSelected(options, selected, transport, limiter, failing))
  const plays = runs.map(run => ({ plan: run.plan, result: resultWithLateEntries(options, run) }))
  const scenarios = plays.map(({ result }) => result)
  const journal = maskedJournal(router.server)
  for (const { context } of runs) context?.close()
  await transport.close()
  const failures = [...orphanFailures(journal), ...leaksBetween(plays)]
  const facts = { version: VERSION, startedAt, durationMs: elapsedMs() - started, target, seed }
  return runResult({ ...facts, scenarios, failures, journal, stopped: stopText(signal, scenarios, failing) }, strict)
}

/** How many scenarios have failed until now. */
interface FailureCount {
  count: number
}

/** Why the run stopped early; null when it did not. */
function stopText(
  signal: AbortSignal,
  scenarios: readonly ScenarioResult[],
  { count: failures }: FailureCount,
): string | null {
  if (signal.aborted) return earlyEndText(earlyEndOf(signal))
  const isIncomplete = scenarios.some(({ outcome }) => outcome === 'skipped')
  return isIncomplete ? earlyEndText({ code: 'failure_limit', failures }) : null
}

/** The result of a run whose target cannot be reached: an error of every scenario, with the same reason. */
export function unreachableResult(options: Omit<SuiteOptions, 'listener'>, reason: string): RunResult {
  const { wanted, target, seed } = options
  const scenarios = wanted.map(({ plan, instance }) =>
    skippedResult(
      plan,
      { outcome: 'error', reason: { code: 'unreachable', message: reason } },
      factsOf(options, plan, instance),
    ),
  )
  const facts = { version: VERSION, startedAt: wallTime(), durationMs: 0, target, seed }
  return runResult({ ...facts, scenarios, failures: [], journal: [], stopped: reason })
}

function factsOf(options: Omit<SuiteOptions, 'listener'>, plan: Plan, instance: number) {
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

async function runSelected(
  options: SuiteOptions,
  { plan, instance }: SelectedScenario,
  transport: Transport,
  limiter: ConcurrencyLimiter,
  failing: FailureCount,
): Promise<ScenarioRun> {
  const slot = await limiter.take(plan.exclusive !== null)
  const facts = factsOf(options, plan, instance)
  const skipped = (outcome: 'skipped' | 'error', reason: Reason): ScenarioRun => ({
    plan,
    result: skippedResult(plan, { outcome, reason }, facts),
    context: null,
    evaluatedTo: 0,
  })
  try {
    if (options.signal.aborted || (options.bail !== null && failing.count >= options.bail))
      return skipped('skipped', { code: 'run_stopped' })
    const unset = unsetVariable(plan, options.env)
    const run = unset === null ? await runOne(options, plan, facts, transport, slot) : skipped('error', unset)
    if (run.result.outcome === 'fail' || run.result.outcome === 'error') failing.count++
    return run
  } finally {
    slot.close()
  }
}

async function runOne(
  options: SuiteOptions,
  plan: Plan,
  facts: ReturnType<typeof factsOf>,
  transport: Transport,
  slot: ConcurrencySlot,
): Promise<ScenarioRun> {
  const { router, driver, env, listener, signal, target } = options
  const { seed, instance } = facts
  const times = { startedAt: wallTime(), started: elapsedMs() }
  const name = instance === 1 ? plan.name : `${plan.name} #${instance}`
  listener.started(name)
  const secrets = coreOf(router.server).secrets
  const sim = createPlatformSimulator(optionsFor(options, { plan, instance }, seed), transport, undefined, secrets)
  if (plan.availability !== null) sim.setAvailability({ availability: plan.availability })
  const checkTarget = () => probeTarget(new URL(target), 0, signal)
  const { url } = router.server
  const context = await createRunContext({ plan, sim, driver, seed, instance, env, url, checkTarget })
  router.attach(sim)
  listener.opened?.(name, sim)
  const onQuiet = () => {
    listener.listening(name)
    // Whether the next one may start depends on the result.
    if (options.bail === null) slot.releaseSlot()
  }
  const verdict = await runScenario(context, { signal, onQuiet, ...stepListener(listener, name) })
  router.detach(sim)
  const result = scenarioResult(context, applyStrict(options, verdict), { ...facts, ...times })
  listener.finished({ ...result, name })
  return { plan, result, context, evaluatedTo: context.core.journal.nextSeq - 1 }
}

/** Reports a wait from the beginning of its step on. */
function stepListener(listener: RunListener, name: string) {
  const started = new Map<number, number>()
  return {
    onStep(step: PlannedStep) {
      started.set(step.number, elapsedMs())
      listener.step(name, step)
    },
    onStepEnd: (step: PlannedStep, failed: boolean) => listener.stepEnded?.(name, step, failed),
    onWaiting({ number }: PlannedStep, what: Awaited, forMs: number) {
      const now = elapsedMs()
      const sinceMs = started.get(number) ?? now
      listener.waiting(name, what, sinceMs, now - sinceMs + forMs)
    },
  }
}

/** Evaluates the journal again when entries came after the scenario had ended. */
function resultWithLateEntries(options: SuiteOptions, { context, result, evaluatedTo }: ScenarioRun): ScenarioResult {
  if (context === null || context.core.journal.nextSeq - 1 === evaluatedTo) return result
  const journal = maskedJournal(context.sim)
  return { ...result, ...applyStrict(options, finalVerdict(context)), journal }
}

function optionsFor(
  { base, target, router }: SuiteOptions,
  wanted: SelectedScenario,
  seed: number,
): PlatformSimulatorOptions {
  const { plan } = wanted
  return {
    ...base,
    seed: scenarioSeed(seed, wanted),
    baseUrl: router.server.baseUrl,
    clock: clockFor(plan, base.clock),
    bot: { ...base.bot, ...(plan.bot as PlatformSimulatorOptions['bot']) },
    webhook: { url: target },
    businessHours: plan.businessHours ?? base.businessHours ?? null,
    knobs: { ...base.knobs, ...plan.config },
    journalLimit: JOURNAL_LIMIT,
  }
}

/** The verdict needs the whole journal. */
const JOURNAL_LIMIT = 200_000

function clockFor(
  { clock }: Plan,
  otherwise: PlatformSimulatorOptions['clock'] = 'real',
): NonNullable<PlatformSimulatorOptions['clock']> {
  if (clock === null) return otherwise
  if (clock.mode === 'real') return 'real'
  return clock.start === undefined ? 'virtual' : { mode: 'virtual', start: clock.start }
}
