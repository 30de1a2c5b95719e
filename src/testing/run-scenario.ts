/** Whole scenarios inside a test: played and judged as by `handover-sim run`, on a simulator the test already has. */

import type { Driver } from '../agent-driver/driver.ts'
import { VERSION } from '../contract/version.ts'
import type { Outcome, RunResult, ScenarioResult } from '../evaluator/verdict.ts'
import { prettyReport } from '../reporters/pretty.ts'
import type { ColorLevel } from '../reporters/theme.ts'
import { countOutcomes } from '../runner/results.ts'
import { runInProcess } from '../runner/run-in-process.ts'
import { elapsedMs, wallTime } from '../runtime/clock.ts'
import { compile } from '../scenario/compile/compile.ts'
import type { LoadedScenario } from '../scenario/format/loaded.ts'
import type { ScenarioFile } from '../scenario/format/scenario.ts'
import { loadScenarios, loadValues } from '../scenario/load/load.ts'
import type { Plan } from '../scenario/plan.ts'
import { coreOf, type PlatformSimulator } from '../simulator/simulator.ts'
import { type AgentFunctions, agentOf, driverFrom } from './agent.ts'

/** What `defineScenario` makes, the same as plain data, or files: a path, a folder, a pattern. */
export type RunnableScenario = ScenarioFile | string | readonly (ScenarioFile | string)[]

export interface RunScenarioOptions {
  /** The human agent's side: functions, or a driver file. Default: `agent` of the simulator. */
  readonly driver?: AgentFunctions | Driver | string | null
  /** Default: that of the scenario, else that of the simulator. */
  readonly seed?: number
  /** Warnings fail as well. */
  readonly strict?: boolean
  /** What `$(env.X)` reads. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Ends it early. */
  readonly signal?: AbortSignal
  /** Where files are looked for. Default: the working folder. */
  readonly cwd?: string
}

export interface ScenarioRun {
  /** The worst of its plays. */
  readonly outcome: Outcome
  /** One for each scenario, and for each instance of a matrix. */
  readonly scenarios: readonly ScenarioResult[]
  /** As `handover-sim run` prints it. */
  report(options?: { readonly colorLevel?: ColorLevel; readonly columns?: number }): string
  /** Throws the report unless all have passed. */
  assertPassed(): void
}

/** Resets the simulator before each play. Throws `ConfigError` for a scenario or driver that cannot be read. */
export async function runScenario(
  sim: PlatformSimulator,
  scenario: RunnableScenario,
  options: RunScenarioOptions = {},
): Promise<ScenarioRun> {
  const startedAt = wallTime()
  const begun = elapsedMs()
  const plans = compile(await loadAll(scenario, options.cwd ?? process.cwd()))
  const { driver, close } = await driverFor(sim, options)
  const scenarios: ScenarioResult[] = []
  try {
    for (const plan of plans) scenarios.push(await playOne(sim, plan, driver, options))
  } finally {
    await close()
  }
  return runOf(sim, scenarios, { startedAt, durationMs: elapsedMs() - begun })
}

async function loadAll(scenario: RunnableScenario, cwd: string): Promise<LoadedScenario[]> {
  const all: readonly (ScenarioFile | string)[] = isList(scenario) ? scenario : [scenario]
  const files = all.filter(one => typeof one === 'string')
  const values = all.filter(one => typeof one !== 'string')
  const around = { cwd, nodeVersion: process.version }
  return [
    ...(files.length === 0 ? [] : await loadScenarios(files, around)),
    ...(values.length === 0 ? [] : await loadValues(values, around)),
  ]
}

const isList = (scenario: RunnableScenario): scenario is readonly (ScenarioFile | string)[] => Array.isArray(scenario)

async function playOne(
  sim: PlatformSimulator,
  plan: Plan,
  driver: Driver | null,
  options: RunScenarioOptions,
): Promise<ScenarioResult> {
  const { strict = false, env = process.env, signal = new AbortController().signal } = options
  const seed = options.seed ?? plan.seed ?? coreOf(sim).seed
  const played = await runInProcess(sim, plan, { driver, seed, strict, env, signal })
  return { ...played, rerunCommand: `runScenario(sim, ${JSON.stringify(plan.file)}, { seed: ${seed} })` }
}

interface Borrowed {
  readonly driver: Driver | null
  /** Only what was made here is closed here. */
  close(): Promise<void>
}

const KEPT = async () => {}

async function driverFor(
  sim: PlatformSimulator,
  { driver, env = process.env, cwd }: RunScenarioOptions,
): Promise<Borrowed> {
  if (driver === undefined) return { driver: await agentOf(sim), close: KEPT }
  if (driver === null || isDriver(driver)) return { driver, close: KEPT }
  const made = typeof driver === 'string' ? await driverFile(sim, driver, env, cwd) : await driverFrom(driver)
  return { driver: made, close: () => made.close() }
}

const isDriver = (driver: object | string): driver is Driver =>
  typeof driver === 'object' && 'verbs' in driver && 'call' in driver

async function driverFile(sim: PlatformSimulator, ref: string, env: NodeJS.ProcessEnv | Env, cwd = process.cwd()) {
  const [{ loadDriver }, { createDriver }] = await Promise.all([
    import('../agent-driver/load-driver.ts'),
    import('../agent-driver/create-driver.ts'),
  ])
  const nobody = { isTTY: false, prompt: async () => '' }
  const spec = await loadDriver(ref, { cwd, env, nodeVersion: process.version, ...nobody })
  const { baseUrl: url, apiKey, botApiKey, botId } = sim
  return createDriver(spec, { env, sim: { url, apiKey, botApiKey, botId } })
}

type Env = Readonly<Record<string, string | undefined>>

const WORST: readonly Outcome[] = ['error', 'fail', 'inconclusive', 'skipped', 'pass']

function runOf(
  sim: PlatformSimulator,
  scenarios: readonly ScenarioResult[],
  took: Pick<RunResult, 'startedAt' | 'durationMs'>,
): ScenarioRun {
  const core = coreOf(sim)
  const index = { version: VERSION, ...took, target: core.address.webhookUrl ?? 'a function', seed: core.seed }
  const result: RunResult = { ...index, scenarios, failures: [], journal: [], stopped: null, ...countOutcomes(scenarios, []) }
  const outcome = WORST.find(one => scenarios.some(play => play.outcome === one)) ?? 'skipped'
  const report: ScenarioRun['report'] = ({ colorLevel = 0, columns } = {}) =>
    prettyReport(result, { colorLevel, columns })
  function assertPassed(): void {
    if (outcome === 'pass') return
    const error = new ScenarioFailed(report(), outcome)
    Error.captureStackTrace?.(error, assertPassed)
    throw error
  }
  return { outcome, scenarios, report, assertPassed }
}

/** Its message is the report. */
export class ScenarioFailed extends Error {
  override readonly name = 'ScenarioFailed'
  readonly outcome: Outcome
  constructor(report: string, outcome: Outcome) {
    super(report)
    this.outcome = outcome
  }
}
