/** Scenarios that were not played, as reports show them. */
import { VERSION } from '../../contract/version.ts'
import type { Failure, RunResult, ScenarioResult, Verdict } from '../../evaluator/verdict.ts'
import { wallTime } from '../../runtime/clock.ts'
import type { Plan } from '../../scenario/plan.ts'
import { summed } from './outcome.ts'
import type { Wanted } from './select.ts'
import type { SuiteOptions } from './suite.ts'

type Options = Pick<SuiteOptions, 'seed' | 'seedWins' | 'again'>

export const seedOf = ({ seed, seedWins }: Omit<Options, 'again'>, plan: Plan): number =>
  seedWins ? seed : (plan.seed ?? seed)

export const about = ({ name, file, place, tags, spec }: Plan) => ({ name, file, place, tags, spec })

/** A variable that is not there is nobody's empty text. */
export function unsetIn({ env: names }: Plan, env: SuiteOptions['env']): Pick<Verdict, 'outcome' | 'reason'> | null {
  const [unset] = names.filter(name => env[name] === undefined)
  if (unset === undefined) return null
  return { outcome: 'error', reason: `the environment variable ${unset} is not set, and $(env.${unset}) reads it` }
}

export function skippedResults(
  options: Options,
  { plan, instance }: Wanted,
  why: Pick<Verdict, 'outcome' | 'reason'>,
): ScenarioResult {
  const seed = seedOf(options, plan)
  return {
    ...why,
    ...about(plan),
    failures: [],
    warnings: [],
    steps: [],
    captures: {},
    seed,
    clock: plan.clock?.mode ?? 'real',
    instance,
    startedAt: wallTime(),
    durationMs: 0,
    journal: [],
    conversations: {},
    again: options.again(plan, seed, instance),
  }
}

/** Nobody to play against: one message for all of them. */
export function targetUnreachable(options: Omit<SuiteOptions, 'watcher'>, reason: string): RunResult {
  const plays = options.wanted.map(wanted => skippedResults(options, wanted, { outcome: 'error', reason }))
  const failures: Failure[] = []
  const facts = { version: VERSION, startedAt: wallTime(), durationMs: 0, target: options.target, seed: options.seed }
  return { ...facts, plays, failures, journal: [], stopped: reason, ...summed(plays, failures) }
}
