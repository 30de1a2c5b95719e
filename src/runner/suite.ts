/** A run: every wanted scenario played against one intermediary, each with a simulator of its own behind one port. */

import type { Driver } from '../agent-driver/driver.ts'
import { VERSION } from '../contract/version.ts'
import type { RunResult, ScenarioResult, Verdict } from '../evaluator/verdict.ts'
import { elapsedMs, wallTime } from '../runtime/clock.ts'
import { httpTransport, type Transport } from '../runtime/transport.ts'
import type { Plan, PlannedStep } from '../scenario/plan.ts'
import type { PlatformServerOptions } from '../server/start.ts'
import type { PlatformSimulatorOptions } from '../simulator/options.ts'
import { createPlatformSimulator } from '../simulator/simulator.ts'
import { earlyEndText } from '../wording/run-failures.ts'
import { type ConcurrencyLimiter, type ConcurrencySlot, createConcurrencyLimiter } from './concurrency-limiter.ts'
import { finalizeRun } from './finalize-run.ts'
import { probeTarget } from './probe-target.ts'
import {
  applyStrict,
  countOutcomes,
  effectiveSeed,
  maskedJournal,
  planFields,
  skippedResults,
  unsetVariable,
} from './results.ts'
import { createRunContext, type RunContext, scenarioSeed } from './run-context.ts'
import { executeScenario } from './run-scenario.ts'
import type { SelectedScenario } from './select-scenarios.ts'
import type { SimulatorRouter } from './simulator-router.ts'
import { earlyEndOf } from './waiting.ts'

export interface SuiteOptions {
  readonly wanted: readonly SelectedScenario[]
  readonly router: SimulatorRouter
  /** What every simulator of the run is made from. */
  readonly base: PlatformServerOptions
  readonly target: string
  /** Of the run; a scenario may have its own unless `seedWins`. */
  readonly seed: number
  readonly seedWins: boolean
  readonly driver: Driver | null
  readonly jobs: number
  /** Warnings fail. */
  readonly strict: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborts with an `InterruptedError` when the run ends early. */
  readonly signal: AbortSignal
  readonly listener: RunListener
  /** The command that plays one scenario again. */
  rerunCommand(plan: Plan, seed: number, instance: number): string
}

/** Who shows what goes on. */
export interface RunListener {
  started(name: string): void
  step(name: string, step: PlannedStep): void
  /** Since a moment of `elapsedMs()`, for at most so long. */
  waiting(name: string, what: string, sinceMs: number, atMostMs: number): void
  /** The steps are over. */
  listening(name: string): void
  finished(played: ScenarioResult): void
}

/** Never rejects for what an intermediary does. */
export async function runSuite(options: SuiteOptions): Promise<RunResult> {
  const startedAt = wallTime()
  const started = elapsedMs()
  const transport = httpTransport()
  const slots = createConcurrencyLimiter(options.jobs)
  const runs = await Promise.all(options.wanted.map(wanted => showOf(options, wanted, transport, slots)))
  const { scenarios, failures, journal } = finalizeRun(options, runs)
  await transport.close()
  const facts = { version: VERSION, startedAt, durationMs: elapsedMs() - started, target: options.target }
  const stopped = options.signal.aborted ? earlyEndText(earlyEndOf(options.signal)) : null
  return {
    ...facts,
    seed: options.seed,
    scenarios,
    failures,
    journal,
    stopped,
    ...countOutcomes(scenarios, failures, options.strict),
  }
}

/** One play, and what is needed to judge it again when stragglers come. */
export interface ScenarioRun {
  readonly plan: Plan
  readonly context: RunContext | null
  readonly played: ScenarioResult
  /** Seq of the last entry that was judged. */
  readonly evaluatedTo: number
}

const SKIPPED = { outcome: 'skipped', reason: 'the run was stopped before it' } as const

async function showOf(
  options: SuiteOptions,
  wanted: SelectedScenario,
  transport: Transport,
  slots: ConcurrencyLimiter,
): Promise<ScenarioRun> {
  const slot = await slots.take(wanted.plan.exclusive !== null)
  try {
    const why = options.signal.aborted ? SKIPPED : unsetVariable(wanted.plan, options.env)
    if (why === null) return await perform(options, wanted, transport, slot)
    return { plan: wanted.plan, context: null, played: skippedResults(options, wanted, why), evaluatedTo: 0 }
  } finally {
    slot.close()
  }
}

async function perform(
  options: SuiteOptions,
  wanted: SelectedScenario,
  transport: Transport,
  slot: ConcurrencySlot,
): Promise<ScenarioRun> {
  const { plan, instance } = wanted
  const { router, driver, env, listener, signal } = options
  const seed = effectiveSeed(options, plan)
  const facts = { plan, instance, seed, startedAt: wallTime(), started: elapsedMs() }
  const name = instance === 1 ? plan.name : `${plan.name} #${instance}`
  listener.started(name)
  const sim = createPlatformSimulator(optionsFor(options, wanted, seed), transport)
  if (plan.availability !== null) sim.setAvailability({ availability: plan.availability })
  const checkTarget = () => probeTarget(new URL(options.target), 0, signal)
  const context = await createRunContext({
    plan,
    sim,
    driver,
    seed,
    instance,
    env,
    url: router.server.url,
    checkTarget,
  })
  router.attach(sim)
  const onQuiet = () => {
    listener.listening(name)
    slot.releaseSlot()
  }
  const verdict = await executeScenario(context, { signal, onQuiet, ...watched(listener, name) })
  router.detach(sim)
  const played = playedFrom(options, facts, verdict, context)
  listener.finished({ ...played, name })
  return { plan, context, played, evaluatedTo: context.core.journal.nextSeq - 1 }
}

/** A check is waited for from its beginning on, however often it is asked about. */
function watched(listener: RunListener, name: string) {
  const begun = new Map<number, number>()
  return {
    onStep(step: PlannedStep) {
      begun.set(step.number, elapsedMs())
      listener.step(name, step)
    },
    onWaiting(step: PlannedStep, what: string, forMs: number) {
      const sinceMs = begun.get(step.number)!
      listener.waiting(name, what, sinceMs, elapsedMs() - sinceMs + forMs)
    },
  }
}

interface JournalIndex {
  readonly plan: Plan
  readonly instance: number
  readonly seed: number
  readonly startedAt: string
  readonly started: number
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

/** A play is judged by its whole journal. */
const JOURNAL_LIMIT = 200_000

function clockFor(
  { clock }: Plan,
  otherwise: PlatformSimulatorOptions['clock'] = 'real',
): NonNullable<PlatformSimulatorOptions['clock']> {
  if (clock === null) return otherwise
  if (clock.mode === 'real') return 'real'
  return clock.start === undefined ? 'virtual' : { mode: 'virtual', start: clock.start }
}

function playedFrom(options: SuiteOptions, facts: JournalIndex, verdict: Verdict, context: RunContext): ScenarioResult {
  const { plan, instance, seed, startedAt, started } = facts
  return {
    ...applyStrict(options, verdict),
    ...planFields(plan),
    seed,
    clock: context.core.clock.mode,
    instance,
    startedAt,
    durationMs: elapsedMs() - started,
    journal: maskedJournal(context.sim),
    conversations: Object.fromEntries([...context.conversations].map(([name, chat]) => [name, chat.id])),
    rerunCommand: options.rerunCommand(plan, seed, instance),
  }
}
