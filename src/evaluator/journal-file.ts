/**
 * A run as a file: one line of JSON for the run, one for each play, one for each entry of its journal. What a run saves,
 * `check` reads again.
 */

import { ConfigError, problem } from '../files/errors.ts'
import type { Entry } from '../journal/entry.ts'
import type { Place } from '../scenario/plan.ts'
import { messageOf } from '../text/error-text.ts'
import type { Failure } from './failure.ts'
import type { Outcome, Reason, RunResult, ScenarioResult } from './verdict.ts'

export interface RunLine {
  readonly v: 1
  readonly type: 'run'
  readonly version: string
  readonly started_at: string
  readonly duration_ms: number
  readonly target: string
  /** Null in a merged run whose shards had different seeds. */
  readonly seed: number | null
  readonly stopped: string | null
  /** Those that belong to no scenario. */
  readonly failures: readonly Failure[]
  readonly exit_code: number
  /** How many plays follow, and entries of none of them. */
  readonly plays: number
  readonly entries: number
}

export interface ScenarioLine {
  readonly v: 1
  readonly type: 'play'
  /** 1, 2, 3 ... in the order of the run. */
  readonly play: number
  readonly name: string
  readonly file: string
  readonly place: Place | null
  readonly tags: readonly string[]
  readonly spec: readonly string[]
  readonly instance: number
  readonly seed: number
  readonly clock: 'real' | 'virtual'
  readonly started_at: string
  readonly duration_ms: number
  readonly outcome: Outcome
  readonly reason: Reason | null
  readonly conversations: Readonly<Record<string, string>>
  readonly again: string
  /** How many entries it has: a file that was cut short is noticed. */
  readonly entries: number
}

export interface EntryLine {
  readonly v: 1
  readonly type: 'entry'
  /** Null: of no scenario. */
  readonly play: number | null
  readonly entry: Entry
}

export type Line = RunLine | ScenarioLine | EntryLine

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
  for (const [index, played] of result.scenarios.entries()) {
    yield JSON.stringify(playLine(played, index + 1))
    for (const entry of played.journal) yield entryLine(index + 1, entry)
  }
  for (const entry of result.journal) yield entryLine(null, entry)
}

const entryLine = (play: number | null, entry: Entry) =>
  JSON.stringify({ v: 1, type: 'entry', play, entry } satisfies EntryLine)

const runLine = ({ version, target, seed, stopped, failures, scenarios, journal, ...result }: RunResult): RunLine => ({
  v: 1,
  type: 'run',
  version,
  started_at: result.startedAt,
  duration_ms: result.durationMs,
  target,
  seed,
  stopped,
  failures,
  exit_code: result.exitCode,
  plays: scenarios.length,
  entries: journal.length,
})

const playLine = (played: ScenarioResult, play: number): ScenarioLine => ({
  v: 1,
  type: 'play',
  play,
  name: played.name,
  file: played.file,
  place: played.place,
  tags: played.tags,
  spec: played.spec,
  instance: played.instance,
  seed: played.seed,
  clock: played.clock,
  started_at: played.startedAt,
  duration_ms: played.durationMs,
  outcome: played.outcome,
  reason: played.reason,
  conversations: played.conversations,
  again: played.rerunCommand,
  entries: played.journal.length,
})

/** Throws `ConfigError` that names the line. */
export function readJournal(name: string, text: string): SavedRun {
  const lines = linesOf(name, text)
  const [run, ...rest] = lines
  if (run?.type !== 'run') throw problem(`${name}:1`, 'must be the line of the run: {"v":1,"type":"run", …}')
  const scenarios = rest.filter(line => line.type === 'play').map(withJournal)
  const journal: Entry[] = []
  const byNumber = new Map(scenarios.map(play => [play.play, play]))
  for (const line of rest) {
    if (line.type !== 'entry') continue
    const entries = line.play === null ? journal : byNumber.get(line.play)?.journal
    if (entries === undefined) throw problem(name, `has entries of play ${line.play}, but not its line of type "play"`)
    entries.push(line.entry)
  }
  const saved = { run, scenarios, journal }
  checkWhole(name, saved)
  return saved
}

const withJournal = (play: ScenarioLine): ScenarioLine & { readonly journal: Entry[] } => ({ ...play, journal: [] })

function linesOf(name: string, text: string): Line[] {
  const texts = text.replace(/^\ufeff/, '').split('\n')
  const last = texts.findLastIndex(line => line.trim() !== '')
  return texts.flatMap((line, index) =>
    line.trim() === '' ? [] : [parsed(`${name}:${index + 1}`, line, index === last)],
  )
}

function parsed(at: string, text: string, last: boolean): Line {
  let line: Partial<Line> | null
  try {
    line = JSON.parse(text)
  } catch (error) {
    const why = last ? 'the file was cut off in the middle of its last line' : `is not JSON: ${messageOf(error)}`
    throw problem(at, why)
  }
  const problemText = whyNoLine(line)
  if (problemText !== null) throw problem(at, problemText)
  return line as Line
}

function whyNoLine(line: Partial<Line> | null): string | null {
  if (typeof line !== 'object' || line === null || Array.isArray(line)) return 'must be a JSON object'
  if (line.v !== 1) return `v: must be 1, got ${JSON.stringify(line.v)}: was it written by another version?`
  if (line.type === 'entry')
    return isEntry(line.entry) ? null : 'entry: must be an entry of a journal, with seq and kind'
  if (line.type === 'play') return typeof line.name === 'string' ? null : 'name: is required: the name of the scenario'
  const { type } = line
  return type === 'run' ? null : `type: must be run, play or entry, got ${JSON.stringify(type)}`
}

const isEntry = (entry: Partial<Entry> | undefined): boolean =>
  typeof entry?.seq === 'number' && typeof entry.kind === 'string' && typeof entry.at_ms === 'number'

/** Refuses a journal with a gap, in which a missing entry looks like a call that did not arrive. */
function checkWhole(name: string, { run, scenarios }: SavedRun): void {
  const problems = scenarios.flatMap(play => {
    const why = gapIn(play)
    return why === null ? [] : [{ at: `${name}: play ${play.play} (${play.name})`, message: why }]
  })
  if (run.plays !== scenarios.length) {
    problems.push({ at: name, message: `has ${scenarios.length} of ${run.plays} plays: it was cut off` })
  }
  if (problems.length > 0) throw new ConfigError(problems)
}

function gapIn({ journal, entries }: SavedScenario): string | null {
  if (journal.length < entries) return `has ${journal.length} of its ${entries} entries: the file was cut off`
  for (const [index, { seq }] of journal.entries()) {
    const before = journal[index - 1]?.seq ?? seq - 1
    if (seq !== before + 1) return `has no entry between #${before} and #${seq}: the journal is not whole`
  }
  return journal.length === 0 || startsAtTheStart(journal)
    ? null
    : 'begins in the middle: older entries had been dropped when it was saved'
}

const startsAtTheStart = ([first]: readonly Entry[]): boolean =>
  first?.kind === 'note' && first.note === 'scenario_started'
