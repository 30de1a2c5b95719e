/** Stores the entries of runs that are under way, and what is shown of them: each entry is read once. */

import { isRunEvent } from '../../../evaluation/scenario/run-events.ts'
import type { TimelineRow } from '../../../evaluation/timeline/timeline.ts'
import { createLiveTimeline } from '../../../evaluation/timeline/timeline.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { LiveEntries, ScenarioStatus } from '../../../running/ui-mode/protocol.ts'

export interface LiveRuns {
  /** Adds entries once: a new stream begins with all entries of a run. */
  add(entries: LiveEntries): void
  /** Null for another run than the one that is stored. */
  viewOf(status: ScenarioStatus): LiveView | null
  /** Removes the entries of other runs of the scenario: the result of a run that has ended has them. */
  keepOnly(status: ScenarioStatus): void
  clear(): void
}

/** What is shown of a run under way. Later entries do not change it, except for the times of steps. */
export interface LiveView {
  readonly entries: readonly Entry[]
  /** The last ones. A row that did not change is the same object as in the view before. */
  readonly rows: readonly TimelineRow[]
  /** How many rows are before them. */
  readonly earlierRows: number
  /** The id of the chat of each conversation, by name. */
  readonly conversations: Readonly<Record<string, string>>
  readonly times: StepTimes
}

export interface StepTimes {
  /** By number. */
  readonly started: ReadonlyMap<number, Entry>
  readonly ended: ReadonlyMap<number, Entry>
}

/** Adds the entry when a step starts or ends with it. */
export function addStepTime(times: { started: Map<number, Entry>; ended: Map<number, Entry> }, entry: Entry): void {
  if (isRunEvent(entry, 'step_started')) times.started.set(entry.step, entry)
  else if (isRunEvent(entry, 'step_ended')) times.ended.set(entry.step, entry)
}

/** At least so many rows of a run under way are drawn, if there are so many. */
export const LIVE_ROWS = 300
/** Rows leave in groups, so that most of the others keep their places. */
const ROW_GROUP = 50

export function createLiveRuns(): LiveRuns {
  const runs = new Map<string, LiveRun>()
  return {
    add({ name, run, entries }) {
      const earlier = runs.get(name)
      const current = earlier?.run === run ? earlier : new LiveRun(run)
      current.add(entries)
      runs.set(name, current)
    },
    viewOf({ name, run }) {
      const current = runs.get(name)
      return current?.run === run ? current.view() : null
    },
    keepOnly({ name, run }) {
      if (runs.get(name)?.run !== run) runs.delete(name)
    },
    clear: () => runs.clear(),
  }
}

class LiveRun {
  readonly run: number
  readonly #entries: Entry[] = []
  readonly #times = { started: new Map<number, Entry>(), ended: new Map<number, Entry>() }
  readonly #conversations = new Map<string, string>()
  readonly #names = new Map<string, string>()
  readonly #timeline = createLiveTimeline(chatId => this.#names.get(chatId) ?? null)
  /** The rows as they were shown. */
  readonly #shown = new WeakMap<TimelineRow, TimelineRow>()

  constructor(run: number) {
    this.run = run
  }

  add(entries: readonly Entry[]): void {
    const last = this.#entries.at(-1)?.seq ?? 0
    for (const entry of entries) if (entry.seq > last) this.#read(entry)
  }

  #read(entry: Entry): void {
    this.#entries.push(entry)
    addStepTime(this.#times, entry)
    if (isRunEvent(entry, 'conversation')) {
      this.#conversations.set(entry.conversation, entry.chat_id)
      this.#names.set(entry.chat_id, entry.conversation)
    }
    this.#timeline.add(entry)
  }

  view(): LiveView {
    const { rows } = this.#timeline
    const earlierRows = Math.max(0, Math.floor((rows.length - LIVE_ROWS) / ROW_GROUP) * ROW_GROUP)
    const last = rows.slice(earlierRows).map(row => this.#copyOf(row))
    return {
      entries: [...this.#entries],
      rows: last.sort((a, b) => a.atMs - b.atMs || a.seq - b.seq),
      earlierRows,
      conversations: Object.fromEntries(this.#conversations),
      times: this.#times,
    }
  }

  /** A row changes only by an entry that it also shows. */
  #copyOf(row: TimelineRow): TimelineRow {
    const shown = this.#shown.get(row)
    if (shown?.entrySeqs.length === row.entrySeqs.length) return shown
    const copy = { ...row, entrySeqs: [...row.entrySeqs] }
    this.#shown.set(row, copy)
    return copy
  }
}
