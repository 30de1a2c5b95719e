/** Saves a run as lines of JSON (one for the run, one for each scenario, one for each entry of its journal), and reads it again. */
import * as z from 'zod/mini'
import { ConfigError, problem } from '../../base/files/errors.ts'
import { isMap } from '../../base/objects.ts'
import { explainIssues, ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { type Entry, EntryFrameSchema } from '../../platform/journal/entry.ts'
import type { Place } from '../scenario/plan.ts'
import type { Failure } from './failure.ts'
import type { Outcome, Reason, RunResult, ScenarioResult } from './verdict.ts'

const texts = z.readonly(z.array(z.string()))

const RunLine = z.object({
  v: z.literal(2),
  type: z.literal('run'),
  version: z.string(),
  started_at: z.string(),
  duration_ms: z.number(),
  target: z.string(),
  /** Null in a merged run whose shards had different seeds. */
  seed: z.nullable(z.number()),
  stopped: z.nullable(z.string()),
  /** Those that belong to no scenario. */
  failures: z.readonly(z.array(z.custom<Failure>(isMap))),
  exit_code: z.int(),
  /** How many scenarios follow, and how many entries that belong to none of them. */
  scenarios: z.int(),
  entries: z.int(),
})
type RunLine = Readonly<z.infer<typeof RunLine>>

const ScenarioLine = z.object({
  v: z.literal(2),
  type: z.literal('scenario'),
  /** 1, 2, 3 ... in the order of the run. */
  scenario: z.int(),
  name: z.string(),
  file: z.string(),
  place: z.nullable(z.custom<Place>(isMap)),
  tags: texts,
  spec: texts,
  instance: z.int(),
  seed: z.number(),
  clock: z.enum(['real', 'virtual']),
  started_at: z.string(),
  duration_ms: z.number(),
  outcome: z.custom<Outcome>(value => typeof value === 'string'),
  reason: z.nullable(z.custom<Reason>(isMap)),
  conversations: z.record(z.string(), z.string()),
  rerun: z.string(),
  /** The outcome of the run before `--strict`, when entries have `***` in place of secrets. */
  redacted: z.optional(z.custom<Outcome>(value => typeof value === 'string')),
  /** How many entries it has, which shows a file that was cut off. */
  entries: z.int(),
})
export type ScenarioLine = Readonly<z.infer<typeof ScenarioLine>>

const isEntry = (value: unknown): value is Entry => EntryFrameSchema.safeParse(value).success

const EntryLine = z.object({
  v: z.literal(2),
  type: z.literal('entry'),
  /** Null for an entry that belongs to no scenario. */
  scenario: z.nullable(z.int()),
  entry: z.custom<Entry>(isEntry, {
    error: 'must be an entry of a journal, with seq and kind',
    params: { problem: 'unexpected_value' },
  }),
})
type EntryLine = Readonly<z.infer<typeof EntryLine>>

type Line = RunLine | ScenarioLine | EntryLine

export interface SavedScenario extends ScenarioLine {
  readonly journal: readonly Entry[]
}

export interface SavedRun {
  readonly run: RunLine
  readonly scenarios: readonly SavedScenario[]
  readonly journal: readonly Entry[]
}

/** Without line ends. */
export function* journalLines(result: RunResult): Generator<string> {
  yield JSON.stringify(runLine(result))
  for (const [index, scenario] of result.scenarios.entries()) {
    yield JSON.stringify(scenarioLine(scenario, index + 1))
    yield* entryLines(index + 1, scenario.journal)
  }
  yield* entryLines(null, result.journal)
}

/** Each is an `EntryLine`. */
function* entryLines(scenario: number | null, journal: readonly Entry[]): Generator<string> {
  for (const entry of journal) yield JSON.stringify({ v: 2, type: 'entry', scenario, entry })
}

const runLine = ({ version, target, seed, stopped, failures, scenarios, journal, ...result }: RunResult): RunLine => ({
  v: 2,
  type: 'run',
  version,
  started_at: result.startedAt,
  duration_ms: result.durationMs,
  target,
  seed,
  stopped,
  failures,
  exit_code: result.exitCode,
  scenarios: scenarios.length,
  entries: journal.length,
})

const scenarioLine = (result: ScenarioResult, scenario: number): ScenarioLine => ({
  v: 2,
  type: 'scenario',
  scenario,
  name: result.name,
  file: result.file,
  place: result.place,
  tags: result.tags,
  spec: result.spec,
  instance: result.instance,
  seed: result.seed,
  clock: result.clock,
  started_at: result.startedAt,
  duration_ms: result.durationMs,
  outcome: result.outcome,
  reason: result.reason,
  conversations: result.conversations,
  rerun: result.rerunCommand,
  ...(result.redacted === undefined ? {} : { redacted: result.redacted }),
  entries: result.journal.length,
})

/** Throws `ConfigError` that names the line. */
export function readJournal(name: string, text: string): SavedRun {
  const lines = linesOf(name, text)
  const [run, ...rest] = lines
  if (run?.type !== 'run') throw problem(`${name}:1`, 'must be the line of the run: {"v":2,"type":"run", …}')
  const scenarios = rest.filter(line => line.type === 'scenario').map(withJournal)
  const journal: Entry[] = []
  const byNumber = new Map(scenarios.map(one => [one.scenario, one]))
  for (const line of rest) {
    if (line.type !== 'entry') continue
    const entries = line.scenario === null ? journal : byNumber.get(line.scenario)?.journal
    if (entries === undefined)
      throw problem(name, `has entries of scenario ${line.scenario}, but not its line of type "scenario"`)
    entries.push(line.entry)
  }
  const saved = { run, scenarios, journal }
  checkWhole(name, saved)
  return saved
}

const withJournal = (line: ScenarioLine): ScenarioLine & { readonly journal: Entry[] } => ({ ...line, journal: [] })

function linesOf(name: string, text: string): Line[] {
  const texts = text.replace(/^\ufeff/, '').split('\n')
  const last = texts.findLastIndex(line => line.trim() !== '')
  return texts.flatMap((line, index) =>
    line.trim() === '' ? [] : [parsed(`${name}:${index + 1}`, line, index === last)],
  )
}

function parsed(at: string, text: string, last: boolean): Line {
  const line = jsonOf(at, text, last)
  if (!isMap(line)) throw problem(at, 'must be a JSON object')
  const { v, type } = line
  if (v !== 2) throw problem(at, `v: must be 2, got ${JSON.stringify(v)}: was it written by another version?`)
  if (type === 'run') return checked(at, RunLine, line)
  if (type === 'scenario') return checked(at, ScenarioLine, line)
  if (type !== 'entry') throw problem(at, `type: must be run, scenario or entry, got ${JSON.stringify(type)}`)
  return checked(at, EntryLine, line)
}

function jsonOf(at: string, text: string, last: boolean): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const why = last ? 'the file was cut off in the middle of its last line' : `is not JSON: ${messageOf(error)}`
    throw problem(at, why)
  }
}

