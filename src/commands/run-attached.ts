/** Runs scenarios against the target of a command; without the target, the result says why. */
import type { RunResult } from '../evaluation/evaluator/verdict.ts'
import type { Plan } from '../evaluation/scenario/plan.ts'
import { earlyEndText } from '../platform/wording/failures.ts'
import type { SelectedScenario, Selection } from '../running/runner/schedule.ts'
import type { SimulatorRouter } from '../running/runner/simulator-router.ts'
import type { SuiteOptions } from '../running/runner/suite.ts'
import { earlyEndOf, InterruptedError } from '../running/runner/waiting.ts'
import type { Resolved } from '../server/config/resolve.ts'
import { type Context, EnvironmentError } from './io.ts'
import { createRerunCommand, type RepeatedFlags } from './rerun-command.ts'
import { type RunTarget, type TargetFlags, whyUnreachable } from './run-target.ts'

export interface RunOptions extends Selection {
  readonly jobs: number
  readonly waitMs: number
  readonly bail: number | null
  /** Of the whole run. */
  readonly timeoutMs: number | null
}

/** What flags and files say about a run. */
export interface RunSettings {
  readonly context: Context
  readonly flags: RepeatedFlags & TargetFlags & { readonly seed?: string }
  readonly options: RunOptions
  readonly resolved: Resolved
  readonly wanted: readonly SelectedScenario[]
  /** Every scenario of the files. */
  readonly plans: readonly Plan[]
  readonly seed: number
}

export interface AttachedRun {
  readonly settings: RunSettings
  readonly router: SimulatorRouter
  readonly signal: AbortSignal
  /** Rejects with `EnvironmentError` when the target cannot be started, and with `InterruptedError` to run nothing. */
  attach(): Promise<RunTarget>
  run(options: Omit<SuiteOptions, 'listener'>): Promise<RunResult>
}

/** The target that flags and settings name; empty when they name none. */
export const targetIn = ({ flags, resolved }: Pick<RunSettings, 'flags' | 'resolved'>): string =>
  flags.target ?? String(resolved.values['webhook.url'] ?? '')

/** Reports an environment error as a run in which no scenario ran, because CI reads the reports. */
export async function runAttached({ settings, router, signal, attach, run }: AttachedRun): Promise<RunResult> {
  const { context, flags, options, resolved, wanted, plans, seed } = settings
  const suite: Omit<SuiteOptions, 'listener'> = {
    wanted,
    router,
    base: resolved.options,
    target: targetIn(settings),
    seed,
    seedWins: flags.seed !== undefined,
    driver: null,
    jobs: options.jobs,
    strict: flags.strict ?? false,
    bail: options.bail,
    env: context.env,
    signal,
    rerunCommand: createRerunCommand(flags, plans),
  }
  try {
    const { target, driver } = await attach()
    const attached = { ...suite, target: target.href, driver }
    const why = await whyUnreachable(target, options.waitMs, signal)
    return why === null ? await run(attached) : await notRun(attached, why)
  } catch (error) {
    if (!(error instanceof EnvironmentError || error instanceof InterruptedError)) throw error
    // Someone stopped the run, which then skips every scenario.
    if (error instanceof InterruptedError && earlyEndOf(signal).code === 'interrupted') return run(suite)
    return notRun(suite, signal.aborted ? earlyEndText(earlyEndOf(signal)) : error.message)
  }
}

async function notRun(suite: Omit<SuiteOptions, 'listener'>, why: string): Promise<RunResult> {
  const { unreachableResult } = await import('../running/runner/suite.ts')
  return unreachableResult(suite, why)
}
