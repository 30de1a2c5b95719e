/** Chooses the moment that is shown: a slider over the journal, with a mark for each call, event and problem. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { wallTimer } from '../../../base/runtime/clock.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { useShortcuts } from '../components/shortcuts.tsx'
import type { FilteredLog } from '../model/entry-filter.ts'
import { isProblem } from '../model/entry-summary.ts'
import { timeOfDay } from '../model/formats.ts'
import { countUntil, type JournalLog } from '../model/journal-log.ts'
import { useSession } from './session-context.ts'

export interface TimeLineProps {
  readonly filtered: FilteredLog
}

export function TimeLine({ filtered }: TimeLineProps) {
  const { view, log } = useSession()
  const { entries } = log.value
  const [first, last] = [entries[0]?.seq ?? 0, entries.at(-1)?.seq ?? 0]
  const at = view.at.value
  // The moment of the last entry is now.
  const show = (seq: number) => {
    view.at.value = seq >= (log.peek().entries.at(-1)?.seq ?? 0) ? null : seq
  }
  // Steps pass only entries that the filter shows, and the selection moves along. Now is after the last of them,
  // unless that is the last entry of all.
  const step = (by: 1 | -1) => {
    const shown = filtered.entries
    const isLast = shown.at(-1)?.seq === log.peek().entries.at(-1)?.seq
    const moment = view.at.peek()
    const index = moment !== null ? countUntil(shown, moment) - 1 : isLast ? shown.length - 1 : shown.length
    const entry = shown[Math.max(0, index + by)]
    if (entry === undefined) {
      view.at.value = null
      return
    }
    view.entry.value = entry.seq
    show(entry.seq)
  }
  const toNow = () => (view.at.value = null)
  useShortcuts('Time', {
    ArrowLeft: ['Go one entry back in time', () => step(-1)],
    ArrowRight: ['Go one entry forward in time', () => step(1)],
    t: ['Show the moment of the selected entry', () => (view.at.value = view.entry.value)],
    '.': ['Show now', toNow],
  })
  return (
    <div class="time-line">
      <button type="button" aria-label="One entry back" disabled={(at ?? last) <= first} onClick={() => step(-1)}>
        ‹
      </button>
      <button type="button" aria-label="One entry forward" disabled={at === null} onClick={() => step(1)}>
        ›
      </button>
      <div class="time-line-track">
        <Marks />
        <input
          type="range"
          aria-label="Moment"
          aria-valuetext={at === null ? 'now' : `entry ${at} of ${last}`}
          min={first}
          max={last}
          value={at ?? last}
          onInput={({ currentTarget }) => show(Number(currentTarget.value))}
        />
      </div>
      <button type="button" disabled={at === null} onClick={toNow}>
        Now
      </button>
      <Legend />
    </div>
  )
}

/** A bar of the time line, in the units of its drawing. */
interface Bar {
  readonly name: 'mark-problem' | 'mark-call' | 'mark-event' | 'mark-selected' | 'mark-rest'
  readonly top: number
  readonly height: number
}

const BARS = {
  problem: { name: 'mark-problem', top: 0, height: 5 },
  call: { name: 'mark-call', top: 3, height: 4 },
  event: { name: 'mark-event', top: 5, height: 4 },
} as const satisfies Record<string, Bar>

const LEGEND: readonly (Bar & { readonly text: string })[] = [
  { ...BARS.problem, text: 'Something failed or was refused' },
  { ...BARS.call, text: 'A call of the intermediary' },
  { ...BARS.event, text: 'An event, or an attempt to deliver it' },
  { name: 'mark-selected', top: 0, height: 10, text: 'The selected entry' },
  { name: 'mark-rest', top: 9, height: 1, text: 'Other entries: users, notes, settings' },
]

/** What the marks mean, from top to bottom. */
function Legend() {
  return (
    <details class="time-line-legend">
      <summary>Marks</summary>
      <ul aria-label="Marks of the time line">
        {LEGEND.map(({ name, top, height, text }) => (
          <li key={name}>
            <svg viewBox="0 0 10 10" preserveAspectRatio="none" aria-hidden="true">
              <rect class={name} x="1" y={top} width="8" height={height} />
            </svg>
            {text}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** More columns than most screens can show apart. */
const COLUMNS = 400
/** So often the marks are drawn again while entries arrive. */
const REDRAW_MS = 250

/** One drawing for all entries; it is not drawn for every frame. */
function Marks() {
  const { log, view } = useSession()
  const drawn = useDrawnLog(log.value)
  const { entries } = log.value
  const count = Math.min(COLUMNS, Math.max(1, entries.length))
  const columns = useMemo(() => columnsOf(drawn.entries, count), [drawn, count])
  const selected = view.entry.value
  const index = selected === null ? -1 : countUntil(entries, selected) - 1
  return (
    <svg class="time-line-marks" viewBox={`0 0 ${count} 10`} preserveAspectRatio="none" aria-hidden="true">
      <path class="mark-rest" d={`M0 9h${count}v1H0z`} />
      <path class="mark-event" d={barsOf(columns, EVENT, BARS.event)} />
      <path class="mark-call" d={barsOf(columns, CALL, BARS.call)} />
      <path class="mark-problem" d={barsOf(columns, PROBLEM, BARS.problem)} />
      {index < 0 ? null : (
        <rect
          class="mark-selected"
          x={(index / entries.length) * count}
          y="0"
          width={Math.max(count / 200, count / entries.length)}
          height="10"
        />
      )}
    </svg>
  )
}

const CALL = 1
const EVENT = 2
const PROBLEM = 4

/** What happened in each of `count` equal parts of the journal, as a sum of `CALL`, `EVENT` and `PROBLEM`. */
function columnsOf(entries: readonly Entry[], count: number): Uint8Array {
  const columns = new Uint8Array(count)
  entries.forEach((entry, index) => {
    const column = Math.floor((index * count) / entries.length)
    const isEvent = entry.kind === 'event' || entry.kind === 'delivery'
    const kind = entry.kind === 'api' ? CALL : isEvent ? EVENT : 0
    columns[column] = (columns[column] ?? 0) | kind | (isProblem(entry) ? PROBLEM : 0)
  })
  return columns
}

function barsOf(columns: Uint8Array, what: number, { top, height }: Bar): string {
  let path = ''
  columns.forEach((found, index) => {
    if ((found & what) !== 0) path += `M${index + 0.1} ${top}h0.8v${height}h-0.8z`
  })
  return path
}

/** The journal to draw, which changes at most once in `REDRAW_MS`. One that begins again is drawn at once. */
function useDrawnLog(log: JournalLog): JournalLog {
  const newest = useRef(log)
  const [drawn, setDrawn] = useState(log)
  newest.current = log
  useEffect(() => {
    if (drawn === log) return
    const timer = wallTimer(REDRAW_MS, () => setDrawn(newest.current))
    return () => timer.cancel()
  }, [drawn, drawn === log, log.entries])
  return drawn.entries === log.entries ? drawn : log
}

/** Says that an earlier moment is shown, and returns to now. */
export function MomentBanner() {
  const { view, log } = useSession()
  const at = view.at.value
  if (at === null) return null
  const entry = log.value.entry(at)
  return (
    <div class="moment-banner" role="status">
      <p>
        <strong>You see an earlier moment:</strong> #{at}
        {entry === undefined ? '' : `, ${timeOfDay(entry.time)}`}. Chat and platform show it too.
      </p>
      <button type="button" class="primary" onClick={() => (view.at.value = null)}>
        Back to now
      </button>
    </div>
  )
}