function checked<Value>(at: string, schema: z.ZodMiniType<Value>, value: unknown): Value {
  const parsed = schema.safeParse(value, ZOD_MESSAGES)
  if (parsed.success) return parsed.data
  throw new ConfigError(
    explainIssues(parsed.error.issues, value, schema).map(({ field, message }) => ({
      at,
      message: `${field}: ${message}`,
    })),
  )
}

/**
 * Refuses a journal with a gap, in which a missing entry looks like a call that did not arrive. The evaluator recognizes
 * a journal whose beginning was evicted.
 */
function checkWhole(name: string, { run, scenarios }: SavedRun): void {
  const problems = scenarios.flatMap(one => {
    const why = gapIn(one)
    return why === null ? [] : [{ at: `${name}: scenario ${one.scenario} (${one.name})`, message: why }]
  })
  if (run.scenarios !== scenarios.length) {
    problems.push({ at: name, message: `has ${scenarios.length} of ${run.scenarios} scenarios: it was cut off` })
  }
  if (problems.length > 0) throw new ConfigError(problems)
}

function gapIn({ journal, entries }: SavedScenario): string | null {
  if (journal.length < entries) return `has ${journal.length} of its ${entries} entries: the file was cut off`
  for (const [index, { seq }] of journal.entries()) {
    const before = journal[index - 1]?.seq ?? seq - 1
    if (seq !== before + 1) return `has no entry between #${before} and #${seq}: the journal is not whole`
  }
  return null
}
