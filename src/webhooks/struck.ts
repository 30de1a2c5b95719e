/** Describes the faults of an event for the journal. */
import { CONNECTION_EFFECTS } from '../faults/effects.ts'
import type { AppliedWebhookFaults } from '../faults/registry.ts'
import type { DeliveryContent, EntryOf, FaultContent } from '../journal/entry.ts'

/** One entry for each applied fault. A webhook that is a function has no connection. */
export function faultEntries(
  event: EntryOf<'event'>,
  { hits }: AppliedWebhookFaults,
  hasConnection: boolean,
): FaultContent[] {
  const { chat_id, delivery_id } = event
  return hits.map(hit => {
    const left = hasConnection ? [] : CONNECTION_EFFECTS.filter(name => hit.effect[name] !== undefined)
    const notApplied = left.length === 0 ? {} : { not_applied: left }
    return { kind: 'fault', chat_id, ...hit, event: event.event, delivery_id, ...notApplied }
  })
}

type Marks = Pick<DeliveryContent, 'faults' | 'sign'>

/** Of the first attempt and its copies; a retry is a valid request. */
export const faultMarks = ({ faults, form }: Pick<AppliedWebhookFaults, 'faults' | 'form'>): Marks => ({
  faults,
  ...(form.sign === 'valid' ? {} : { sign: form.sign }),
})
