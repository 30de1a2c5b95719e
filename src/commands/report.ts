/** `handover-sim report`: evaluates the saved journals of a run again and writes their reports. */
import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { BUDGETS } from '../base/files/budgets.ts'
import { ConfigError, createProblem, fileProblem, type Problem } from '../base/files/errors.ts'
import { isDataFile, readText } from '../base/files/user-files.ts'
import { groupBy } from '../base/objects.ts'
import { visible } from '../base/text/terminal-text.ts'
import { evaluate } from '../evaluation/evaluator/evaluator.ts'
import { readJournal, type SavedRun, type SavedScenario } from '../evaluation/evaluator/journal-file.ts'
import type { RunResult, ScenarioResult, Verdict } from '../evaluation/evaluator/verdict.ts'
import type { Failure } from '../evaluation/finding.ts'
import { History } from '../evaluation/history.ts'
import { lint } from '../evaluation/rules/lint.ts'
import { compile } from '../evaluation/scenario/compile/compile.ts'
import { BUILTIN } from '../evaluation/scenario/load/find.ts'
import { loadScenarios } from '../evaluation/scenario/load/load.ts'
import type { Plan } from '../evaluation/scenario/plan.ts'
import { parseReports, RUN_REPORTS } from '../pages/reporters/report-option.ts'
import type { Entry } from '../platform/journal/entry.ts'
import { applyStrict, runResult } from '../running/runner/results.ts'
import { numberedName } from '../running/runner/run-context.ts'
import { defineCommand, REPORT_FLAG, scenarioSources } from './command.ts'
import { type Context, colorLevel } from './io.ts'
import { addSecretsOfPlans, redactRun } from './secrets.ts'
import { DEFAULT_JOURNAL, exitCodeWith, writeReports } from './write-reports.ts'

export const reportCommand = defineCommand({
  arguments: {
    '[journals...]': `saved journals: of one run, or of all its shards (default: ${DEFAULT_JOURNAL})`,
  },
  flags: {
    '--scenarios <files>': {
      description: 'scenario file, folder or glob (default: files of the journal that are no modules); repeatable',
      repeatable: true,
    },
    '--strict': 'treat warnings as failures, and inconclusive results as exit code 4',
    ...REPORT_FLAG,
    '--open': 'then show the run in a page, until stopped',
  },
  examples: {
    report: 'the last run again',
    'report shard-1.jsonl shard-2.jsonl --report pretty,html=report.html': 'one report of all shards',
  },
  async run(context, flags, args) {
    const { io, env } = context
    // Without the environment: the shards have annotated their failures already.
    const reports = parseReports((flags.report ?? []).join(','), RUN_REPORTS)
    const runs = new Map<string, SavedRun>()
    for (const name of args.length === 0 ? [DEFAULT_JOURNAL] : args) runs.set(name, readSavedRun(name, context))
    const saved = mergeRuns(runs)
    const isObserved = saved.run.entries === null
    const files = flags.scenarios ?? findScenarioFiles(saved, context)
    const plans = isObserved ? [] : compile(await loadScenarios(files, scenarioSources(context)))
    addSecretsOfPlans(plans, context)
    const evaluateRun = isObserved ? lintObserved : evaluateAgain
    const result = redactRun(evaluateRun(saved, plans, flags.strict ?? false), context.secrets)
    warnOfMissing(saved.scenarios, plans, 'the scenario files do not have it', context)
    warnOfMissing(plans, saved.scenarios, 'the journal does not have it', context)
    if (result.scenarios.length === 0) {
      if (isObserved)
        io.stderr.write('not evaluated, because the journal has no chat: nobody wrote while it was recorded\n')
      return 4
    }
    const problems = await writeReports(result, reports, { io, env, colorLevel: colorLevel(env, io.stdout.isTTY) })
    // A report that could not be written is an error before the page is.
    if (flags.open && problems.length === 0) {
      const { serveSavedRun } = await import('./ui-mode.ts')
      await serveSavedRun(result, plans, context)
    }
    return exitCodeWith(result.exitCode, problems)
  },
})

