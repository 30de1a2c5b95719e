/** Explores an intermediary with generated conversations (`handover-sim explore`). */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { saveText } from '../base/files/user-files.ts'
import { elapsedMs, wallTime } from '../base/runtime/clock.ts'
import { freshSeed } from '../base/runtime/node.ts'
import { messageOf } from '../base/text/error-text.ts'
import { counted } from '../base/text/quantities.ts'
import { formatMs, visible } from '../base/text/terminal-text.ts'
import { missingVerb } from '../evaluation/evaluator/stimulus.ts'
import type { ScenarioResult } from '../evaluation/evaluator/verdict.ts'
import { compile } from '../evaluation/scenario/compile/compile.ts'
import { loadScenarios } from '../evaluation/scenario/load/load.ts'
import { exploreSummary } from '../pages/reporters/explore-summary.ts'
import { parseReports, RUN_REPORTS } from '../pages/reporters/report-option.ts'
import { VERSION } from '../platform/contract/version.ts'
import { TargetStartError } from '../running/agent-driver/target.ts'
import { exitCodeOf, explore } from '../running/explorer/explore.ts'
import { coverageOf } from '../running/explorer/situations.ts'
import { loadStored, textOfStored } from '../running/explorer/stored.ts'
import { runResult } from '../running/runner/results.ts'
import { SILENT } from '../running/runner/run-scenario.ts'
import { type SelectedScenario, type Selection, select } from '../running/runner/schedule.ts'
import { runSuite } from '../running/runner/suite.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import {
  configSources,
  countFrom,
  defineCommand,
  durationFrom,
  type FlagsOf,
  REPORT_FLAG,
  SETTING_FLAGS,
  scenarioSources,
  waitFrom,
} from './command.ts'
import { type Context, EnvironmentError, UsageError } from './io.ts'
import { reportRun } from './run-suite.ts'
import { attach, createRerunCommand, repeatedWords, runInterruptibly, targetIn, whyUnreachable } from './run-target.ts'
import { withSchemaPath } from './scenario-folder.ts'

const FLAGS = {
  '--target <url>': 'the webhook of the intermediary (default: webhook.url of the config file)',
  '--agent-driver <file>': 'agent driver file',
  '--for <duration>': 'how long new conversations are begun, such as 5m (default: 1m, unless --conversations is given)',
  '--conversations <number>': 'end after so many conversations',
  '--out <folder>': 'where a scenario file is written for each failure (default: .handover-sim/explore)',
  '--replay <seed-or-file>': 'run one conversation again: the number of its seed, or its scenario file',
  '--state <file>': 'remember what was tried and what failed, from one run to the next',
  '--jobs <number>': 'how many conversations run at once (default: 16)',
  '--within <duration>': 'how long an effect of an event or of the agent may take (default: 5s)',
  ...REPORT_FLAG,
  '--wait-for-target <duration>': 'how long to wait for the intermediary (default: 0s; 30s under CI)',
  '--ui': 'serve a page that shows the exploration and its failures, until stopped',
  '--open': 'with --ui: open the page in a browser',
  '--self-test': 'explore the built-in reference intermediary',
  '--allow-remote': 'the target may be on another machine',
  ...SETTING_FLAGS,
  '--webhook-url <url>': { description: 'alias of --target', hidden: true },
  '--seed <number>': 'same seed: same conversations (default: a fresh one, named at the end)',
} as const

const DEFAULT_FOLDER = '.handover-sim/explore'
const DEFAULT_DURATION_MS = 60_000

