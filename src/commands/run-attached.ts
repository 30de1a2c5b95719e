/** Runs scenarios against the target of a command; without the target, the result says why. */

import { formatDuration } from '../base/text/quantities.ts'
import { withoutCredentials } from '../base/text/redactor.ts'
import type { RunResult } from '../evaluation/evaluator/verdict.ts'
import type { Plan } from '../evaluation/scenario/plan.ts'
import { earlyEndText, failureText } from '../platform/wording/failures.ts'
import type { Driver } from '../running/agent-driver/driver.ts'
import { probeTarget } from '../running/runner/probe-target.ts'
import type { SelectedScenario } from '../running/runner/schedule.ts'
import type { SimulatorRouter } from '../running/runner/simulator-router.ts'
import type { SuiteOptions } from '../running/runner/suite.ts'
import { earlyEndOf, InterruptedError } from '../running/runner/waiting.ts'
import type { Resolved } from '../server/config/resolve.ts'
import { type Context, EnvironmentError } from './io.ts'
import { createRerunCommand } from './rerun-command.ts'
import type { RunFlags, RunOptions } from './run-flags.ts'
import type { RunTarget } from './run-target.ts'

/** What flags and files say about a run. */
export interface RunSettings {
  readonly context: Context
  readonly flags: RunFlags
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
  /** Rejects with `EnvironmentError` when the target cannot be started, and with `InterruptedError` to play nothing. */
  attach(): Promise<RunTarget>
  run(options: Omit<SuiteOptions, 'listener'>): Promise<RunResult>
}

/** Reports an environment error as a run in which no scenario was played, because CI reads the reports. */
export async function runAttached(attached: AttachedRun): Promise<RunResult> {
  try {
    return await runOn(await attached.attach(), attached)
  } catch (error) {
    const { signal, settings } = attached
    const options = suiteOptions(attached, targetIn(settings), null)
    if (!(error instanceof EnvironmentError || error instanceof InterruptedError)) throw error
    // Someone stopped the run, which then skips every scenario.
    if (error instanceof InterruptedError && earlyEndOf(signal).code === 'interrupted') return attached.run(options)
    const why = signal.aborted ? earlyEndText(earlyEndOf(signal)) : error.message
    return notPlayed(options, why)
  }
}

/** Loads the runner only now, because a target that starts does not wait for it. */
const notPlayed = async (options: Omit<SuiteOptions, 'listener'>, why: string): Promise<RunResult> =>
  (await import('../running/runner/suite.ts')).unreachableResult(options, why)

/** The target that flags and settings name; empty when they name none. */
export const targetIn = ({ flags, resolved }: Pick<RunSettings, 'flags' | 'resolved'>): string =>
  flags.target ?? String(resolved.values['webhook.url'] ?? '')

async function runOn({ target, driver }: RunTarget, attached: AttachedRun): Promise<RunResult> {
  const { signal, settings } = attached
  const options = suiteOptions(attached, target.href, driver)
  const { waitMs } = settings.options
  const failure = await probeTarget(target, waitMs, signal)
  if (failure === null) return attached.run(options)
  const why = `the target ${withoutCredentials(target.href)} is not reachable: ${failureText(failure)}`
  return notPlayed(options, `${why}${afterwards(waitMs, signal)}`)
}

/** How the wait for the target ended, or how to wait for it. */
function afterwards(waitMs: number, signal: AbortSignal): string {
  if (signal.aborted) return `; ${earlyEndText(earlyEndOf(signal))}`
  if (waitMs > 0) return `, after waiting ${formatDuration(waitMs)}`
  return '; start it first, or wait for it with --wait-for-target 30s'
}

function suiteOptions(
  { settings, router, signal }: AttachedRun,
  target: string,
  driver: Driver | null,
): Omit<SuiteOptions, 'listener'> {
  const { context, flags, options, resolved, wanted, plans, seed } = settings
  return {
    wanted,
    router,
    base: resolved.options,
    target,
    seed,
    seedWins: flags.seed !== undefined,
    driver,
    jobs: options.jobs,
    strict: flags.strict ?? false,
    bail: options.bail,
    env: context.env,
    signal,
    rerunCommand: createRerunCommand(flags, plans),
  }
}
