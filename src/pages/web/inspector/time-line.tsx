/** Chooses the moment that is shown, with a slider over the journal, and says when it is an earlier one. */
import { useShortcuts } from '../components/shortcuts.tsx'
import type { FilteredLog } from '../model/entry-filter.ts'
import { timeOfDay } from '../model/formats.ts'
import { countUntil } from '../model/journal-log.ts'
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
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={at === null ? 'now' : `entry ${at} of ${last}`}
        min={first}
        max={last}
        value={at ?? last}
        onInput={({ currentTarget }) => show(Number(currentTarget.value))}
      />
      <button type="button" disabled={at === null} onClick={toNow}>
        Now
      </button>
    </div>
  )
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
        {entry === undefined ? '' : `, ${timeOfDay(entry.time)}`}. Chat and platform show it too, and can be changed
        only now.
      </p>
      <button type="button" class="primary" onClick={() => (view.at.value = null)}>
        Back to now
      </button>
    </div>
  )
}