function readSavedRun(name: string, { io }: Context): SavedRun {
  const path = resolve(io.cwd, name)
  if (existsSync(path)) return readJournal(name, readText({ name, path, extension: '.jsonl' }, BUDGETS.stateBytes))
  throw fileProblem(
    name,
    'cannot be read: there is no such file; npx handover-sim run writes one to .handover-sim/journal.jsonl.',
  )
}

function findScenarioFiles({ scenarios }: SavedRun, { io }: Context): string[] {
  const files = [...new Set(scenarios.map(({ file }) => file))]
  const missing: Problem[] = []
  const modules: Problem[] = []
  for (const file of files) {
    if (!file.startsWith(BUILTIN) && !existsSync(resolve(io.cwd, file)))
      missing.push(
        createProblem(file, 'cannot be read: there is no such file, and the journal names it; pass --scenarios FILE.'),
      )
    if (!isDataFile({ extension: extname(file).toLowerCase() }))
      modules.push(
        createProblem(
          file,
          'is a module, and the file that names it is a journal, which is data; pass --scenarios FILE to load it.',
        ),
      )
  }
  if (missing.length > 0) throw new ConfigError(missing)
  if (modules.length > 0) throw new ConfigError(modules)
  return files
}

/** Keeps the saved facts of the run and computes the verdict of each scenario again. */
function evaluateAgain({ run, scenarios, journal }: SavedRun, plans: readonly Plan[], strict: boolean): RunResult {
  const evaluated: ScenarioResult[] = []
  for (const saved of scenarios) {
    const plan = plans.find(({ name }) => name === saved.name)
    if (plan === undefined) continue
    const { name, file, place, tags, spec } = plan
    const { seed, clock, instance, conversations } = saved
    evaluated.push({
      ...{ name, file, place, tags, spec, seed, clock, instance, journal: saved.journal, conversations },
      startedAt: saved.started_at,
      durationMs: saved.duration_ms,
      rerunCommand: saved.rerun,
      ...(saved.redacted === undefined ? {} : { redacted: saved.redacted }),
      ...verdictOf(saved, plan, strict),
    })
  }
  const { version, started_at: startedAt, duration_ms: durationMs, target, seed, failures, stopped } = run
  const facts = { version, startedAt, durationMs, target, seed }
  return runResult({ ...facts, scenarios: evaluated, failures, journal, stopped }, strict)
}

/** The result of traffic that `handover-sim proxy` recorded: each chat passes, with the findings of the linter. */
function lintObserved({ run, journal }: SavedRun, _: readonly Plan[], strict: boolean): RunResult {
  const scenarios: ScenarioResult[] = []
  for (const [id, entries] of groupBy(journal, ({ chat_id }) => chat_id)) {
    if (id === undefined) continue
    const [first] = entries
    const last = entries.at(-1) ?? first
    const warnings = lint({ config: {}, steps: [], finally: [] }, new History(entries))
    scenarios.push({
      ...{ name: `chat ${id}`, file: run.target, place: null, tags: [], spec: [], seed: 0, instance: 1, clock: 'real' },
      ...{ startedAt: first.time, durationMs: last.at_ms - first.at_ms, journal: entries, conversations: { chat: id } },
      rerunCommand: 'npx handover-sim proxy',
      ...applyStrict({ strict }, { outcome: 'pass', reason: null, failures: [], warnings, steps: [], captures: {} }),
    })
  }
  const withoutChat = journal.filter(({ chat_id }) => chat_id === undefined)
  const { version, started_at: startedAt, target, seed, failures, stopped } = run
  const durationMs = Math.max(0, ...journal.map(({ at_ms }) => at_ms))
  return runResult(
    { version, startedAt, durationMs, target, seed, scenarios, failures, journal: withoutChat, stopped },
    strict,
  )
}