export const exploreCommand = defineCommand({
  flags: FLAGS,
  groups: {
    'Most used': ['target', 'agentDriver', 'for', 'out', 'replay', 'report', 'selfTest'],
    'How it explores': [
      'conversations',
      'state',
      'jobs',
      'within',
      'seed',
      'waitForTarget',
      'allowRemote',
      'ui',
      'open',
    ],
  },
  examples: {
    'explore --self-test --conversations 16': 'look how it works, with the built-in service',
    'explore --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --conversations 16 --state explored.json':
      'search, and go on from there the next time',
  },
  async run(context, flags) {
    const { io, env } = context
    const { stderr } = io
    const options = parseFlags(flags, context)
    const reports = parseReports((flags.report ?? []).join(','), RUN_REPORTS, env)
    const resolved = await resolveSettings(flags, configSources(context))
    for (const warning of resolved.warnings) stderr.write(`${warning}\n`)
    if (!flags.selfTest && (flags.agentDriver ?? resolved.agentDriver) === null)
      throw new UsageError('explore plays an agent: pass --agent-driver FILE, or set agent_driver in the config file.')
    const stored = flags.state === undefined ? null : loadStored(flags.state, io.cwd)
    let seed = resolved.sources.seed === 'default' ? freshSeed() : Number(resolved.values.seed)
    if (resolved.sources.seed === 'default' && stored?.seed != null) seed = stored.seed

    const situations = new Map(stored?.situations)
    const ui = flags.ui
      ? (await import('./explore-ui.ts')).createExploreUi(context, targetIn({ flags, resolved }), situations)
      : null
    return runInterruptibly({ context, flags, resolved, control: ui?.control }, null, async parts => {
      const { router, shutdown, signal, withSignalCode } = parts
      if (ui !== null)
        await (await import('./ui-mode.ts')).announce(router.server, context, flags.open ?? false, shutdown)
      const attaching = { context, flags, resolved, storesChats: true, router, shutdown, signal }
      const { target, driver } = await attach(attaching)
      const verbs = driver?.verbs ?? []
      const missing = ['accept', 'leave'].filter(verb => !verbs.includes(verb))
      if (missing.length > 0)
        throw new UsageError(
          `explore needs the verbs accept and leave: the agent driver has no ${missing.join(', no ')}.`,
        )
      const unreachable = await whyUnreachable(target, options.waitMs, signal)
      if (unreachable !== null) throw new EnvironmentError(`${unreachable}.`)

      const suite = { router, base: resolved.options, target: target.href, seedWins: true, driver, env, signal }
      const run = (wanted: readonly SelectedScenario[], jobs: number, runSeed: number) => {
        router.beginRun()
        const more = {
          wanted,
          jobs,
          seed: runSeed,
          strict: false,
          bail: null,
          listener: SILENT,
          rerunCommand: createRerunCommand(
            flags,
            wanted.filter(({ instance }) => instance === 1).map(({ plan }) => plan),
          ),
        }
        return runSuite({ ...suite, ...more })
      }
      if (options.replayFile !== null) {
        const plans = compile(await loadScenarios([options.replayFile], scenarioSources(context)))
        const repeated = select(plans, { ...EVERYTHING, repeat: REPEATS })
        return reportRun(withSignalCode(await run(repeated, options.jobs, seed)), context, reports)
      }

      const rerun = (conversationSeed: number) => `npx handover-sim explore --replay ${conversationSeed}`
      const startedAt = wallTime()
      const startMs = elapsedMs()
      let shownMs = startMs
      /** The files that could not be written. */
      const unwritten = new Set<string>()
      const save = (file: string, text: string) => {
        try {
          saveText(resolve(io.cwd, file), [text])
        } catch (error) {
          unwritten.add(file)
          stderr.write(`${visible(file)} could not be written: ${messageOf(error)}\n`)
        }
      }
      let shortenedSeed: number | null = null
      const result = await explore({
        ...options,
        inProcess: null,
        rerun,
        seed,
        verbs,
        first: stored?.failing ?? [],
        situations,
        startIndex: stored?.nextIndex ?? 0,
        load: scenarioSources(context),
        signal,
        run,
        async revive() {
          const why = await whyUnreachable(target, 0, signal)
          if (why === null || signal.aborted) return null
          if (driver?.target == null || driver.target.running) return why
          try {
            await driver.target.start()
            return null
          } catch (error) {
            if (error instanceof TargetStartError) return error.message
            throw error
          }
        },
        listener: {
          progress(counts) {
            const { conversations, acts } = counts
            ui?.listener.progress(counts)
            if (elapsedMs() - shownMs < PROGRESS_MS) return
            shownMs = elapsedMs()
            stderr.write(`${counted(conversations, 'conversation')}, ${counted(acts, 'act')}\n`)
          },
          shortening(from, invariant, atMostMs) {
            ui?.listener.shortening(from, invariant, atMostMs)
            if (from === shortenedSeed && elapsedMs() - shownMs < PROGRESS_MS) return
            shownMs = elapsedMs()
            shortenedSeed = from
            stderr.write(
              `${invariant} failed in conversation ${from}: looking for the shortest that fails, at most ${formatMs(atMostMs)} more\n`,
            )
          },
          found(finding) {
            const { file } = finding
            if (file !== null) {
              const path = resolve(io.cwd, file.path)
              save(file.path, context.secrets.redact(withSchemaPath(file.yaml, path, io.cwd)))
            }
            ui?.listener.found(finding)
          },
          doubted: conversation => ui?.listener.doubted(conversation),
        },
      })
      const { unconfirmed, calibration, nextIndex } = result
      const findings = result.findings.map(finding =>
        finding.file !== null && unwritten.has(finding.file.path) ? { ...finding, file: null } : finding,
      )
      if (flags.state !== undefined) {
        const failing = [...findings, ...unconfirmed].map(({ sequence }) => sequence)
        save(flags.state, textOfStored({ seed, nextIndex, situations, failing }))
      }
      const durationMs = elapsedMs() - startMs
      const facts = { version: VERSION, startedAt, durationMs, target: target.href, seed, journal: [], stopped: null }
      // Neither a plain conversation nor one that does not fail reliably has a file.
      const again = (words: string) =>
        [`npx handover-sim explore ${words}`, ...repeatedWords(flags, undefined)].join(' ')
      const scenarios = findings.map(({ file, result: scenario, sequence }) =>
        file === null ? { ...scenario, file: 'explore', rerunCommand: again(`--replay ${sequence.seed}`) } : scenario,
      )
      if (calibration.result !== null) {
        const plain = { ...calibration.result, file: 'explore', rerunCommand: again(`--seed ${seed}`) }
        const nothing = { failures: [], warnings: [], steps: [], journal: [], durationMs: 0 }
        const notExplored = calibration.missing.map(({ what, verb }): ScenarioResult => {
          const reason = missingVerb('need_missing', what, verb, verbs)
          return { ...plain, ...nothing, name: what, outcome: 'skipped', reason }
        })
        scenarios.unshift(plain, ...notExplored)
      }
      const ended = runResult({ ...facts, scenarios, failures: [] })
      const judged = ended.exitCode === 0 ? exitCodeOf(result) : ended.exitCode
      const exitCode = judged === 0 && flags.state !== undefined && unwritten.has(flags.state) ? 3 : judged
      const explored = { conversations: result.conversations, coverage: coverageOf(situations) }
      const code = await reportRun(withSignalCode({ ...ended, exitCode }), context, reports, explored)
      for (const line of exploreSummary({ ...result, findings }, { situations, seed, durationMs, rerun }))
        stderr.write(`${visible(line)}\n`)
      if (ui === null) return code
      await ui.end(result)
      // The page shows what was found until a signal ends it.
      await shutdown.ended
      return code
    })
  },
})

