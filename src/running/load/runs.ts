/** Runs scenarios at any time, many at once: each with a simulator of its own, which is removed some time after its end. */
import { backgroundTimer, wallDelay } from '../../base/runtime/clock.ts'
import { httpTransport } from '../../base/runtime/http-transport.ts'
import type { ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { finalVerdict, scenarioResult, skippedResult, unsetVariable } from '../runner/results.ts'
import type { SelectedScenario } from '../runner/schedule.ts'
import { runServed, type ServedRunOptions } from '../runner/suite.ts'

export type RunsOptions = Omit<ServedRunOptions, 'transport' | 'seed' | 'signal' | 'listener' | 'onQuiet'>

export interface OneRunOptions {
  readonly seed: number
  /** Replaces options that all simulators have. */
  readonly served?: Partial<RunsOptions>
  readonly signal: AbortSignal
  /** Whether late calls are part of the verdict, which then comes `LATE_MS` after the end. */
  readonly awaitsLateCalls: boolean
  /** The command that runs such a conversation again. */
  readonly rerunCommand?: string
  /** Called when all steps have ended. */
  onQuiet?(): void
}

/** How long calls about a conversation that has ended still reach its simulator. */
const LATE_MS = 2_000

export class Runs {
  readonly #served: RunsOptions
  readonly #transport = httpTransport()
  readonly #simulators = new Set<PlatformSimulator>()

  constructor(served: RunsOptions) {
    this.#served = served
  }

  /** The simulators of conversations that run or have just ended. */
  get simulators(): Iterable<PlatformSimulator> {
    return this.#simulators
  }

  /** Never rejects for a failure of the intermediary. */
  async run(selected: SelectedScenario, options: OneRunOptions): Promise<ScenarioResult> {
    const { seed, signal, awaitsLateCalls, served, rerunCommand = '', onQuiet } = options
    const { plan, instance } = selected
    const unset = unsetVariable(plan, served?.env ?? this.#served.env)
    if (unset !== null)
      return skippedResult(plan, { outcome: 'error', reason: unset }, { seed, instance, rerunCommand })
    const listener = { opened: (_: string, sim: PlatformSimulator) => void this.#simulators.add(sim) }
    const { context, verdict, ...times } = await runServed(selected, {
      ...{ ...this.#served, ...served, transport: this.#transport, seed, signal, listener },
      ...(onQuiet && { onQuiet }),
    })
    const { journal } = context.core
    const judgedTo = journal.nextSeq
    if (awaitsLateCalls) await wallDelay(LATE_MS, signal)
    const facts = { seed, instance, rerunCommand, ...times }
    const result = scenarioResult(context, journal.nextSeq === judgedTo ? verdict : finalVerdict(context), facts)
    context.close()
    if (awaitsLateCalls) this.#remove(context.sim)
    else backgroundTimer(LATE_MS, () => this.#remove(context.sim))
    return result
  }

  async close(): Promise<void> {
    for (const sim of this.#simulators) this.#remove(sim)
    await this.#transport.close()
  }

  #remove(sim: PlatformSimulator): void {
    if (this.#simulators.delete(sim)) this.#served.router.remove(sim)
  }
}