function verdictOf({ journal, outcome, reason, redacted }: SavedScenario, plan: Plan, strict: boolean): Verdict {
  // Without a journal, the scenario was skipped, or the target was not there.
  if (journal.length === 0) return { outcome, reason, failures: [], warnings: [], steps: [], captures: {} }
  let verdict = evaluate(plan, journal)
  if (verdict.reason?.code === 'evicted') {
    // A run that failed stays failed when its journal lost the entries that show it.
    if (outcome === 'fail' || outcome === 'error') verdict = { ...verdict, outcome }
  } else if (redacted !== undefined && redacted !== verdict.outcome) {
    // The verdict depends on secrets that the journal does not have.
    const failures = redacted === 'fail' ? verdict.failures : []
    verdict = {
      ...verdict,
      outcome: redacted,
      failures,
      reason: {
        code: 'values_redacted',
        text: `this is the outcome of the run; its journal has *** in place of secrets, which gives ${verdict.outcome}: run it again to see why`,
      },
    }
  }
  return applyStrict({ strict }, verdict)
}

const MAX_NAMES = 3

interface Named {
  readonly name: string
}

/** Says which scenarios of one side are not evaluated, because the other side does not have them. */
function warnOfMissing(side: readonly Named[], otherSide: readonly Named[], why: string, { io }: Context): void {
  const missing = new Set<string>()
  for (const { name } of side) missing.add(visible(name))
  for (const { name } of otherSide) missing.delete(visible(name))
  if (missing.size === 0) return
  const shown = [...missing].slice(0, MAX_NAMES).join('; ')
  const more = missing.size > MAX_NAMES ? `, and ${missing.size - MAX_NAMES} more` : ''
  io.stderr.write(`not evaluated, because ${why}: ${shown}${more}\n`)
}

/**
 * The run of all shards, which run side by side: the duration is the longest one, the start the earliest. Throws
 * `ConfigError` when two journals have the same scenario.
 *
 * @param runs at least one, by the name of its file.
 */
export function mergeRuns(runs: ReadonlyMap<string, SavedRun>): SavedRun {
  const lines = [...runs.values()].map(({ run }) => run)
  const [first] = lines
  if (first === undefined) throw new Error('Failed to merge runs: there is no journal.')
  const [scenarios, journal, failures]: [SavedScenario[], Entry[], Failure[]] = [[], [], []]
  const problems: Problem[] = []
  const fileOf = new Map<string, string>()
  let offset = 0
  for (const [file, saved] of runs) {
    for (const scenario of saved.scenarios) {
      const { name, instance } = scenario
      const title = JSON.stringify(numberedName(name, instance))
      const otherFile = fileOf.get(title)
      fileOf.set(title, file)
      scenarios.push(scenario)
      if (otherFile === undefined) continue
      const message = `has scenario ${title}, and so does ${otherFile}: name the journal of each shard once.`
      problems.push(createProblem(file, message))
    }
    // Each shard numbers the entries of no scenario from 1: shifts these numbers, and the failures that refer to them.
    for (const { entrySeqs, nearest, ...failure } of saved.run.failures) {
      const misses = nearest.map(miss => ({ ...miss, seq: miss.seq + offset }))
      failures.push({ ...failure, entrySeqs: entrySeqs.map(seq => seq + offset), nearest: misses })
    }
    const before = offset
    for (const entry of saved.journal) {
      offset = before + entry.seq
      journal.push({ ...entry, seq: offset, cause: entry.cause === null ? null : before + entry.cause })
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  const run = {
    ...first,
    started_at: lines.map(line => line.started_at).sort()[0] ?? first.started_at,
    duration_ms: Math.max(...lines.map(line => line.duration_ms)),
    target: [...new Set(lines.map(({ target }) => target))].join(', '),
    seed: lines.every(({ seed }) => seed === first.seed) ? first.seed : null,
    stopped: [...new Set(lines.flatMap(({ stopped }) => stopped ?? []))].join('; ') || null,
    failures,
    scenarios: scenarios.length,
    entries: lines.some(({ entries }) => entries === null) ? null : journal.length,
  }
  return { run, scenarios, journal }
}
