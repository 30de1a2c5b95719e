/** Runs a scenario on a simulator that a test has created, with the same runner and evaluator as `handover-sim run`. */

import { elapsedMs, wallTime } from '../../base/runtime/clock.ts'
import type { ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import type { Plan } from '../../evaluation/scenario/plan.ts'
import { InvalidOptionError } from '../../platform/simulator/options.ts'
import { configure, effectiveConfig } from '../../platform/simulator/settings.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { applyStrict, scenarioResult, unsetVariable } from './results.ts'
import { createRunContext, scenarioSeed } from './run-context.ts'
import { type RunListener, runPlan } from './run-scenario.ts'

export interface InProcessOptions {
  readonly driver: Driver | null
  readonly seed: number
  readonly strict: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly listener?: Partial<RunListener>
}

/**
 * Resets the simulator before and after the scenario, and restores its settings and its seed. Draws the same ids as a
 * run with this seed. Uses the clock of the simulator: `wait` takes no time on a virtual one.
 */
export async function runInProcess(
  sim: PlatformSimulator,
  plan: Plan,
  options: InProcessOptions,
): Promise<ScenarioResult> {
  const { env } = options
  const why = unsetVariable(plan, env)
  if (why !== null) throw new InvalidOptionError([{ name: 'env', message: `${plan.name}: ${why.text}.` }])

  const core = coreOf(sim)
  const { identity } = core
  const { seed: seedBefore } = identity
  const restored: Record<string, unknown> = {}
  identity.seed = scenarioSeed(options.seed, { plan, instance: 1 })
  sim.reset()
  try {
    const startedAt = wallTime()
    const started = elapsedMs()
    await setClock(sim, plan)
    const before = effectiveConfig(core)
    const settings = {
      ...plan.config,
      ...(plan.businessHours === null ? {} : { business_hours: plan.businessHours }),
      ...(plan.bot.replies === undefined ? {} : { 'bot.replies': plan.bot.replies }),
    }
    await configure(core, settings, 'user')
    for (const name of Object.keys(settings)) if (before[name] !== '***') restored[name] = before[name]
    if (plan.availability !== null) sim.setAvailability({ availability: plan.availability })
    const { driver, seed, signal, listener } = options
    const context = await createRunContext({ plan, sim, driver, seed, instance: 1, env, url: sim.baseUrl })
    const verdict = applyStrict(options, await runPlan(context, { signal, listener }))
    context.close()
    return scenarioResult(context, verdict, { seed, instance: 1, rerunCommand: '', startedAt, started })
  } finally {
    await configure(core, restored, 'user')
    identity.seed = seedBefore
    sim.reset()
  }
}

/** Moves a virtual clock to the start of the scenario. Throws when that is in the past. */
async function setClock({ clock }: PlatformSimulator, { name, clock: required }: Plan): Promise<void> {
  if (required?.mode !== 'virtual') return
  if (clock.mode !== 'virtual') {
    throw new InvalidOptionError([
      { name: 'clock', message: `${name} needs a virtual clock, and the clock of this simulator is real.` },
    ])
  }
  if (required.start === undefined) return
  const ms = Date.parse(required.start) - clock.now()
  if (ms >= 0) return clock.advance(`${ms}ms`)
  const message = `${name} begins at ${required.start}, before the time of this simulator: pass createSimulator({ clock: { mode: 'virtual', start } }).`
  throw new InvalidOptionError([{ name: 'clock.start', message }])
}
