/** Shows the filtered entries as a sequence diagram or as a list, with one selection for both. */

import { useRef } from 'preact/hooks'
import { type EntryProblem, problemIn } from '../../../evaluation/timeline/problems.ts'
import type { TimelineRow } from '../../../evaluation/timeline/timeline.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { EntryRow } from '../components/entry-row.tsx'
import { DiagramHead, SequenceRow } from '../components/sequence-row.tsx'
import { useShortcuts } from '../components/shortcuts.tsx'
import { VirtualList } from '../components/virtual-list.tsx'
import { useIsWider } from '../components/width.ts'
import { hasAgent, lifelinesOf, quietBefore } from '../model/diagram-geometry.ts'
import type { FilteredLog } from '../model/entry-filter.ts'
import { countUntil, indexOf } from '../model/journal-log.ts'
import { useSession } from './session-context.ts'

/** Whether the row shows a failure. An event that a retry delivered is not one. */
function problemOfRow({ ok }: TimelineRow, problems: readonly EntryProblem[]): EntryProblem | null {
  if (problems.every(problem => problem === 'ordered')) return problems[0] ?? null
  return ok ? 'finding' : 'failed'
}

export interface WireRowsProps {
  readonly filtered: FilteredLog
  readonly withChats: boolean
  onOpen(): void
}

/** In pixels; as in the style sheets. */
const NARROW = 544
const ROW_HEIGHTS = { diagram: 38, list: 30, narrow: 54 } as const

export function WireRows({ filtered, withChats, onOpen }: WireRowsProps) {
  const session = useSession()
  const box = useRef<HTMLDivElement>(null)
  const isNarrow = !useIsWider(box, NARROW)
  const { view, log } = session
  const isDiagram = view.wire.value === 'diagram'
  const items: readonly (TimelineRow | Entry)[] = isDiagram ? filtered.rows : filtered.entries
  const indexIn = (seq: number | null) =>
    seq === null ? -1 : indexOf(items, isDiagram ? (log.value.row(seq)?.seq ?? -1) : seq)
  /** Continues at the other end after the last one. */
  const goToProblem = (by: 1 | -1) => {
    const { entries } = filtered
    const selected = view.entry.peek()
    const from = selected === null ? (by > 0 ? -1 : entries.length) : countUntil(entries, selected) - 1
    for (let steps = 1; steps <= entries.length; steps++) {
      const entry = entries[(from + by * steps + 2 * entries.length) % entries.length]
      if (entry === undefined || problemIn(entry) === null) continue
      view.entry.value = entry.seq
      return
    }
  }
  useShortcuts('Wire', {
    f: ['Go to the next problem', () => goToProblem(1)],
    F: ['Go to the problem before', () => goToProblem(-1)],
  })

  const at = view.at.value
  const chatOf = (entry: Entry | undefined) =>
    withChats ? { chat: entry?.chat_id === undefined ? null : session.chatTag(entry.chat_id) } : {}
  const lifelines = lifelinesOf(filtered.rows)
  const drawRow = (index: number) => {
    const row = filtered.rows[index]
    if (row === undefined) return null
    const problems = row.entrySeqs.flatMap(seq => {
      const entry = log.peek().entry(seq)
      return entry === undefined ? [] : (problemIn(entry) ?? [])
    })
    return (
      <SequenceRow
        row={row}
        lifelines={lifelines}
        entryCount={row.entrySeqs.length}
        quietMs={quietBefore(filtered.rows, index)}
        later={at !== null && row.seq > at}
        problem={problemOfRow(row, problems)}
        {...chatOf(log.value.entry(row.seq))}
      />
    )
  }
  const drawEntry = (entry: Entry | undefined) =>
    entry && <EntryRow entry={entry} later={at !== null && entry.seq > at} {...chatOf(entry)} />
  const isFiltered = view.filter.value !== '' || view.kind.value !== null || view.onlyProblems.value
  return (
    <div ref={box} class={`wire-rows${withChats ? ' with-chats' : ''}${hasAgent(lifelines) ? ' with-agent' : ''}`}>
      {isDiagram ? <DiagramHead lifelines={lifelines} /> : null}
      {items.length > 0 ? null : (
        <p class="empty">{isFiltered ? 'No entry matches the filter.' : 'Nothing has passed in this chat yet.'}</p>
      )}
      <VirtualList
        label={isDiagram ? 'Calls and events' : 'Entries of the journal'}
        count={items.length}
        rowHeight={isNarrow ? ROW_HEIGHTS.narrow : ROW_HEIGHTS[view.wire.value]}
        selected={indexIn(view.entry.value)}
        second={indexIn(view.compare.value)}
        onSelect={(index, isSecond) => {
          // A click with the shift key compares with the entry that was selected before.
          if (isSecond && view.entry.value !== null) view.compare.value = view.entry.value
          // Of an event that was answered, the delivery: it has what was sent and what came back.
          const item = items[index]
          const isEvent = item !== undefined && 'entrySeqs' in item && item.kind === 'event'
          const seq = isEvent ? item.entrySeqs.at(-1) : item?.seq
          if (seq === undefined) return
          view.entry.value = seq
          view.column.value = 'wire'
        }}
        onOpen={onOpen}
        row={index => (isDiagram ? drawRow(index) : drawEntry(filtered.entries[index]))}
      />
    </div>
  )
}
