/** Runs scenarios for `POST /_sim/plays`: any number at once, each for one virtual user, until its request is closed. */
import { parseSource } from '../../base/files/document.ts'
import { ConfigError, fileProblem } from '../../base/files/errors.ts'
import { buildRecord, isMap } from '../../base/objects.ts'
import { freshSeed, packagePath } from '../../base/runtime/node.ts'
import type { ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import { compile } from '../../evaluation/scenario/compile/compile.ts'
import { BUILTIN } from '../../evaluation/scenario/load/find.ts'
import { loadScenarios, loadScenarioText, loadValues } from '../../evaluation/scenario/load/load.ts'
import { type Plan, stepsOf } from '../../evaluation/scenario/plan.ts'
import { ControlProblem } from '../../server/control/problems.ts'
import type { PlayBody, PlayedScenario } from '../../server/control/readiness.ts'
import { createDriver } from '../agent-driver/create-driver.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { readDriver } from '../agent-driver/read-driver.ts'
import type { SimulatorRouter } from '../runner/simulator-router.ts'
import { Runs, type RunsOptions } from './runs.ts'
import { TIMINGS, timingsIn } from './timings.ts'

/** Throws `ControlProblem` when the body is no scenario. */
export async function compilePlay({ yaml, scenario, builtin }: PlayBody): Promise<Plan> {
  const given = [yaml, scenario, builtin].filter(source => source !== undefined)
  if (given.length !== 1)
    throw new ControlProblem(
      422,
      'invalid_scenario',
      `One of yaml, scenario and builtin is needed, got ${given.length}.`,
    )
  const sources = {
    cwd: '.',
    nodeVersion: process.version,
    builtin: packagePath('scenarios'),
    includesOnlyBuiltin: true,
  }
  try {
    const loaded =
      yaml !== undefined
        ? await loadScenarioText('scenario.yaml', yaml, sources)
        : scenario !== undefined
          ? await loadValues([scenario], sources)
          : await loadScenarios([`${BUILTIN}${builtin?.replace(BUILTIN, '')}`], sources)
    const plan = compile(loaded)[0]!
    for (const { action, label } of builtin === undefined ? stepsOf([...plan.steps, ...plan.finally]) : [])
      if ('attach' in action && action.attach.some(attachment => !isMap(attachment) || 'file' in attachment))
        throw fileProblem(label, 'a request reads no files: describe the attachment as { name, type, size_kb }')
    return plan
  } catch (error) {
    throw error instanceof ConfigError ? new ControlProblem(422, 'invalid_scenario', error.message) : error
  }
}

/** The agent driver of a body, which calls a help desk by HTTP. Throws `ControlProblem`. */
export function readPlayDriver(value: unknown, { server }: SimulatorRouter): Driver {
  try {
    const spec = readDriver(parseSource('agent_driver', JSON.stringify(value), true), { name: 'agent_driver' })
    if (spec.target !== null)
      throw new ControlProblem(422, 'invalid_driver', 'agent_driver has a target: a play starts no programs.')
    const { url, apiKey, botApiKey, botId } = server
    return createDriver(spec, { env: {}, sim: { url, apiKey, botApiKey, botId } })
  } catch (error) {
    throw error instanceof ConfigError ? new ControlProblem(422, 'invalid_driver', error.message) : error
  }
}

/** The plays of one server. */
export class Plays {
  /** How many run. */
  active = 0
  readonly #runs: Runs
  readonly #onPlayed: ((result: ScenarioResult) => void) | undefined

  constructor(served: RunsOptions, onPlayed?: (result: ScenarioResult) => void) {
    this.#runs = new Runs(served)
    this.#onPlayed = onPlayed
  }

  async play(plan: Plan, body: PlayBody, served: Partial<RunsOptions>, signal: AbortSignal): Promise<PlayedScenario> {
    const { repeat = 1, seed = freshSeed(), journal = 'failures' } = body
    const counts = { pass: 0, fail: 0, error: 0, inconclusive: 0, skipped: 0 }
    const timings = buildRecord(TIMINGS, (): number[] => [])
    let durationMs = 0
    this.active++
    try {
      for (let instance = 1; ; instance++) {
        const options = { seed, served, signal, awaitsLateCalls: false }
        const result = await this.#runs.run({ plan, instance }, options)
        this.#onPlayed?.(result)
        counts[result.outcome]++
        durationMs += result.durationMs
        const measured = timingsIn(result.journal)
        for (const timing of TIMINGS) timings[timing].push(...measured[timing])
        if (instance < repeat && result.outcome === 'pass' && !signal.aborted) continue
        const { failures, reason } = result
        const hasEntries = journal === 'always' || (journal === 'failures' && result.outcome !== 'pass')
        return {
          ...{ name: result.name, outcome: result.outcome, reason: reason?.text ?? null, counts, seed, timings },
          failures: failures.map(({ code, step, expected, happened, hint = null }) => {
            const { number = null, place = null } = step ?? {}
            return { code, step: number, line: place?.line ?? null, expected, happened, hint }
          }),
          duration_ms: Math.round(durationMs * 1000) / 1000,
          journal: { first_seq: result.journal[0]?.seq ?? null, last_seq: result.journal.at(-1)?.seq ?? null },
          entries: (hasEntries ? result.journal : []) as PlayedScenario['entries'],
          chats: { ...result.conversations },
        }
      }
    } finally {
      this.active--
    }
  }
}
