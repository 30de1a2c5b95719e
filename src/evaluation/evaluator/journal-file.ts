/** Saves a run as lines of JSON (one for the run, one for each scenario, one for each entry of its journal), and reads it again. */
import * as z from 'zod/mini'
import { ConfigError, problem } from '../../base/files/errors.ts'
import { messageOf } from '../../base/text/error-text.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { type EntryLine, readAs, readEntryLine, readJournalLine } from '../entry-reader.ts'
import type { Failure } from '../finding.ts'
import type { RunEvent } from '../scenario/run-events.ts'
import type { Outcome, Reason, RunResult, ScenarioResult } from './verdict.ts'

const OUTCOMES = ['pass', 'fail', 'error', 'inconclusive', 'skipped'] as const satisfies readonly Outcome[]
const texts = z.readonly(z.array(z.string()))
const fields = z.record(z.string(), z.unknown())
const coded = z.looseObject({ code: z.string() })

const SavedMiss = z.looseObject({
  ...{ seq: z.int(), what: z.string(), afterMs: z.number(), codes: texts, why: z.string() },
  differences: z.array(z.looseObject({ path: z.string(), expected: z.string(), received: z.string() })),
})

/** What reports read of a failure of the run, which belongs to no step. */
const SavedFailure = z.looseObject({
  ...{ kind: z.string(), code: z.string(), conversation: z.nullable(z.string()), soft: z.boolean(), details: fields },
  ...{ expected: z.string(), happened: z.string(), hint: z.optional(z.string()), rules: texts },
  ...{ step: z.null(), entrySeqs: z.array(z.int()), nearest: z.array(SavedMiss) },
}) as z.ZodMiniType<unknown> as z.ZodMiniType<Failure>

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
  failures: z.readonly(z.array(SavedFailure)),
  exit_code: z.int(),
  /** How many scenarios follow, and how many entries that belong to none of them. */
  scenarios: z.int(),
  /** Null while entries are added, by `handover-sim proxy`: then the last line may be half written. */
  entries: z.nullable(z.int()),
})
type RunLine = Readonly<z.infer<typeof RunLine>>

const ScenarioLine = z.object({
  v: z.literal(2),
  type: z.literal('scenario'),
  /** 1, 2, 3 ... in the order of the run. */
  scenario: z.int(),
  name: z.string(),
  file: z.string(),
  place: z.nullable(z.object({ file: z.string(), line: z.int(), column: z.int() })),
  tags: texts,
  spec: texts,
  instance: z.int(),
  seed: z.number(),
  clock: z.enum(['real', 'virtual']),
  started_at: z.string(),
  duration_ms: z.number(),
  outcome: z.enum(OUTCOMES),
  reason: z.nullable(
    z.looseObject({ code: z.string(), text: z.string() }) as z.ZodMiniType<unknown> as z.ZodMiniType<Reason>,
  ),
  conversations: z.record(z.string(), z.string()),
  rerun: z.string(),
  /** The outcome of the run before `--strict`, when entries have `***` in place of secrets. */
  redacted: z.optional(z.enum(OUTCOMES)),
  /** How many entries it has, which shows a file that was cut off. */
  entries: z.int(),
})
export type ScenarioLine = Readonly<z.infer<typeof ScenarioLine>>

/** What the evaluator reads of the notes of a run, beside what every note has. */
const NOTES: Readonly<Record<RunEvent['note'], z.core.$ZodShape>> = {
  scenario_started: {
    ...{ config: fields, env: z.record(z.string(), z.string()), sim: fields, driver: z.nullable(texts) },
    bot: z.looseObject({ id: z.int(), name: z.string() }),
  },
  conversation: {
    ...{ chat_id: z.string(), conversation: z.string() },
    chat: z.looseObject({ id: z.string(), bot_id: z.optional(z.int()) }),
  },
  step_started: { step: z.int(), verb: z.string(), label: z.string() },
  step_ended: {
    ...{ step: z.int(), delivery_id: z.optional(z.nullable(z.string())), failure: z.optional(coded) },
    ...{ missing: z.optional(z.string()), captured: z.optional(fields), token: z.optional(z.string()) },
  },
  observed: { step: z.int(), chat_id: z.string(), transcript: z.optional(z.array(fields)) },
  target_unreachable: { failure: coded },
  target_output: { ended: z.nullable(coded), lines: texts, file: z.nullable(z.string()) },
  steps_done: {},
  scenario_ended: { stopped: z.optional(coded) },
}
const isRunNote = (note: string): note is RunEvent['note'] => Object.hasOwn(NOTES, note)

/** A call of the agent driver. */
const DRIVER_CALL = {
  ...{ verb: z.string(), outcome: z.enum(['ok', 'failed', 'unreachable']), how: z.string(), duration_ms: z.number() },
  ...{ failure: z.optional(coded), text: z.optional(z.string()), answer: z.optional(z.string()) },
  items: z.optional(
    z.array(z.looseObject({ text: z.optional(z.string()), attachments: z.optional(z.array(z.looseObject({}))) })),
  ),
}

