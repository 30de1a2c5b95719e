/** Chooses the moment that is shown: a slider over the journal, with a mark for each call, event and problem. */
import type { FilteredLog } from '../model/entry-filter.ts'
import type { Session } from './session.ts'

export interface TimeLineProps {
  readonly session: Session
  readonly filtered: FilteredLog
}

export function TimeLine({ session: { view, log, version } }: TimeLineProps) {
  const { entries } = version.value >= 0 ? log.value : log.value
  const [first, last] = [entries[0]?.seq ?? 0, entries.at(-1)?.seq ?? 0]
  const at = view.at.value
  return (
    <div class="time-line">
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={at === null ? 'now' : `entry ${at} of ${last}`}
        min={first}
        max={last}
        value={at ?? last}
        onInput={({ currentTarget }) => {
          const seq = Number(currentTarget.value)
          view.at.value = seq >= last ? null : seq
        }}
      />
      <button type="button" disabled={at === null} onClick={() => (view.at.value = null)}>
        Now
      </button>
    </div>
  )
}
