/** The forms of the agent's desk: who the agent is, and whether the platform accepts requests. */

import { useEffect, useState } from 'preact/hooks'
import type { AvailabilityReason, AvailabilityValue } from '../../../platform/contract/schemas.ts'
import type { AgentProfile } from './agent-side.ts'
import { ChoiceField, SwitchField, TextField } from './fields.tsx'
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
    <details class="fold">
      <summary>The agent: {profile.value.name || 'without a name'}</summary>
      <div class="form">
        {FIELDS.map(([field, label, placeholder]) => (
          <TextField
            key={field}
            label={label}
            value={profile.value[field]}
            placeholder={placeholder}
            dir="auto"
            onChange={value => change({ [field]: value })}
          />
        ))}
        {SWITCHES.map(([field, label]) => (
          <SwitchField key={field} isOn={profile.value[field]} onChange={isOn => change({ [field]: isOn })}>
            {label}
          </SwitchField>
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
    <details class="fold">
      <summary>{availabilityText(queues)}</summary>
      <fieldset class="form" disabled={session.view.at.value !== null}>
        <ChoiceField
          label="Reason"
          value={reason}
          options={REASONS}
          onChange={value => setReason(REASONS.find(([code]) => code === value)?.[0] ?? '')}
        />
        <TextField label="Queue" value={queue} placeholder="DEFAULT" onChange={setQueue} />
        <div class="buttons">
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
