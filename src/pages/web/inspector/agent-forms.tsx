/** The forms of the agent's desk: who the agent is, and whether the platform accepts requests. */

import { useEffect, useState } from 'preact/hooks'
import type { AvailabilityReason, AvailabilityValue } from '../../../platform/contract/schemas.ts'
import type { AgentProfile } from './agent-side.ts'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

const FIELDS = [
  ['name', 'Name', 'Anna'],
  ['avatar', 'Avatar', 'https://… (address of an image)'],
  ['languages', 'Languages', 'Codes such as nb, en. Other languages are translated'],
] as const

const SWITCHES = [
  ['supportsAttachment', 'Users can send files'],
  ['showsTyping', 'Show the user that I type'],
] as const

/** Changes count from the next call on; most take effect with the next Accept. */
export function AgentProfileForm() {
  const { profile } = useSession().agentSide
  const change = (part: Partial<AgentProfile>) => {
    profile.value = { ...profile.value, ...part }
  }
  return (
    <details>
      <summary class="desk-summary">The agent: {profile.value.name || 'without a name'}</summary>
      <div class="desk-form">
        {FIELDS.map(([field, label, placeholder]) => (
          <label key={field}>
            {label}
            <input
              value={profile.value[field]}
              placeholder={placeholder}
              autocomplete="off"
              dir="auto"
              onInput={({ currentTarget: { value } }) => change({ [field]: value })}
            />
          </label>
        ))}
        {SWITCHES.map(([field, label]) => (
          <label key={field} class="switch">
            <input
              type="checkbox"
              checked={profile.value[field]}
              onChange={({ currentTarget: { checked } }) => change({ [field]: checked })}
            />
            {label}
          </label>
        ))}
        <p class="hint">Languages and files belong to the next Accept.</p>
      </div>
    </details>
  )
}

interface QueueState {
  readonly queue: string
  readonly availability: AvailabilityValue
  readonly open: boolean
}

const REASONS: readonly (readonly [AvailabilityReason | '', string])[] = [
  ['', 'No reason'],
  ['AGENT_AVAILABILITY', 'Agents (AGENT_AVAILABILITY)'],
  ['BUSINESS_HOURS', 'Business hours (BUSINESS_HOURS)'],
  ['OTHER', 'Other (OTHER)'],
]

export function AvailabilityForm() {
  const session = useSession()
  const side = session.agentSide
  const queues = useQueues(session)
  const [reason, setReason] = useState<AvailabilityReason | ''>('AGENT_AVAILABILITY')
  const [queue, setQueue] = useState('')
  const set = (availability: AvailabilityValue) =>
    side.call('availability', session.chatId.peek(), {
      availability,
      ...(queue === '' ? {} : { queue }),
      ...(reason === '' ? {} : { reason }),
    })
  return (
    <details>
      <summary class="desk-summary">{availabilityText(queues)}</summary>
      <fieldset class="desk-actions desk-form" disabled={session.view.at.value !== null}>
        <label>
          Reason
          <select
            value={reason}
            onChange={({ currentTarget: { value } }) => setReason(REASONS.find(([code]) => code === value)?.[0] ?? '')}
          >
            {REASONS.map(([code, text]) => (
              <option key={code} value={code}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          Queue
          <input value={queue} placeholder="DEFAULT" onInput={({ currentTarget: { value } }) => setQueue(value)} />
        </label>
        <div class="agent-buttons">
          <button type="button" onClick={() => set('OPEN')}>
            Set to OPEN
          </button>
          <button type="button" onClick={() => set('CLOSED')}>
            Set to CLOSED
          </button>
        </div>
      </fieldset>
    </details>
  )
}

function availabilityText(queues: readonly QueueState[]): string {
  const [first] = queues
  if (first === undefined) return 'Availability'
  if (first.availability === 'OPEN' && !first.open) return 'Availability: OPEN, outside the business hours'
  return `Availability: ${first.availability}`
}

/** Read again when the journal has a change. */
function useQueues(session: Session): readonly QueueState[] {
  const [queues, setQueues] = useState<readonly QueueState[]>([])
  const { availabilitySeq } = session.agentSide.queue.value
  useEffect(
    () =>
      session.act(async () => {
        const { availability } = await session.client.send<{ availability: QueueState[] }>('GET', '/state')
        setQueues(availability)
      }),
    [session, availabilitySeq],
  )
  return queues
}
