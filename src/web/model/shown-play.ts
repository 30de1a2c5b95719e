/** Combines what is known of a play, under way or ended, into what UI mode shows: steps, entries, rows and chats. */
import type { StepVerdict } from '../../evaluator/verdict.ts'
import type { FailureReport, ScenarioReport } from '../../evaluator/wording/report.ts'
import type { Entry } from '../../journal/entry.ts'
import type { Place } from '../../scenario/plan.ts'
import { isRunEvent } from '../../scenario/run-events.ts'
import type { TimelineRow } from '../../timeline/rows.ts'
import { timelineOf } from '../../timeline/timeline.ts'
import type { CatalogueScenario, LiveEntries, ScenarioStatus, StepState } from '../../ui-mode/protocol.ts'

export interface ShownPlay {
  readonly isLive: boolean
  readonly steps: readonly ShownStep[]
  readonly entries: readonly Entry[]
  readonly rows: readonly TimelineRow[]
  /** How many rows of a play under way are left out: the first ones. */
  readonly earlierRows: number
  /** The id of the chat of each conversation, by name. */
  readonly conversations: Readonly<Record<string, string>>
  readonly failures: readonly FailureReport[]
  /** The result; null while it is playing, and before the first play. */
  readonly report: ScenarioReport | null
}

export interface ShownStep {
  readonly number: number
  readonly name: string | null
  readonly label: string
  readonly conversation: string
  readonly place: Place | null
  /** `waiting`: not reached yet, or never played. */
  readonly state: StepState | StepVerdict['outcome'] | 'waiting'
  /** Since the first entry of the play; null before it has started. */
  readonly startMs: number | null
  /** Null while it is playing. */
  readonly tookMs: number | null
  /** The entry of its end; null before that. */
  readonly endSeq: number | null
  readonly failures: readonly FailureReport[]
}

export const EMPTY_PLAY: ShownPlay = {
  isLive: false,
  steps: [],
  entries: [],
  rows: [],
  earlierRows: 0,
  conversations: {},
  failures: [],
  report: null,
}

/** The entries of plays that are under way. */
export interface LivePlays {
  /** Adds entries once: a new stream begins with all entries of a play. */
  add(entries: LiveEntries): void
  /** A copy; empty for another play than the one that is stored. */
  entriesOf(status: ScenarioStatus): readonly Entry[]
  /** Removes the entries of other plays of the scenario: the result of a play that has ended has them. */
  keepOnly(status: ScenarioStatus): void
  clear(): void
}

export function createLivePlays(): LivePlays {
  const plays = new Map<string, { readonly play: number; readonly entries: Entry[] }>()
  return {
    add({ name, play, entries }) {
      const known = plays.get(name)
      const kept = known?.play === play ? known : { play, entries: [] }
      const last = kept.entries.at(-1)?.seq ?? 0
      for (const entry of entries) if (entry.seq > last) kept.entries.push(entry)
      plays.set(name, kept)
    },
    entriesOf({ name, play }) {
      const known = plays.get(name)
      return known?.play === play ? [...known.entries] : []
    },
    keepOnly({ name, play }) {
      if (plays.get(name)?.play !== play) plays.delete(name)
    },
    clear: () => plays.clear(),
  }
}

/** As many rows of a play under way are drawn: they are drawn again for new entries. */
export const MOST_LIVE_ROWS = 300

/** A play that is under way, or a scenario without a play. */
export function livePlay(
  { steps }: CatalogueScenario,
  status: ScenarioStatus | undefined,
  entries: readonly Entry[],
): ShownPlay {
  const isLive = status?.state === 'playing'
  const times = stepTimes(entries)
  const conversations = conversationsOfEntries(entries)
  const shown = steps.map(step => ({
    ...step,
    ...timeOf(step.number, times, entries),
    state: status?.steps[step.number] ?? ('waiting' as const),
    failures: [],
  }))
  const rows = timelineOf({ journal: entries, conversations, steps: [], failures: [] })
  const earlierRows = Math.max(0, rows.length - MOST_LIVE_ROWS)
  return { ...EMPTY_PLAY, isLive, steps: shown, entries, rows: rows.slice(earlierRows), earlierRows, conversations }
}

/** A play that has ended. Its steps are those of the play, also when the file has changed since. */
export function endedPlay(report: ScenarioReport): ShownPlay {
  const { journal: entries, conversations, failures } = report
  const times = stepTimes(entries)
  const steps = report.steps.map(step => ({
    ...step,
    ...timeOf(step.number, times, entries),
    state: step.outcome,
    failures: failures.filter(failure => failure.step?.number === step.number),
  }))
  return { ...EMPTY_PLAY, steps, entries, rows: timelineOf(report), conversations, failures, report }
}

interface StepTimes {
  readonly started: ReadonlyMap<number, Entry>
  readonly ended: ReadonlyMap<number, Entry>
}

function stepTimes(entries: readonly Entry[]): StepTimes {
  const [started, ended] = [new Map<number, Entry>(), new Map<number, Entry>()]
  for (const entry of entries) {
    if (isRunEvent(entry, 'step_started')) started.set(entry.step, entry)
    else if (isRunEvent(entry, 'step_ended')) ended.set(entry.step, entry)
  }
  return { started, ended }
}

function timeOf(number: number, { started, ended }: StepTimes, [first]: readonly Entry[]) {
  const [begin, end] = [started.get(number), ended.get(number)]
  return {
    startMs: begin === undefined ? null : begin.at_ms - (first?.at_ms ?? begin.at_ms),
    tookMs: begin === undefined || end === undefined ? null : end.at_ms - begin.at_ms,
    endSeq: end?.seq ?? null,
  }
}

function conversationsOfEntries(entries: readonly Entry[]): Record<string, string> {
  const opened = entries.flatMap(entry =>
    isRunEvent(entry, 'conversation') ? [[entry.conversation, entry.chat_id] as const] : [],
  )
  return Object.fromEntries(opened)
}
