/** Plays scenarios against an intermediary and writes reports (`handover-sim run`). */

import { nextMacrotask } from '../base/runtime/clock.ts'
import { freshSeed } from '../base/runtime/node.ts'
import type { RunResult } from '../evaluation/evaluator/verdict.ts'
import { parseReports, RUN_REPORTS } from '../pages/reporters/report-option.ts'
import type { SelectedScenario } from '../running/runner/schedule.ts'
import { createSimulatorRouter, type SimulatorRouter } from '../running/runner/simulator-router.ts'
import type { SuiteOptions } from '../running/runner/suite.ts'
import { type Resolved, resolveSettings } from '../server/config/resolve.ts'
import { configSources, defineCommand } from './command.ts'
import { listenForInterruption } from './interruption.ts'
import { type Context, createShutdown, EnvironmentError, type Shutdown, SIGNAL_CODES, type Signal } from './io.ts'
import { dryRun, listScenarios } from './list-scenarios.ts'
import type { PlayContext } from './play-scenarios.ts'
import { runAttached } from './run-attached.ts'
import { checkCombinations, parseRunFlags, RUN_FLAGS, type RunFlags, type RunOptions } from './run-flags.ts'
import { attach } from './run-target.ts'
import { addSecretsOfPlans } from './secrets.ts'
import { type ScenarioSelection, selectScenarios, wantedPatterns } from './select-scenarios.ts'

export const runCommand = defineCommand({
  arguments: { '[files...]': 'scenario files, folders or globs (default: scenarios)' },
  flags: RUN_FLAGS,
  async run(context, flags, args) {
    const options = parseRunFlags(flags, context)
    const reports = parseReports((flags.report ?? []).join(','), RUN_REPORTS, context.env)
    checkCombinations(flags)
    const resolved = await resolveSettings(flags, configSources(context))
    if (flags.ui) {
      const { runUiMode } = await import('./ui-mode.ts')
      return runUiMode({ context, flags, options, resolved, patterns: wantedPatterns(args, flags, context) })
    }
    const { wanted, plans, message } = await selectScenarios(args, flags, options, context)
    addSecretsOfPlans(
      wanted.map(({ plan }) => plan),
      context,
    )
    if (wanted.length === 0) return fail(context, message, 4)
    if (flags.list || flags.dryRun) {
      context.io.stdout.write(flags.list ? listScenarios(wanted, flags.json ?? false, context) : dryRun(wanted))
      return 0
    }
    return playScenarios({ context, flags, options, reports, resolved, wanted, plans })
  },
})

function fail({ io }: Context, message: string, code: number): number {
  io.stderr.write(`${message}\n`)
  return code
}

interface Session extends PlayContext, Omit<ScenarioSelection, 'message'> {
  readonly flags: RunFlags
  readonly options: RunOptions
  readonly resolved: Resolved
}

async function playScenarios(session: Session): Promise<number> {
  const { context, flags, resolved } = session
  const shutdown = createShutdown(context.io)
  const interruption = listenForInterruption(shutdown, session.options.timeoutMs)
  try {
    const serverOptions = { ...resolved.options, ...(flags.selfTest ? { port: 0 } : {}) }
    const router = await createSimulatorRouter(serverOptions, context.secrets)
    shutdown.defer(() => router.close())
    const result = withSignal(await runScenarios(session, router, shutdown, interruption.signal), interruption.by())
    // Also when a signal comes meanwhile: the code is in the reports.
    return await (await player()).reportRun(result, session)
  } catch (error) {
    const signal = interruption.by()
    if (signal === null || !(error instanceof EnvironmentError)) throw error
    return fail(context, error.message, SIGNAL_CODES[signal])
  } finally {
    await shutdown.run()
  }
}

/** Puts the exit code of the command into the reports. */
const withSignal = (result: RunResult, signal: Signal | null): RunResult =>
  signal === null ? result : { ...result, exitCode: SIGNAL_CODES[signal] }

function runScenarios(session: Session, router: SimulatorRouter, shutdown: Shutdown, signal: AbortSignal) {
  // A new seed for every run gives new ids, because a running intermediary remembers the chats of
  // earlier runs. The built-in intermediary is new each time and needs none.
  const { selfTest } = session.flags
  const { sources, values } = session.resolved
  return runAttached({
    settings: { ...session, seed: sources.seed === 'default' && !selfTest ? freshSeed() : Number(values.seed) },
    router,
    signal,
    attach: async () => {
      const storesChats = restarts(session.wanted)
      const starting = attach({ ...session, storesChats, router, shutdown, signal })
      // After the turn of the event loop in which the process of the target is started.
      const [target] = await Promise.all([starting, nextMacrotask().then(player)])
      return target
    },
    run: options => play(session, options),
  })
}

/** Loads what plays scenarios and writes reports. */
const player = () => import('./play-scenarios.ts')

async function play({ context }: Session, options: Omit<SuiteOptions, 'listener'>): Promise<RunResult> {
  const result = await (await player()).playWithProgress(context, options)
  // The target ends while the reports are written; the shutdown waits for it, or says why it did not end.
  options.driver?.close().catch(() => {})
  return result
}

/** Only scenarios that restart the intermediary need its state in a file, which costs a write per change. */
const restarts = (wanted: readonly SelectedScenario[]): boolean =>
  wanted.some(({ plan }) => plan.needs.some(need => need.startsWith('target.')))
