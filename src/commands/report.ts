/** `handover-sim report`: evaluates the saved journals of a run again and writes their reports. */
import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { BUDGETS } from '../base/files/budgets.ts'
import { ConfigError, fileProblem, problemOf } from '../base/files/errors.ts'
import { isDataFile, readText } from '../base/files/user-files.ts'
import { visible } from '../base/text/terminal-text.ts'
import { evaluate } from '../evaluation/evaluator/evaluator.ts'
import { readJournal, type SavedRun, type SavedScenario } from '../evaluation/evaluator/journal-file.ts'
import type { RunResult, ScenarioResult, Verdict } from '../evaluation/evaluator/verdict.ts'
import { compile } from '../evaluation/scenario/compile/compile.ts'
import { BUILTIN } from '../evaluation/scenario/load/find.ts'
import { loadScenarios } from '../evaluation/scenario/load/load.ts'
import type { Plan } from '../evaluation/scenario/plan.ts'
import { mergeRuns } from '../pages/reporters/merge-runs.ts'
import { parseReports, RUN_REPORTS } from '../pages/reporters/report-option.ts'
import { applyStrict, runResult } from '../running/runner/results.ts'
import { defineCommand, REPORT_FLAG, scenarioSources } from './command.ts'
import { type Context, colorLevel } from './io.ts'
import { addSecretsOfPlans, redactRun } from './secrets.ts'
import { DEFAULT_JOURNAL, writeReports } from './write-reports.ts'
import { exitCodeOf } from './write-requested.ts'

export const reportCommand = defineCommand({
  arguments: { '[journals...]': `saved journals: of one run, or of all its shards (default: ${DEFAULT_JOURNAL})` },
  flags: {
    '--scenarios <files>': {
      description: 'scenario file, folder or glob (default: files of the journal that are no modules); repeatable',
      repeatable: true,
    },
    '--strict': 'treat warnings as failures, and inconclusive results as exit code 4',
    ...REPORT_FLAG,
    '--open': 'then show the run in a page, until stopped',
  },
  async run(context, flags, args) {
    const { io, env } = context
    // Without the environment: the shards have annotated their failures already.
    const reports = parseReports((flags.report ?? []).join(','), RUN_REPORTS)
    const saved = mergeRuns(readJournals(args.length === 0 ? [DEFAULT_JOURNAL] : args, context))
    const files = flags.scenarios ?? scenarioFilesOf(saved, context)
    const plans = compile(await loadScenarios(files, scenarioSources(context)))
    addSecretsOfPlans(plans, context)
    const result = redactRun(evaluateAgain(saved, plans, flags.strict ?? false), context.secrets)
    for (const line of notEvaluated(saved, plans)) io.stderr.write(`${line}\n`)
    if (result.scenarios.length === 0) return 4
    const problems = await writeReports(result, reports, { io, env, colorLevel: colorLevel(env, io.stdout.isTTY) })
    // A report that could not be written is an error before the page is.
    if (flags.open && problems.length === 0) {
      const { serveSavedRun } = await import('./ui-mode.ts')
      await serveSavedRun(result, plans, context)
    }
    return exitCodeOf(result, problems)
  },
})

function readJournals(names: readonly string[], { io }: Context): Map<string, SavedRun> {
  const runs = names.map((name): [string, SavedRun] => {
    const path = resolve(io.cwd, name)
    if (!existsSync(path))
      throw fileProblem(
        name,
        'cannot be read: there is no such file; handover-sim run writes one to .handover-sim/journal.jsonl.',
      )
    return [name, readJournal(name, readText({ name, path, extension: '.jsonl' }, BUDGETS.stateBytes))]
  })
  return new Map(runs)
}

function scenarioFilesOf({ scenarios }: SavedRun, { io }: Context): string[] {
  const files = [...new Set(scenarios.map(({ file }) => file))]
  const missing = files.filter(file => !file.startsWith(BUILTIN) && !existsSync(resolve(io.cwd, file)))
  if (missing.length > 0)
    throw new ConfigError(
      missing.map(file =>
        problemOf(file, 'cannot be read: there is no such file, and the journal names it; pass --scenarios FILE.'),
      ),
    )
  const modules = files.filter(file => !isDataFile({ extension: extname(file).toLowerCase() }))
  if (modules.length > 0)
    throw new ConfigError(
      modules.map(file =>
        problemOf(
          file,
          'is a module, and the file that names it is a journal, which is data; pass --scenarios FILE to load it.',
        ),
      ),
    )
  return files
}

/** Keeps the saved facts of the run and computes the verdict of each scenario again. */
function evaluateAgain({ run, scenarios, journal }: SavedRun, plans: readonly Plan[], strict: boolean): RunResult {
  const byName = new Map(plans.map(plan => [plan.name, plan]))
  const evaluated = scenarios.flatMap(saved => {
    const plan = byName.get(saved.name)
    return plan === undefined ? [] : [evaluateScenario(saved, plan, strict)]
  })
  const { version, started_at: startedAt, duration_ms: durationMs, target, seed, failures, stopped } = run
  const facts = { version, startedAt, durationMs, target, seed }
  return runResult({ ...facts, scenarios: evaluated, failures, journal, stopped }, strict)
}

function evaluateScenario(saved: SavedScenario, plan: Plan, strict: boolean): ScenarioResult {
  const { name, file, place, tags, spec } = plan
  const { seed, clock, instance, journal, conversations } = saved
  return {
    ...{ name, file, place, tags, spec, seed, clock, instance, journal, conversations },
    startedAt: saved.started_at,
    durationMs: saved.duration_ms,
    rerunCommand: saved.rerun,
    ...(saved.redacted === undefined ? {} : { redacted: saved.redacted }),
    ...(journal.length === 0 ? savedVerdict(saved) : applyStrict({ strict }, evaluatedVerdict(saved, plan))),
  }
}

/**
 * Keeps the outcome of the run when the verdict depends on secrets that the journal does not have. A run that failed
 * stays failed when its journal lost the entries that show it.
 */
function evaluatedVerdict({ journal, outcome, redacted }: SavedScenario, plan: Plan): Verdict {
  const verdict = evaluate(plan, journal)
  if (verdict.reason?.code === 'evicted')
    return outcome === 'fail' || outcome === 'error' ? { ...verdict, outcome } : verdict
  if (redacted === undefined || redacted === verdict.outcome) return verdict
  const failures = redacted === 'fail' ? verdict.failures : []
  return { ...verdict, outcome: redacted, failures, reason: { code: 'values_redacted', evaluated: verdict.outcome } }
}

/** The saved outcome, for a scenario without a journal: it was skipped, or the target was not there. */
const savedVerdict = ({ outcome, reason }: SavedScenario): Verdict => ({
  outcome,
  reason,
  failures: [],
  warnings: [],
  steps: [],
  captures: {},
})

function notEvaluated({ scenarios }: SavedRun, plans: readonly Plan[]): string[] {
  const saved = new Set(scenarios.map(({ name }) => name))
  const planned = new Set(plans.map(({ name }) => name))
  const onlySaved = [...saved].filter(name => !planned.has(name))
  const onlyPlanned = [...planned].filter(name => !saved.has(name))
  return [
    ...(onlySaved.length > 0
      ? [`not evaluated, because the scenario files do not have it: ${namesText(onlySaved)}`]
      : []),
    ...(onlyPlanned.length > 0
      ? [`not evaluated, because the journal does not have it: ${namesText(onlyPlanned)}`]
      : []),
  ]
}

const MAX_NAMES = 3

function namesText(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : ''
  return `${names.slice(0, MAX_NAMES).map(visible).join('; ')}${more}`
}
