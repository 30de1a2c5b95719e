/** Edits the business hours: a time zone, and the hours of each day of the week. */

import { type DayHours, isAboutDay, usualWeek, type WeekHours, weekOf, writtenWeek } from '../../model/week-hours.ts'
import { OtherProblems, problemOf, SwitchField, TextField } from '../fields.tsx'
import { useDraft } from '../session-context.ts'
import { patchConfig, useSaving } from './platform-section.tsx'

const DAY_NAMES: Readonly<Record<string, string>> = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
}

export interface BusinessHoursFormProps {
  readonly written: unknown
  onClose(): void
}

export function BusinessHoursForm({ written, onClose }: BusinessHoursFormProps) {
  const [draft, setWeek] = useDraft<WeekHours | null>('hours', null)
  const week = draft ?? weekOf(written) ?? usualWeek(Intl.DateTimeFormat().resolvedOptions().timeZone)
  const close = () => {
    setWeek(null)
    onClose()
  }
  const saving = useSaving()
  const set = async (value: unknown) => {
    if (await saving.save(patchConfig({ business_hours: value }))) close()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    void set(writtenWeek(week))
  }
  const setDay = (changed: DayHours) =>
    setWeek({ ...week, days: week.days.map(one => (one.day === changed.day ? changed : one)) })
  return (
    <form class="stack" onSubmit={submit} noValidate>
      <TextField
        label="Time zone"
        suggestions={Intl.supportedValuesOf('timeZone')}
        value={week.timeZone}
        problem={problemOf(saving.issues, 'business_hours.time_zone')}
        onChange={timeZone => setWeek({ ...week, timeZone })}
      />
      {week.days.map(day => (
        <DayRow
          key={day.day}
          hours={day}
          isWrong={saving.issues.some(({ field }) => isAboutDay(field, day.day, week))}
          onChange={setDay}
        />
      ))}
      <OtherProblems issues={saving.issues} names={['business_hours.time_zone']} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={saving.isPending}>
          Set the hours
        </button>
        <button type="button" disabled={saving.isPending} onClick={() => void set(null)}>
          Have none
        </button>
        <button type="button" class="quiet" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  )
}

interface DayRowProps {
  readonly hours: DayHours
  readonly isWrong: boolean
  onChange(hours: DayHours): void
}

/** Times are texts, because a day may end at 24:00. */
function DayRow({ hours, isWrong, onChange }: DayRowProps) {
  const name = DAY_NAMES[hours.day] ?? hours.day
  const time = (end: 'from' | 'to', label: string) => (
    <input
      class="platform-time"
      aria-label={`${name}, ${label}`}
      inputMode="numeric"
      placeholder="09:00"
      value={hours[end]}
      aria-invalid={isWrong}
      onInput={({ currentTarget }) => onChange({ ...hours, [end]: currentTarget.value })}
    />
  )
  return (
    <div class="platform-day">
      <SwitchField isOn={hours.isOpen} onChange={isOpen => onChange({ ...hours, isOpen })}>
        {name}
      </SwitchField>
      {hours.isOpen ? (
        <span class="platform-times">
          {time('from', 'opens')} <span aria-hidden="true">–</span> {time('to', 'closes')}
        </span>
      ) : (
        <span class="hint">closed</span>
      )}
    </div>
  )
}
