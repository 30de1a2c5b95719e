/** What the journal says of an event that faults struck. */
import type { WebhookStrike } from '../faults/registry.ts'
import type { DeliveryContent, EntryOf, FaultContent } from '../journal/entry.ts'

const NO_WIRE = 'no wire: the webhook is a function'

/** One entry for each fault. */
export function faultEntries(event: EntryOf<'event'>, { hits }: WebhookStrike, hasWire: boolean): FaultContent[] {
  const { chat_id, delivery_id } = event
  return hits.map(({ needsWire, ...hit }) => ({
    kind: 'fault',
    chat_id,
    ...hit,
    event: event.event,
    delivery_id,
    ...(needsWire && !hasWire ? { applied: NO_WIRE } : {}),
  }))
}

/** On the first attempt and its copies; a retry goes out as it should. */
export const marksOf = ({
  names,
  form,
}: Pick<WebhookStrike, 'names' | 'form'>): Pick<DeliveryContent, 'fault' | 'sign'> => ({
  fault: names,
  ...(form.sign === 'valid' ? {} : { sign: form.sign }),
})