/** What a run adds to an entry. */
function shapeOf(entry: Entry): z.core.$ZodShape {
  if (entry.kind === 'driver') return DRIVER_CALL
  return entry.kind === 'note' && isRunNote(entry.note) ? NOTES[entry.note] : {}
}

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
    for (const entry of scenario.journal) yield entryLine(index + 1, entry)
  }
  for (const entry of result.journal) yield entryLine(null, entry)
}

/** Is an `EntryLine`. */
export const entryLine = (scenario: number | null, entry: Entry): string =>
  JSON.stringify({ v: 2, type: 'entry', scenario, entry })

/** The first line of a journal that grows while traffic is observed. */
export const observedRunLine = (facts: Pick<RunLine, 'version' | 'started_at' | 'target'>): string =>
  JSON.stringify({
    ...{ v: 2, type: 'run', ...facts, duration_ms: 0, seed: null, stopped: null, failures: [] },
    ...{ exit_code: 0, scenarios: 0, entries: null },
  } satisfies RunLine)

function runLine(result: RunResult): RunLine {
  const { version, startedAt, durationMs, target, seed, stopped, failures, exitCode, scenarios, journal } = result
  return {
    ...{ v: 2, type: 'run', version, started_at: startedAt, duration_ms: durationMs, target, seed, stopped, failures },
    ...{ exit_code: exitCode, scenarios: scenarios.length, entries: journal.length },
  }
}

function scenarioLine(result: ScenarioResult, scenario: number): ScenarioLine {
  const { name, file, place, tags, spec, instance, seed, clock, outcome, reason, conversations, redacted } = result
  return {
    ...{ v: 2, type: 'scenario', scenario, name, file, place, tags, spec, instance, seed, clock },
    ...{ started_at: result.startedAt, duration_ms: result.durationMs, outcome, reason, conversations },
    ...{ rerun: result.rerunCommand, ...(redacted !== undefined && { redacted }), entries: result.journal.length },
  }
}

const NO_RUN_LINE = 'must be the line of the run: {"v":2,"type":"run", …}'

/** Throws `ConfigError` that names the line. */
export function readJournal(name: string, text: string): SavedRun {
  const texts = text.replace(/^\ufeff/, '').split('\n')
  const lastLine = texts.findLastIndex(line => line.trim() !== '')
  let run: RunLine | undefined
  const scenarios: (ScenarioLine & { readonly journal: Entry[] })[] = []
  const entries: EntryLine[] = []
  for (const [index, lineText] of texts.entries()) {
    if (lineText.trim() === '') continue
    const at = `${name}:${index + 1}`
    const isCutOff = index === lastLine
    let value: unknown
    try {
      value = JSON.parse(lineText)
    } catch (error) {
      if (isCutOff && run?.entries === null) break
      const why = isCutOff ? 'the file was cut off in the middle of its last line' : `is not JSON: ${messageOf(error)}`
      throw problem(at, why)
    }
    const line = readJournalLine(at, value)
    const { type } = line
    if (type === 'run') run ??= readAs(at, RunLine, line)
    else if (type === 'scenario') scenarios.push({ ...readAs(at, ScenarioLine, line), journal: [] })
    else if (type === 'entry') {
      const { entry, scenario } = readEntryLine(at, line)
      readAs(at, z.looseObject({ entry: z.looseObject(shapeOf(entry)) }), line)
      entries.push({ entry, scenario })
    } else throw problem(at, `type: must be run, scenario or entry, got ${JSON.stringify(type)}`)
    if (run === undefined) throw problem(at, NO_RUN_LINE)
  }
  if (run === undefined) throw problem(`${name}:1`, NO_RUN_LINE)

  const journal: Entry[] = []
  const journals = new Map<number | null, Entry[]>([[null, journal]])
  for (const scenario of scenarios) journals.set(scenario.scenario, scenario.journal)
  for (const { scenario, entry } of entries) {
    const scenarioJournal = journals.get(scenario)
    if (scenarioJournal === undefined)
      throw problem(name, `has entries of scenario ${scenario}, but not its line of type "scenario"`)
    scenarioJournal.push(entry)
  }

  // Refuses a journal with a gap, in which a missing entry looks like a call that did not arrive. The evaluator recognizes
  // a journal whose beginning was evicted.
  const problems = scenarios.flatMap(scenario => {
    const message = gapIn(scenario)
    return message === null ? [] : [{ at: `${name}: scenario ${scenario.scenario} (${scenario.name})`, message }]
  })
  if (run.scenarios !== scenarios.length)
    problems.push({ at: name, message: `has ${scenarios.length} of ${run.scenarios} scenarios: it was cut off` })
  if (problems.length > 0) throw new ConfigError(problems)
  return { run, scenarios, journal }
}

function gapIn({ journal, entries }: SavedScenario): string | null {
  if (journal.length < entries) return `has ${journal.length} of its ${entries} entries: the file was cut off`
  for (const [index, { seq }] of journal.entries()) {
    const before = journal[index - 1]?.seq ?? seq - 1
    if (seq !== before + 1) return `has no entry between #${before} and #${seq}: the journal is not whole`
  }
  return null
}
