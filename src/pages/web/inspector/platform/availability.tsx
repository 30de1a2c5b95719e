/** Shows and sets whether handover is open: the availability of each queue, and the business hours. */
import { useMemo } from 'preact/hooks'
import { isMap } from '../../../../base/objects.ts'
import { isoMicros } from '../../../../base/runtime/clock.ts'
import { nextChange, readBusinessHours, withinHours } from '../../../../platform/rules/business-hours.ts'
import { JsonEditor } from '../../components/json-editor.tsx'
import { moment as momentText } from '../../model/formats.ts'
import { parseJsonText } from '../../model/json-text.ts'
import { ChoiceField, DialogButtons, OtherProblems } from '../fields.tsx'
import { useDraft } from '../session-context.ts'
import { useShownTime } from './clock.tsx'
import { PlatformSection, usePlatform, useSaving } from './platform-section.tsx'
import type { PlatformMoment } from './platform-store.ts'

const REASONS = { AGENT_AVAILABILITY: 'agents', BUSINESS_HOURS: 'business hours', OTHER: 'other' }

export function AvailabilitySection() {
  const moment = usePlatform()
  const { queues, config } = moment
  const hours = useHours(config.business_hours)
  const now = useShownTime(moment)
  const isInHours = hours === null || withinHours(hours, now)
  const changesMs = hours === null ? null : nextChange(hours, now)
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
      {hours === null || changesMs === null ? null : (
        <p class="hint">
          {isInHours ? 'The hours end' : 'The hours begin'} at {momentText(isoMicros(changesMs * 1000))}.
        </p>
      )}
      <BusinessHours />
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
    void saving.send('PUT', '/availability', body)
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
      <OtherProblems issues={saving.issues} names={[]} />
    </div>
  )
}

function sinceText({ updated_at, reason }: QueueState): string {
  if (updated_at === null) return 'since the start'
  return `since ${momentText(updated_at)}${reason === null ? '' : `, reason ${reason}`}`
}

/** For a simulator without hours. */
const USUAL_HOURS = { time_zone: 'Europe/Oslo', 'mon-fri': '09:00-17:00' }

/** Written as in the config file. */
function BusinessHours() {
  const { config, isPast } = usePlatform()
  const written = config.business_hours
  const [isEditing, setEditing] = useDraft('hours are edited', false)
  const [typed, setTyped] = useDraft<string | null>('hours', null)
  const saving = useSaving()
  const text = typed ?? JSON.stringify(written ?? USUAL_HOURS, null, 2)
  const parsed = parseJsonText(text)
  const close = () => {
    setTyped(null)
    setEditing(false)
  }
  const set = async (value: unknown) => {
    if (await saving.send('PATCH', '/config', { business_hours: value })) close()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (parsed.isValid) void set(parsed.value ?? null)
  }
  return (
    <div class="stack platform-block">
      <h4>Business hours</h4>
      {isEditing && !isPast ? (
        <form class="stack" onSubmit={submit}>
          <JsonEditor label="Time zone, and the hours of days" text={text} rows={5} onChange={setTyped} />
          <OtherProblems issues={saving.issues} names={[]} />
          <div class="buttons">
            <button type="button" class="danger" disabled={saving.isPending} onClick={() => void set(null)}>
              Remove the hours
            </button>
            <DialogButtons act="Set the hours" isDisabled={saving.isPending || !parsed.isValid} onCancel={close} />
          </div>
        </form>
      ) : (
        <p class="platform-line">
          <span class="hint">{hoursText(written)}</span>
          <button type="button" class="quiet" disabled={isPast} onClick={() => setEditing(true)}>
            Change
          </button>
        </p>
      )}
    </div>
  )
}

/** `mon-fri 09:00-12:00 and 13:00-17:00, 2026-12-24 closed (Europe/Oslo)` */
function hoursText(written: unknown): string {
  if (!isMap(written)) return 'none: availability alone decides'
  const { time_zone, ...days } = written
  const spans = Object.entries(days).map(([day, hours]) => `${day} ${[hours ?? []].flat().join(' and ') || 'closed'}`)
  return `${spans.join(', ') || 'closed all week'} (${time_zone})`
}

/** Reads the setting again when another state of the server came, not with each second. */
function useHours(written: unknown) {
  return useMemo(() => {
    const read = isMap(written) ? readBusinessHours(written) : null
    return read === null || 'problems' in read ? null : read
  }, [written])
}
