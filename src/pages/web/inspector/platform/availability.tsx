/** Shows and sets whether handover is open: the availability of each queue, and the hours of each day of the week. */
import { moment as momentText } from '../../model/formats.ts'
import {
  type DayHours,
  hoursText,
  isAboutDay,
  isWithin,
  usualWeek,
  type WeekHours,
  weekOf,
  writtenWeek,
} from '../../model/week-hours.ts'
import { ChoiceField, FieldProblem, OtherProblems, problemOf, SwitchField, TextField } from '../fields.tsx'
import { useDraft } from '../session-context.ts'
import { useShownTime } from './clock.tsx'
import { PlatformSection, patchConfig, usePlatform, useSaving } from './platform-section.tsx'
import type { PlatformMoment } from './platform-store.ts'

const REASONS = { AGENT_AVAILABILITY: 'agents', BUSINESS_HOURS: 'business hours', OTHER: 'other' }

export function AvailabilitySection() {
  const moment = usePlatform()
  const { queues, config } = moment
  const isInHours = isWithin(config.business_hours, useShownTime(moment))
  const isOpen = isInHours && queues.some(({ queue, availability }) => queue === 'DEFAULT' && availability === 'OPEN')
  return (
    <PlatformSection
      name="availability"
      title="Availability"
      summary={<span class={`platform-state ${isOpen ? 'pass' : 'error'}`}>{isOpen ? 'Open' : 'Closed'}</span>}
    >
      {queues.map(queue => (
        <QueueForm key={`${queue.bot_id} ${queue.queue}`} queue={queue} />
      ))}
      {isInHours ? null : (
        <p class="platform-warning">It is outside of the business hours, so handover is closed whatever is set.</p>
      )}
      <Hours />
    </PlatformSection>
  )
}

type QueueState = PlatformMoment['queues'][number]

/** The route sets the queue of the main bot; other bots set theirs with their keys. */
function QueueForm({ queue }: { readonly queue: QueueState }) {
  const moment = usePlatform()
  const saving = useSaving()
  const isOwn = queue.bot_id === moment.config['bot.id']
  const name = isOwn ? queue.queue : `${queue.queue} of bot ${queue.bot_id}`
  const [reason, setReason] = useDraft('availability reason', '', name)
  const set = (availability: string) => {
    const body = { availability, queue: queue.queue, ...(reason === '' ? {} : { reason }) }
    void saving.save(client => client.send('PUT', '/availability', { body }))
  }
  return (
    <div class="stack">
      <p>
        <code>{name}</code> <b>{queue.availability}</b> <span class="hint">{sinceText(queue)}</span>
      </p>
      {isOwn ? (
        <fieldset class="buttons" disabled={moment.isPast || saving.isPending}>
          <legend class="visually-hidden">Set {name}</legend>
          {(['OPEN', 'CLOSED'] as const).map(value => (
            <button key={value} type="button" aria-pressed={queue.availability === value} onClick={() => set(value)}>
              {value === 'OPEN' ? 'Open' : 'Close'}
            </button>
          ))}
          <ChoiceField
            label="Reason"
            labelPlace="before"
            value={reason}
            options={[['', 'none'], ...Object.entries(REASONS)]}
            onChange={setReason}
          />
        </fieldset>
      ) : null}
      <FieldProblem text={problemOf(saving.issues, 'queue')} />
      <OtherProblems issues={saving.issues} names={['queue']} />
    </div>
  )
}

function sinceText({ updated_at, reason }: QueueState): string {
  if (updated_at === null) return 'as at the start (knob availability.initial)'
  return `since ${momentText(updated_at)}${reason === null ? '' : `, reason ${reason}`}`
}

function Hours() {
  const moment = usePlatform()
  const [isEditing, setEditing] = useDraft('hours are edited', false)
  const { config, isPast } = moment
  return (
    <div class="stack platform-block">
      <div class="platform-line">
        <h4>Business hours</h4>
        {isEditing ? null : (
          <button type="button" class="quiet" disabled={isPast} onClick={() => setEditing(true)}>
            Change
          </button>
        )}
      </div>
      {isEditing && !isPast ? (
        <BusinessHoursForm written={config.business_hours} onClose={() => setEditing(false)} />
      ) : (
        <p class="hint">{hoursText(config.business_hours)}</p>
      )}
    </div>
  )
}

const DAY_NAMES: Readonly<Record<string, string>> = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
}

interface BusinessHoursFormProps {
  readonly written: unknown
  onClose(): void
}

function BusinessHoursForm({ written, onClose }: BusinessHoursFormProps) {
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
