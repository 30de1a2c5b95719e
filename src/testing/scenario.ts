/** `handover-sim/scenario`: builds scenarios in code, and runs scenarios in a test with the verdicts of `handover-sim run`. */

import { elapsedMs, wallTime } from '../base/runtime/clock.ts'
import type { Redactor } from '../base/text/redactor.ts'
import type { Outcome, RunResult, ScenarioResult } from '../evaluation/evaluator/verdict.ts'
import { compile } from '../evaluation/scenario/compile/compile.ts'
import type { LoadedScenario, ScenarioFile } from '../evaluation/scenario/format/scenario.ts'
import { addSecretVariables } from '../evaluation/scenario/interpolation.ts'
import { loadScenarios, loadValues } from '../evaluation/scenario/load/load.ts'
import type { Plan } from '../evaluation/scenario/plan.ts'
import { prettyReport } from '../pages/reporters/pretty.ts'
import type { ColorLevel } from '../pages/reporters/theme.ts'
import { VERSION } from '../platform/contract/version.ts'
import { createSecrets } from '../platform/journal/mask.ts'
import { coreOf, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import type { Driver } from '../running/agent-driver/driver.ts'
import { runResult } from '../running/runner/results.ts'
import { runInProcess } from '../running/runner/run-in-process.ts'
import { type AgentFunctions, driverOption } from './agent.ts'

export * from '../evaluation/scenario/build/index.ts'

/** The result of `defineScenario`, the same as plain data, or files: a path, a folder or a glob. */
export type RunnableScenario = ScenarioFile | string | readonly (ScenarioFile | string)[]

/** Options of `runScenario`. */
export interface RunScenarioOptions {
  /** The human agent's side: functions, or a driver file. Default: `agent` of the simulator. */
  readonly driver?: AgentFunctions | Driver | string | null
  /** Default: the seed of the scenario, otherwise that of the simulator. */
  readonly seed?: number
  /** Treats warnings as failures. */
  readonly strict?: boolean
  /** The values of `$(env.X)`. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Stops the run. */
  readonly signal?: AbortSignal
  /** The folder of relative paths. Default: the working folder. */
  readonly cwd?: string
}

/** The results of `runScenario`. */
export interface ScenarioRun {
  /** The worst outcome of all scenarios. */
  readonly outcome: Outcome
  /** One result for each scenario, and for each instance of a matrix. */
  readonly scenarios: readonly ScenarioResult[]
  /** Renders the report that `handover-sim run` prints. */
  report(options?: { readonly colorLevel?: ColorLevel; readonly columns?: number }): string
  /** Throws `ScenarioFailedError` with the report unless all scenarios passed. */
  assertPassed(): void
}

/**
 * Runs scenarios on a simulator, one after the other. It resets the simulator before each, and restores its settings
 * afterwards.
 *
 * @throws ConfigError for a scenario or driver file that is not valid; InvalidOptionError for settings that are not valid.
 * @example
 * import { createSimulator } from 'handover-sim'
 * import { runScenario } from 'handover-sim/scenario'
 *
 * const sim = createSimulator({ webhook: { fetch: () => new Response('ok') } })
 * const run = await runScenario(sim, 'scenarios/happy-path.yaml')
 * run.assertPassed()
 */
export async function runScenario(
  sim: PlatformSimulator,
  scenario: RunnableScenario,
  options: RunScenarioOptions = {},
): Promise<ScenarioRun> {
  const startedAt = wallTime()
  const startMs = elapsedMs()
  const plans = compile(await loadAll(scenario, options.cwd ?? process.cwd()))
  const { driver, close } = await driverOption(sim, options)
  const scenarios: ScenarioResult[] = []
  try {
    for (const plan of plans) scenarios.push(await runOne(sim, plan, driver, options))
  } finally {
    await close()
  }
  const secrets = createSecrets()
  for (const plan of plans) addSecretVariables(secrets, plan.env, options.env ?? process.env, plan)
  return createRun(sim, scenarios, { startedAt, durationMs: elapsedMs() - startMs }, secrets)
}

async function loadAll(scenario: RunnableScenario, cwd: string): Promise<LoadedScenario[]> {
  const all = [scenario].flat()
  const files = all.filter(source => typeof source === 'string')
  const values = all.filter(source => typeof source !== 'string')
  const environment = { cwd, nodeVersion: process.version }
  return [
    ...(files.length === 0 ? [] : await loadScenarios(files, environment)),
    ...(values.length === 0 ? [] : await loadValues(values, environment)),
  ]
}

async function runOne(
  sim: PlatformSimulator,
  plan: Plan,
  driver: Driver | null,
  options: RunScenarioOptions,
): Promise<ScenarioResult> {
  const { strict = false, env = process.env, signal = new AbortController().signal } = options
  const seed = options.seed ?? plan.seed ?? coreOf(sim).identity.seed
  const result = await runInProcess(sim, plan, { driver, seed, strict, env, signal })
  return { ...result, rerunCommand: `runScenario(sim, ${JSON.stringify(plan.file)}, { seed: ${seed} })` }
}

const FROM_WORST: readonly Outcome[] = ['error', 'fail', 'inconclusive', 'skipped', 'pass']

function createRun(
  sim: PlatformSimulator,
  scenarios: readonly ScenarioResult[],
  timing: Pick<RunResult, 'startedAt' | 'durationMs'>,
  secrets: Redactor,
): ScenarioRun {
  const core = coreOf(sim)
  const result = runResult({
    version: VERSION,
    ...timing,
    target: core.address.webhookUrl ?? 'a function',
    seed: core.identity.seed,
    scenarios,
    failures: [],
    journal: [],
    stopped: null,
  })
  const outcome = FROM_WORST.find(outcome => scenarios.some(scenario => scenario.outcome === outcome)) ?? 'skipped'
  const report: ScenarioRun['report'] = ({ colorLevel = 0, columns } = {}) =>
    prettyReport(secrets.redactDeep(core.secrets.redactDeep(result)), { colorLevel, columns })
  function assertPassed(): void {
    if (outcome === 'pass') return
    const error = new ScenarioFailedError(report(), outcome)
    Error.captureStackTrace?.(error, assertPassed)
    throw error
  }
  return { outcome, scenarios, report, assertPassed }
}

/** At least one scenario did not pass. The message is the report. */
export class ScenarioFailedError extends Error {
  override readonly name = 'ScenarioFailed'
  readonly outcome: Outcome
  constructor(report: string, outcome: Outcome) {
    super(report)
    this.outcome = outcome
  }
}
