/** Chooses the moment that is shown: a slider over the journal, with a mark for each call, event and problem. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { wallTimer } from '../../../base/runtime/clock.ts'
import { useShortcut } from '../components/shortcuts.tsx'
import type { FilteredLog } from '../model/entry-filter.ts'
import { timeOfDay } from '../model/formats.ts'
import { countUntil } from '../model/journal-log.ts'
import type { MarkColumn } from '../model/time-marks.ts'
import type { Session } from './session.ts'

export interface TimeLineProps {
  readonly session: Session
  readonly filtered: FilteredLog
}

export function TimeLine({ session, filtered }: TimeLineProps) {
  const { view, log, version } = session
  const { entries } = version.value >= 0 ? log.value : log.value
  const [first, last] = [entries[0]?.seq ?? 0, entries.at(-1)?.seq ?? 0]
  const at = view.at.value
  const [back, forward] = useSteps(session, filtered)
  return (
    <div class="time-line">
      <button type="button" aria-label="One entry back" disabled={(at ?? last) <= first} onClick={back}>
        ‹
      </button>
      <button type="button" aria-label="One entry forward" disabled={at === null} onClick={forward}>
        ›
      </button>
      <div class="time-line-track">
        <Marks session={session} />
        <input
          type="range"
          aria-label="Moment"
          aria-valuetext={at === null ? 'now' : `entry ${at} of ${last}`}
          min={first}
          max={last}
          value={at ?? last}
          onInput={({ currentTarget }) => show(session, Number(currentTarget.value))}
        />
      </div>
      <button type="button" disabled={at === null} onClick={() => (view.at.value = null)}>
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

/** The moment of the last entry is now. */
function show({ view, log }: Session, seq: number): void {
  view.at.value = seq >= (log.peek().entries.at(-1)?.seq ?? 0) ? null : seq
}

/** Steps pass only entries that the filter shows. */
function useSteps(session: Session, filtered: FilteredLog): readonly [back: () => void, forward: () => void] {
  const { view } = session
  const [back, forward, now, here] = useMemo(
    () =>
      [
        () => step(session, filtered, -1),
        () => step(session, filtered, 1),
        () => (view.at.value = null),
        () => (view.at.value = view.entry.value),
      ] as const,
    [session, filtered, view],
  )
  useShortcut('ArrowLeft', 'Time', 'Go one entry back in time', back)
  useShortcut('ArrowRight', 'Time', 'Go one entry forward in time', forward)
  useShortcut('t', 'Time', 'Show the moment of the selected entry', here)
  useShortcut('.', 'Time', 'Show now', now)
  return [back, forward]
}

/** The selection moves along. */
function step(session: Session, { entries }: FilteredLog, by: 1 | -1): void {
  const { view } = session
  const at = view.at.peek()
  const entry = entries[Math.max(0, indexOfMoment(session, entries, at) + by)]
  if (entry === undefined) {
    view.at.value = null
    return
  }
  view.entry.value = entry.seq
  show(session, entry.seq)
}

/** Now is after the last entry that the filter shows, unless that is the last of all. */
function indexOfMoment({ log }: Session, entries: FilteredLog['entries'], at: number | null): number {
  if (at !== null) return countUntil(entries, at) - 1
  return entries.at(-1)?.seq === log.peek().entries.at(-1)?.seq ? entries.length - 1 : entries.length
}

/** More columns than most screens can show apart. */
const COLUMNS = 400
/** So often the marks are drawn again while entries arrive. */
const REDRAW_MS = 250

/** One drawing for all entries; it is not drawn for every frame. */
function Marks({ session: { log, view, version } }: Pick<TimeLineProps, 'session'>) {
  const drawn = useDrawnVersion(log.value, version.value)
  const { entries, marks } = log.value
  const count = Math.min(COLUMNS, Math.max(1, entries.length))
  const columns = useMemo(() => marks.columns(count), [drawn, marks, count])
  const selected = view.entry.value
  const index = selected === null ? -1 : countUntil(entries, selected) - 1
  return (
    <svg class="time-line-marks" viewBox={`0 0 ${count} 10`} preserveAspectRatio="none" aria-hidden="true">
      <path class="mark-rest" d={`M0 9h${count}v1H0z`} />
      <path class="mark-event" d={barsOf(columns, column => column.hasEvent, BARS.event)} />
      <path class="mark-call" d={barsOf(columns, column => column.hasCall, BARS.call)} />
      <path class="mark-problem" d={barsOf(columns, column => column.hasProblem, BARS.problem)} />
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

/** Neighbouring columns with a mark are one bar. */
function barsOf(columns: readonly MarkColumn[], has: (column: MarkColumn) => boolean, { top, height }: Bar) {
  let path = ''
  columns.forEach((column, index) => {
    if (has(column)) path += `M${index + 0.1} ${top}h0.8v${height}h-0.8z`
  })
  return path
}

/** The version to draw, which changes at most once in `REDRAW_MS`. A journal that begins again is drawn at once. */
function useDrawnVersion(log: Session['log']['value'], version: number): number {
  const newest = useRef(version)
  const [drawn, setDrawn] = useState(version)
  newest.current = version
  useEffect(() => {
    if (drawn === version) return
    const timer = wallTimer(REDRAW_MS, () => setDrawn(newest.current))
    return () => timer.cancel()
  }, [drawn, drawn === version, log])
  return drawn
}

/** Says that an earlier moment is shown, and returns to now. */
export function MomentBanner({ session: { view, log, version } }: Pick<TimeLineProps, 'session'>) {
  const at = view.at.value
  if (at === null || version.value < 0) return null
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
