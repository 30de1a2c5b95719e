/** Scenarios inside a test process: the same player and the same judge, on a simulator the test already has. */
import type { Driver } from '../agent-driver/driver.ts'
import type { ScenarioResult, Verdict } from '../evaluator/verdict.ts'
import { elapsedMs, wallTime } from '../runtime/clock.ts'
import type { Plan } from '../scenario/plan.ts'
import { InvalidOptionError } from '../simulator/options.ts'
import { effectiveConfig } from '../simulator/settings.ts'
import { coreOf, type PlatformSimulator } from '../simulator/simulator.ts'
import { applyStrict, maskedJournal, planFields, unsetVariable } from './results.ts'
import { createRunContext, type RunContext, scenarioSeed } from './run-context.ts'
import { executeScenario } from './run-scenario.ts'

export interface InProcessOptions {
  readonly driver: Driver | null
  readonly seed: number
  readonly strict: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/**
 * Resets the simulator before and after, so that the play begins with nothing and leaves nothing to expectations that
 * follow; settings and seed are as they were. What is drawn is what a run with this seed draws. The clock is the
 * simulator's own: with a virtual one `wait` takes no time.
 */
export async function runInProcess(
  sim: PlatformSimulator,
  plan: Plan,
  options: InProcessOptions,
): Promise<ScenarioResult> {
  checkEnv(plan, options)
  const { identity } = coreOf(sim)
  const { seed } = identity
  identity.seed = scenarioSeed(options.seed, { plan, instance: 1 })
  sim.reset()
  try {
    return await playFromNothing(sim, plan, options)
  } finally {
    identity.seed = seed
    sim.reset()
  }
}

async function playFromNothing(sim: PlatformSimulator, plan: Plan, options: InProcessOptions): Promise<ScenarioResult> {
  const startedAt = wallTime()
  const started = elapsedMs()
  await setClock(sim, plan)
  const undo = await arrange(sim, plan)
  try {
    const { driver, seed, env, signal } = options
    const context = await createRunContext({ plan, sim, driver, seed, instance: 1, env, url: sim.baseUrl })
    const verdict = applyStrict(options, await executeScenario(context, { signal }))
    context.close()
    return { ...playedFrom(plan, verdict, context), startedAt, durationMs: elapsedMs() - started }
  } finally {
    await undo()
  }
}

function checkEnv(plan: Plan, { env }: InProcessOptions): void {
  const why = unsetVariable(plan, env)
  if (why !== null) throw new InvalidOptionError([{ name: 'env', message: `${plan.name}: ${why.reason}.` }])
}

/** Where the scenario begins, when it says so: a virtual clock goes there, as long as that is not back in time. */
async function setClock({ clock }: PlatformSimulator, { name, clock: wanted }: Plan): Promise<void> {
  if (wanted?.mode !== 'virtual') return
  if (clock.mode !== 'virtual') {
    throw new InvalidOptionError([
      { name: 'clock', message: `${name} needs a virtual clock, and this simulator's is real.` },
    ])
  }
  if (wanted.start === undefined) return
  const ms = Date.parse(wanted.start) - clock.now()
  if (ms >= 0) return clock.advance(`${ms}ms`)
  const message = `${name} begins at ${wanted.start}, before the clock of this simulator: createSimulator({ clock: { mode: 'virtual', start } }).`
  throw new InvalidOptionError([{ name: 'clock.start', message }])
}

/** What the scenario wants set, and the way back. */
async function arrange(sim: PlatformSimulator, plan: Plan): Promise<() => Promise<unknown>> {
  const core = coreOf(sim)
  const before = effectiveConfig(core)
  const wanted = {
    ...plan.config,
    ...(plan.businessHours === null ? {} : { business_hours: plan.businessHours }),
    ...(plan.bot.replies === undefined ? {} : { 'bot.replies': plan.bot.replies }),
  }
  await sim.configure(wanted)
  if (plan.availability !== null) sim.setAvailability({ availability: plan.availability })
  const changed = Object.keys(wanted).filter(name => before[name] !== '***')
  return () => sim.configure(Object.fromEntries(changed.map(name => [name, before[name]])))
}

function playedFrom(plan: Plan, verdict: Verdict, context: RunContext) {
  return {
    ...verdict,
    ...planFields(plan),
    seed: context.seed,
    clock: context.core.clock.mode,
    instance: 1,
    journal: maskedJournal(context.sim),
    conversations: Object.fromEntries([...context.conversations].map(([name, chat]) => [name, chat.id])),
    rerunCommand: '',
  }
}
