/** Runs scenarios against an intermediary and writes reports (`handover-sim run`). */
import { nextMacrotask } from '../base/runtime/clock.ts'
import { freshSeed } from '../base/runtime/node.ts'
import { parseReports, RUN_REPORTS } from '../pages/reporters/report-option.ts'
import { createSimulatorRouter } from '../running/runner/simulator-router.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import {
  configSources,
  countFrom,
  defineCommand,
  durationFrom,
  type FlagsOf,
  REPORT_FLAG,
  SETTING_FLAGS,
  waitFrom,
} from './command.ts'
import { type Context, createShutdown, EnvironmentError, SIGNAL_CODES, UsageError } from './io.ts'
import { type RunOptions, type RunSettings, runAttached } from './run-attached.ts'
import { attach, listenForInterruption } from './run-target.ts'
import { addSecretsOfPlans } from './secrets.ts'
import { dryRun, listScenarios, selectScenarios, wantedPatterns } from './select-scenarios.ts'

const FLAGS = {
  '--builtin': 'the shipped scenarios, with the files named or alone',
  '--target <url>': 'the webhook of the intermediary (default: webhook.url of the config file)',
  '--agent-driver <file>': 'agent driver file',
  '--only <name>': { description: 'scenarios whose name contains this; may be repeated', repeatable: true },
  '--skip <name>': { description: 'leave out scenarios whose name contains this; may be repeated', repeatable: true },
  '--tag <tag>': { description: 'scenarios with this tag; may be repeated', repeatable: true },
  '--not-tag <tag>': { description: 'leave out scenarios with this tag; may be repeated', repeatable: true },
  '--shard <n/of>': 'one share of the scenarios, such as 1/4',
  '--repeat <times>': 'run each this often, with fresh chats (default: 1)',
  '--jobs <number>': 'how many run at once (default: 4)',
  '--bail <number>': 'start no further scenario after so many have failed',
  '--timeout <duration>': 'stop the run after this long, such as 10m; what did not run is in the reports',
  '--strict': 'treat warnings as failures, and inconclusive results as exit code 4',
  ...REPORT_FLAG,
  '--wait-for-target <duration>': 'how long to wait for the intermediary (default: 0s; 30s under CI)',
  '--list': 'print the scenarios: what each checks and needs; runs nothing',
  '--json': 'with --list: one line of JSON for each scenario',
  '--dry-run': 'print what would run',
  '--ui': 'serve a page that runs scenarios and shows them, until stopped',
  '--open': 'with --ui: open the page in a browser',
  '--self-test': 'run against the built-in reference intermediary; without scenarios here, the shipped ones',
  '--allow-remote': 'the target may be on another machine',
  ...SETTING_FLAGS,
  '--webhook-url <url>': { description: 'alias of --target', hidden: true },
  '--seed <number>': 'same seed: same ids, names and texts (default: a fresh one, named in the report)',
} as const

type RunFlags = FlagsOf<typeof FLAGS>