/** How often `--replay FILE` runs the scenario. */
const REPEATS = 3
const EVERYTHING: Selection = { only: [], skip: [], tags: [], notTags: [], shard: null, repeat: 1 }

const PROGRESS_MS = 5_000

function parseFlags(flags: FlagsOf<typeof FLAGS>, { io, env }: Context) {
  const conversations = countFrom('--conversations', flags.conversations) ?? null
  const durationMs = durationFrom('--for', flags.for, '5m') ?? (conversations === null ? DEFAULT_DURATION_MS : null)
  const { replay } = flags
  if (flags.ui && flags.inspector === false) throw new UsageError('--ui needs the page: leave out --no-inspector.')
  if (flags.ui && flags.report !== undefined)
    throw new UsageError('--ui shows the failures in a page: leave out --report.')
  if (flags.open && !flags.ui) throw new UsageError('--open belongs to --ui: it opens the page in a browser.')
  const isSeed = replay !== undefined && /^\d+$/.test(replay)
  if (replay !== undefined && !isSeed && !existsSync(resolve(io.cwd, replay)))
    throw new UsageError(
      `--replay must be the seed of a conversation or a scenario file, got ${JSON.stringify(replay)}.`,
    )
  if (isSeed && Number(replay) >= 2 ** 31)
    throw new UsageError(`--replay must be a seed below ${2 ** 31}, got ${replay}.`)
  if (replay !== undefined && flags.state !== undefined)
    throw new UsageError('--replay runs one conversation: leave out --state.')
  if (flags.ui && replay !== undefined && !isSeed)
    throw new UsageError('--ui shows an exploration: run the file with npx handover-sim run FILE --ui.')
  return {
    conversations,
    durationMs,
    replay: isSeed ? Number(replay) : null,
    replayFile: replay === undefined || isSeed ? null : replay,
    folder: flags.out ?? DEFAULT_FOLDER,
    jobs: countFrom('--jobs', flags.jobs) ?? 16,
    withinMs: durationFrom('--within', flags.within, '5s') ?? 5_000,
    waitMs: waitFrom(flags.waitForTarget, env),
  }
}
