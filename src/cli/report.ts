/** `handover-sim check`: judges a saved run again, with the scenarios as they are now. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { evaluate } from '../evaluator/evaluation.ts'
import { readJournal, type SavedRun, type SavedScenario } from '../evaluator/journal-file.ts'
import type { RunResult, ScenarioResult } from '../evaluator/verdict.ts'
import { problem } from '../files/errors.ts'
import { readText } from '../files/user-files.ts'
import { parseReports } from '../reporters/report-option.ts'
import { applyStrict, countOutcomes } from '../runner/results.ts'
import { compile } from '../scenario/compile/compile.ts'
import { loadScenarios } from '../scenario/load/load.ts'
import type { Plan } from '../scenario/plan.ts'
import { visible } from '../text/visible.ts'
import type { Context } from './io.ts'
import { collect } from './shared-flags.ts'
import { colorLevel } from './terminal.ts'
import { exitCodeOf, KEPT_JOURNAL, writeReports } from './write-reports.ts'

interface CheckFlags {
  readonly journal: string
  readonly strict?: boolean
  readonly report?: readonly string[]
}

export function define(command: Command): void {
  command
    .argument('[files...]', 'scenario files, folders or globs (default: scenarios)')
    .option('--journal <file>', 'the journal a run has kept', KEPT_JOURNAL)
    .option('--strict', 'warnings fail')
    .option('--report <reports>', 'pretty, tap, github, json=F, junit=F, html=F, journal=F; with commas', collect)
}

export async function run(
  context: Context,
  options: Record<string, unknown>,
  args: readonly string[],
): Promise<number> {
  const flags = options as unknown as CheckFlags
  const { io, env } = context
  const reports = parseReports((flags.report ?? []).join(','), env)
  const saved = savedRun(flags.journal, context)
  const patterns = args.length === 0 ? ['scenarios'] : args
  const plans = compile(await loadScenarios(patterns, { cwd: io.cwd, nodeVersion: io.nodeVersion }))
  const result = judgedAgain(saved, plans, flags.strict ?? false)
  for (const line of notJudged(saved, plans)) io.stderr.write(`${line}\n`)
  if (result.scenarios.length === 0) return 4
  const problems = await writeReports(result, reports, { io, env, colorLevel: colorLevel(env, io.stdout.isTTY) })
  return exitCodeOf(result, problems)
}

function savedRun(name: string, { io }: Context): SavedRun {
  const path = resolve(io.cwd, name)
  if (existsSync(path)) return readJournal(name, readText({ name, path, extension: '.jsonl' }))
  throw problem(
    name,
    'cannot be read: there is no such file; handover-sim run keeps one, --journal FILE names another.',
  )
}

/** What the run said of itself stays; what its plays come to is judged anew. */
function judgedAgain({ run, scenarios, journal }: SavedRun, plans: readonly Plan[], strict: boolean): RunResult {
  const byName = new Map(plans.map(plan => [plan.name, plan]))
  const checked = scenarios.flatMap(play => {
    const plan = byName.get(play.name)
    return plan === undefined ? [] : [playedFrom(play, plan, strict)]
  })
  return {
    version: run.version,
    startedAt: run.started_at,
    durationMs: run.duration_ms,
    target: run.target,
    seed: run.seed,
    scenarios: checked,
    failures: run.failures,
    journal,
    stopped: run.stopped,
    ...countOutcomes(checked, run.failures),
  }
}

function playedFrom(play: SavedScenario, plan: Plan, strict: boolean): ScenarioResult {
  const { name, file, place, tags, spec } = plan
  return {
    name,
    file,
    place,
    tags,
    spec,
    seed: play.seed,
    clock: play.clock,
    instance: play.instance,
    startedAt: play.started_at,
    durationMs: play.duration_ms,
    journal: play.journal,
    conversations: play.conversations,
    rerunCommand: play.again,
    ...(play.journal.length === 0 ? neverPlayed(play) : applyStrict({ strict }, evaluate(plan, play.journal))),
  }
}

const neverPlayed = ({ outcome, reason }: SavedScenario) => ({
  outcome,
  reason,
  failures: [],
  warnings: [],
  steps: [],
  captures: {},
})

/** What is in one of the two and not in the other. */
function notJudged({ scenarios }: SavedRun, plans: readonly Plan[]): string[] {
  const [played, known] = [new Set(scenarios.map(({ name }) => name)), new Set(plans.map(({ name }) => name))]
  return [
    ...named(
      'no such scenario in the files',
      [...played].filter(name => !known.has(name)),
    ),
    ...named(
      'not played in this run',
      [...known].filter(name => !played.has(name)),
    ),
  ]
}

const SHOWN = 3

function named(why: string, names: readonly string[]): string[] {
  if (names.length === 0) return []
  const more = names.length > SHOWN ? `, and ${names.length - SHOWN} more` : ''
  return [`not judged, ${why}: ${names.slice(0, SHOWN).map(visible).join('; ')}${more}`]
}