export const runCommand = defineCommand({
  arguments: { '[files...]': 'scenario files, folders or globs (default: scenarios)' },
  flags: FLAGS,
  async run(context, flags, args) {
    const { io } = context
    const options = parseFlags(flags, context)
    const reports = parseReports((flags.report ?? []).join(','), RUN_REPORTS, context.env)
    checkCombinations(flags)
    const resolved = await resolveSettings(flags, configSources(context))
    const patterns = wantedPatterns(args, flags, context)
    if (flags.ui) {
      const { runUiMode } = await import('./ui-mode.ts')
      return runUiMode({ context, flags, options, resolved, patterns })
    }
    const { wanted, plans, message } = await selectScenarios(patterns, options, context)
    addSecretsOfPlans(
      wanted.map(({ plan }) => plan),
      context,
    )
    if (wanted.length === 0) {
      io.stderr.write(`${message}\n`)
      return 4
    }
    if (flags.list || flags.dryRun) {
      io.stdout.write(flags.list ? listScenarios(wanted, flags.json ?? false, context) : dryRun(wanted))
      return 0
    }

    // A new seed for every run gives new ids, because a running intermediary remembers the chats of earlier runs. The
    // built-in intermediary is new each time and needs none.
    const { sources, values } = resolved
    const seed = sources.seed === 'default' && !flags.selfTest ? freshSeed() : Number(values.seed)
    const settings: RunSettings = { context, flags, options, resolved, wanted, plans, seed }
    const shutdown = createShutdown(io)
    const { signal, by } = listenForInterruption(shutdown, options.timeoutMs)
    try {
      const serverOptions = { ...resolved.options, ...(flags.selfTest ? { port: 0 } : {}) }
      const router = await createSimulatorRouter(serverOptions, context.secrets)
      shutdown.defer(() => router.close())
      // Only scenarios that restart the intermediary need its state in a file, which costs a write per change.
      const storesChats = wanted.some(({ plan }) => plan.needs.some(need => need.startsWith('target.')))
      const result = await runAttached({
        settings,
        router,
        signal,
        async attach() {
          const attaching = attach({ context, flags, resolved, storesChats, router, shutdown, signal })
          // Loads the runner after the turn of the event loop in which the process of the target is started.
          const [target] = await Promise.all([attaching, nextMacrotask().then(() => import('./run-suite.ts'))])
          return target
        },
        async run(suite) {
          const { runWithProgress } = await import('./run-suite.ts')
          const result = await runWithProgress(context, suite)
          // The target ends while the reports are written; the shutdown waits for it, or says why it did not end.
          suite.driver?.close().catch(() => {})
          return result
        },
      })
      // The exit code of a signal is in the reports.
      const received = by()
      const { reportRun } = await import('./run-suite.ts')
      return await reportRun(
        received === null ? result : { ...result, exitCode: SIGNAL_CODES[received] },
        context,
        reports,
      )
    } catch (error) {
      const received = by()
      if (received === null || !(error instanceof EnvironmentError)) throw error
      io.stderr.write(`${error.message}\n`)
      return SIGNAL_CODES[received]
    } finally {
      await shutdown.run()
    }
  },
})

function parseFlags(flags: RunFlags, { env }: Context): RunOptions {
  let shard: RunOptions['shard'] = null
  if (flags.shard !== undefined) {
    const [, index = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(flags.shard) ?? []).map(Number)
    if (index < 1 || index > of)
      throw new UsageError(
        `--shard must be written n/of, such as 1/4, with n from 1 to of, got ${JSON.stringify(flags.shard)}.`,
      )
    shard = { index, of }
  }
  return {
    only: flags.only ?? [],
    skip: flags.skip ?? [],
    tags: flags.tag ?? [],
    notTags: flags.notTag ?? [],
    shard,
    repeat: countFrom('--repeat', flags.repeat) ?? 1,
    jobs: countFrom('--jobs', flags.jobs) ?? 4,
    bail: countFrom('--bail', flags.bail) ?? null,
    timeoutMs: durationFrom('--timeout', flags.timeout, '10m') ?? null,
    waitMs: waitFrom(flags.waitForTarget, env),
  }
}

/** Throws when a flag needs another one, or excludes it. */
function checkCombinations(flags: RunFlags): void {
  if (flags.json && !flags.list) throw new UsageError('--json belongs to --list. A report as JSON: --report json.')
  if (flags.ui) {
    const other = flags.list ? '--list' : flags.dryRun ? '--dry-run' : flags.report === undefined ? null : '--report'
    if (other !== null) throw new UsageError(`--ui shows scenarios and results in a page: leave out ${other}.`)
    if (flags.inspector === false) throw new UsageError('--ui needs the page: leave out --no-inspector.')
  } else if (flags.open) throw new UsageError('--open belongs to --ui: it opens the page in a browser.')
  if (!flags.selfTest) return
  const other = flags.target !== undefined ? '--target' : flags.agentDriver !== undefined ? '--agent-driver' : null
  if (other !== null) throw new UsageError(`--self-test runs against the built-in intermediary: leave out ${other}.`)
}
