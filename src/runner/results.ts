/** Scenarios that were not played, as reports show them. */
import { VERSION } from '../contract/version.ts'
import type { Failure, RunResult, ScenarioResult, Verdict, Warning } from '../evaluator/verdict.ts'
import { warningText } from '../evaluator/warning-text.ts'
import type { Entry } from '../journal/entry.ts'
import { wallTime } from '../runtime/clock.ts'
import type { Plan } from '../scenario/plan.ts'
import type { PlatformSimulator } from '../simulator/simulator.ts'
import { presentEntry } from '../wording/entry.ts'
import type { SelectedScenario } from './select-scenarios.ts'
import type { SuiteOptions } from './suite.ts'

type Options = Pick<SuiteOptions, 'seed' | 'seedWins' | 'rerunCommand'>

export const effectiveSeed = ({ seed, seedWins }: Omit<Options, 'rerunCommand'>, plan: Plan): number =>
  seedWins ? seed : (plan.seed ?? seed)

export const planFields = ({ name, file, place, tags, spec }: Plan) => ({ name, file, place, tags, spec })

/** A variable that is not there is nobody's empty text. */
export function unsetVariable(
  { env: names }: Plan,
  env: SuiteOptions['env'],
): Pick<Verdict, 'outcome' | 'reason'> | null {
  const [unset] = names.filter(name => env[name] === undefined)
  if (unset === undefined) return null
  return { outcome: 'error', reason: `the environment variable ${unset} is not set, and $(env.${unset}) reads it` }
}

export function skippedResults(
  options: Options,
  { plan, instance }: SelectedScenario,
  why: Pick<Verdict, 'outcome' | 'reason'>,
): ScenarioResult {
  const seed = effectiveSeed(options, plan)
  return {
    ...why,
    ...planFields(plan),
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
    rerunCommand: options.rerunCommand(plan, seed, instance),
  }
}

/** Nobody to play against: one message for all of them. */
export function unreachableResult(options: Omit<SuiteOptions, 'listener'>, reason: string): RunResult {
  const scenarios = options.wanted.map(wanted => skippedResults(options, wanted, { outcome: 'error', reason }))
  const failures: Failure[] = []
  const facts = { version: VERSION, startedAt: wallTime(), durationMs: 0, target: options.target, seed: options.seed }
  return { ...facts, scenarios, failures, journal: [], stopped: reason, ...countOutcomes(scenarios, failures) }
}

/** From the play's first mark on. */
export function maskedJournal(sim: PlatformSimulator): Entry[] {
  const entries = sim.journal.query()
  const first = entries.findIndex(entry => entry.kind === 'note' && entry.note === 'scenario_started')
  const header = String(sim.config()['webhook.signatureHeader'])
  return entries.slice(Math.max(0, first)).map(entry => presentEntry(entry, header))
}

export function countOutcomes(scenarios: readonly ScenarioResult[], failures: readonly Failure[], strict = false) {
  const counts = { pass: 0, fail: 0, error: 0, inconclusive: 0, skipped: 0 }
  for (const { outcome } of scenarios) counts[outcome]++
  return { counts, exitCode: exitCodeOf(counts, failures.length, strict) }
}

/** 1 failed, 3 the surroundings, 4 nothing ran or nothing could be told, 0 passed. */
function exitCodeOf(
  { pass, fail, error, inconclusive }: RunResult['counts'],
  failures: number,
  strict: boolean,
): number {
  if (fail > 0 || failures > 0) return 1
  if (error > 0) return 3
  if (strict && inconclusive > 0) return 4
  return pass > 0 ? 0 : 4
}

/** With `--strict` a warning is a failure. */
export function applyStrict({ strict }: { readonly strict: boolean }, verdict: Verdict): Verdict {
  if (!strict || verdict.warnings.length === 0) return verdict
  const failures = [...verdict.failures, ...verdict.warnings.map(asFailure)]
  return { ...verdict, failures, outcome: verdict.outcome === 'error' ? 'error' : 'fail' }
}

const asFailure = (warning: Warning): Failure => ({
  kind: 'lint',
  step: null,
  conversation: warning.conversation,
  wanted: `no warning ${warning.rule}, because of --strict`,
  happened: warningText(warning),
  rules: [],
  nearest: [],
  marks: warning.marks,
  soft: false,
})
