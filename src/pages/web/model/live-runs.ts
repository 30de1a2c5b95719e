/** Stores the entries of runs that are under way, and what is shown of them: each entry is read once. */

import { isRunEvent } from '../../../evaluation/scenario/run-events.ts'
import { Timeline, type TimelineRow } from '../../../evaluation/timeline/timeline.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { LiveEntries, ScenarioStatus } from '../../../running/ui-mode/protocol.ts'

/** What is shown of a run under way. Later entries do not change it. */
export interface LiveView {
  readonly entries: readonly Entry[]
  /** The last ones. A row that did not change is the same object as in the view before. */
  readonly rows: readonly TimelineRow[]
  /** How many rows are before them. */
  readonly earlierRows: number
  /** The id of the chat of each conversation, by name. */
  readonly conversations: Readonly<Record<string, string>>
}

/** At least so many rows of a run under way are drawn, if there are so many. */
export const LIVE_ROWS = 300
/** Rows leave in groups, so that most of the others keep their places. */
const ROW_GROUP = 50

export function createLiveRuns() {
  const runs = new Map<string, ReturnType<typeof createLiveRun>>()
  return {
    /** Adds entries once: a new stream begins with all entries of a run. */
    add({ name, run, entries }: LiveEntries): void {
      const earlier = runs.get(name)
      const current = earlier?.run === run ? earlier : createLiveRun(run)
      current.add(entries)
      runs.set(name, current)
    },
    /** Null for another run than the one that is stored. */
    viewOf({ name, run }: ScenarioStatus): LiveView | null {
      const current = runs.get(name)
      return current?.run === run ? current.view() : null
    },
    /** Removes the entries of other runs of the scenario: the result of a run that has ended has them. */
    keepOnly({ name, run }: ScenarioStatus): void {
      if (runs.get(name)?.run !== run) runs.delete(name)
    },
    clear: () => runs.clear(),
  }
}

function createLiveRun(run: number) {
  const entries: Entry[] = []
  const conversations = new Map<string, string>()
  const names = new Map<string, string>()
  const timeline = new Timeline(chatId => names.get(chatId) ?? null)
  /** The rows as they were shown. */
  const shown = new WeakMap<TimelineRow, TimelineRow>()
  return {
    run,
    add(added: readonly Entry[]): void {
      const last = entries.at(-1)?.seq ?? 0
      for (const entry of added) {
        if (entry.seq <= last) continue
        entries.push(entry)
        if (isRunEvent(entry, 'conversation')) {
          conversations.set(entry.conversation, entry.chat_id)
          names.set(entry.chat_id, entry.conversation)
        }
        timeline.add(entry)
      }
    },
    view(): LiveView {
      const earlierRows = Math.max(0, Math.floor((timeline.rows.length - LIVE_ROWS) / ROW_GROUP) * ROW_GROUP)
      const rows: TimelineRow[] = []
      for (const row of timeline.rows.slice(earlierRows)) {
        // A row changes only by an entry that it also shows.
        const before = shown.get(row)
        const copy =
          before?.entrySeqs.length === row.entrySeqs.length ? before : { ...row, entrySeqs: [...row.entrySeqs] }
        shown.set(row, copy)
        rows.push(copy)
      }
      rows.sort((a, b) => a.atMs - b.atMs || a.seq - b.seq)
      return { entries: [...entries], rows, earlierRows, conversations: Object.fromEntries(conversations) }
    },
  }
}
