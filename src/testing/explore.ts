/** `explore` of `handover-sim/certify`: explores an intermediary in a test, as `handover-sim explore` does. */

import { elapsedMs, wallTime } from '../base/runtime/clock.ts'
import { hashWords } from '../base/runtime/random.ts'
import type { Duration } from '../base/text/quantities.ts'
import type { ScenarioResult } from '../evaluation/evaluator/verdict.ts'
import { exploreSummary } from '../pages/reporters/explore-summary.ts'
import { prettyReport } from '../pages/reporters/pretty.ts'
import type { ColorLevel } from '../pages/reporters/theme.ts'
import { VERSION } from '../platform/contract/version.ts'
import { anything, invalidOption, positive, type Shape, validateOptions, whole } from '../platform/simulator/options.ts'
import { coreOf, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import type { Driver } from '../running/agent-driver/driver.ts'
import { missingText } from '../running/explorer/calibrate.ts'
import type { ExploreResult, FailedConversation } from '../running/explorer/explore.ts'
import type { Tried } from '../running/explorer/situations.ts'
import { runResult } from '../running/runner/results.ts'
import { runInProcess } from '../running/runner/run-in-process.ts'
import type { SelectedScenario } from '../running/runner/schedule.ts'
import { type AgentFunctions, driverOption } from './agent.ts'
import { durationMs } from './options.ts'

/** Options of `explore`. */
export interface ExploreOptions {
  /** The human agent's side: functions, or a driver file. Default: `agent` of the simulator. */
  readonly driver?: AgentFunctions | Driver | string | null
  /** End after so many conversations. Default: 200, unless `for` is given. */
  readonly conversations?: number
  /** How long new conversations are begun, a duration on the wall clock. */
  readonly for?: Duration
  /** Same seed: same conversations. Default: the seed of the simulator. */
  readonly seed?: number
  /** Runs only the conversation with this seed, which a failure names. */
  readonly replay?: number
  /** How long an effect of an event or of the agent may take. Default: 500 ms. */
  readonly within?: Duration
  /** How long nothing may happen at the end of a conversation. Default: 5 ms. */
  readonly settle?: Duration
  /** Ends the exploration. */
  readonly signal?: AbortSignal
}

/** A conversation that fails, as short as it was found. */
export interface ExploredFailure
  extends Pick<FailedConversation, 'invariant' | 'name' | 'needs' | 'acts' | 'failed' | 'of' | 'others'> {
  /** Of the conversation: for `replay`. */
  readonly seed: number
  /** The text of a scenario file; null when it does not fail reliably. */
  readonly yaml: string | null
}

/** The result of `explore`. */
export interface Exploration {
  readonly conversations: number
  readonly acts: number
  /** How many distinct situations were tried. */
  readonly situations: number
  readonly failures: readonly ExploredFailure[]
  /** What was not explored, and why. */
  readonly leftOut: readonly string[]
  /** Why it ended early; null when it did not. */
  readonly stopped: string | null
  /** Renders the report that `handover-sim explore` prints, and the scenario file of each failure. */
  report(options?: { readonly colorLevel?: ColorLevel; readonly columns?: number }): string
  /** Throws `ExplorationFailedError` with the report when a conversation failed, or none could be judged. */
  assertPassed(): void
}

/** A generated conversation failed. The message is the report. */
export class ExplorationFailedError extends Error {
  override readonly name = 'ExplorationFailed'
}

const CONVERSATIONS = 200
const WITHIN_MS = 500
const SETTLE_MS = 5
/** As with the command: decides how many conversations are chosen before the next ones are. */
const JOBS = 8

/**
 * Runs generated conversations against the webhook of a simulator, one after the other, and looks for the shortest one that
 * fails. It resets the simulator before each. With a virtual clock and a webhook that is a function, the pauses of people
 * take no time.
 *
 * @throws InvalidOptionError when the driver cannot accept and leave, or for an option that is not valid.
 * @example
 * import { createSimulator } from 'handover-sim'
 * import { explore } from 'handover-sim/certify'
 *
 * const sim = createSimulator({ clock: 'virtual', webhook: { fetch: () => new Response('ok') } })
 * const exploration = await explore(sim, { driver: { accept() {}, leave() {} }, conversations: 20 })
 * console.log(exploration.stopped)
 */
export async function explore(sim: PlatformSimulator, options: ExploreOptions = {}): Promise<Exploration> {
  const limits = readLimits(options)
  // fast-check is loaded only here.
  const { explore: exploreTarget, exitCodeOf } = await import('../running/explorer/explore.ts')
  const core = coreOf(sim)
  const { seed = core.identity.seed, signal = new AbortController().signal } = options
  const { driver, close } = await driverOption(sim, options)
  const facts = { version: VERSION, target: core.address.webhookUrl ?? 'a function', seed, failures: [], journal: [] }
  const started = { startedAt: wallTime(), ms: elapsedMs() }
  const createRun = (scenarios: readonly ScenarioResult[]) => {
    const durationMs = elapsedMs() - started.ms
    return runResult({ ...facts, startedAt: started.startedAt, durationMs, scenarios, stopped: null })
  }
  const earlier = new Set<string>()
  const run = async (wanted: readonly SelectedScenario[], _jobs: number, runSeed: number) => {
    const scenarios: ScenarioResult[] = []
    for (const { plan, instance } of wanted) {
      if (signal.aborted) break
      // Each run has chats of its own: the intermediary remembers those before.
      const suiteSeed = hashWords(`${instance}`, runSeed)[0] >>> 1
      const result = await runInProcess(sim, plan, { driver, seed: suiteSeed, strict: false, env: {}, signal })
      scenarios.push(withoutLateCalls(result, earlier))
      for (const { kind, chat_id } of result.journal) if (kind !== 'api' && chat_id !== undefined) earlier.add(chat_id)
    }
    return createRun(scenarios)
  }
  const rerun = (conversation: number) => `explore(sim, { replay: ${conversation} })`
  const situations = new Map<string, Tried>()
  try {
    const missing = ['accept', 'leave'].filter(verb => !driver?.verbs.includes(verb))
    if (missing.length > 0)
      throw invalidOption(
        'driver',
        `explore needs an agent with the functions accept and leave, got one without ${missing.join(' and ')}.`,
      )
    const result = await exploreTarget({
      ...limits,
      first: [],
      situations,
      startIndex: 0,
      folder: '',
      seed,
      jobs: JOBS,
      verbs: driver?.verbs ?? [],
      load: { cwd: process.cwd(), nodeVersion: process.version },
      signal,
      run,
      rerun,
      revive: async () => null,
      listener: { progress() {}, shortening() {}, found() {}, doubted() {} },
    })
    const { calibration, findings } = result
    const again = findings.map(({ result, sequence }) => ({ ...result, rerunCommand: rerun(sequence.seed) }))
    if (calibration.result !== null)
      again.unshift({ ...calibration.result, rerunCommand: `explore(sim, { seed: ${seed} })` })
    const ended = createRun(again)
    const summary = exploreSummary(result, { situations, seed, durationMs: ended.durationMs, rerun })
    const text = [...summary].join('\n')
    const shown = core.secrets.redactDeep({ ended, text, findings, result })
    const report: Exploration['report'] = ({ colorLevel = 0, columns } = {}) =>
      [
        prettyReport(shown.ended, { colorLevel, columns }),
        shown.text,
        ...shown.findings.flatMap(({ file }) => (file === null ? [] : ['', file.yaml])),
      ].join('\n')
    function assertPassed(): void {
      if (exitCodeOf(result) === 0) return
      const error = new ExplorationFailedError(report())
      Error.captureStackTrace?.(error, assertPassed)
      throw error
    }
    return { ...describeExploration(shown.result), report, assertPassed }
  } finally {
    await close()
  }
}

/**
 * Leaves out the failures about a call for a chat of an earlier conversation, such as one that is made again after a fault:
 * that conversation has its verdict, and this one does nothing that the call could be an answer to.
 */
function withoutLateCalls(result: ScenarioResult, earlier: ReadonlySet<string>): ScenarioResult {
  const late = new Set<number>()
  for (const { kind, seq, chat_id = '' } of result.journal) if (kind === 'api' && earlier.has(chat_id)) late.add(seq)
  const failures = result.failures.filter(({ entrySeqs }) => !entrySeqs.some(seq => late.has(seq)))
  if (failures.length === result.failures.length) return result
  return { ...result, failures, outcome: failures.length === 0 ? 'pass' : result.outcome }
}

const OPTIONS: Shape = {
  driver: anything,
  conversations: positive,
  for: anything,
  seed: whole,
  replay: whole,
  within: anything,
  settle: anything,
  signal: anything,
}

function readLimits(options: ExploreOptions) {
  validateOptions('explore', options, OPTIONS)
  const { conversations, replay } = options
  if (replay !== undefined && replay >= 2 ** 31)
    throw invalidOption('replay', `replay must be the seed of a conversation, below ${2 ** 31}, got ${replay}.`)
  const forMs = durationMs('for', options.for) ?? null
  return {
    durationMs: forMs,
    conversations: conversations ?? (forMs === null ? CONVERSATIONS : null),
    replay: replay ?? null,
    withinMs: durationMs('within', options.within) ?? WITHIN_MS,
    inProcess: { settleMs: durationMs('settle', options.settle) ?? SETTLE_MS },
  }
}

function describeExploration({ conversations, acts, situations, stopped, calibration, findings }: ExploreResult) {
  const failures = findings.map(({ sequence, file, invariant, name, needs, acts, failed, of, others }) => ({
    ...{ invariant, name, needs, acts, failed, of, others },
    seed: sequence.seed,
    yaml: file?.yaml ?? null,
  }))
  return {
    conversations,
    acts,
    situations,
    stopped,
    failures,
    leftOut: [...calibration.missing.map(missingText), ...calibration.leftOut],
  }
}
