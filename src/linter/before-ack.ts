/** Calls made while the webhook they follow from was still waiting for its answer. */
import type { Entry, EntryOf } from '../journal/entry.ts'
import { callAt, perChat, type Sighting } from './rule.ts'

/** The answer to a webhook and a call made right after it may pass each other on the way. */
const MARGIN_MS = 50

const LEADS = new Set(['REQUESTING TAKEOVER', 'MESSAGE FROM USER'])

export const callBeforeAck = perChat('call-before-ack', chat => {
  const calls = chat.filter(entry => entry.kind === 'api')
  return chat.filter(isPlainDelivery).flatMap(delivery => {
    const early = calls.find(call => call.follows === delivery.cause && isWithin(call, delivery))
    return early === undefined ? [] : [tooEarly(early, delivery)]
  })
})

/** One sent by hand, or wrong on purpose, follows from nothing. */
const isPlainDelivery = (entry: Entry): entry is EntryOf<'delivery'> =>
  entry.kind === 'delivery' && LEADS.has(entry.event) && isValid(entry)

const isValid = ({ triggered, resent, faults }: EntryOf<'delivery'>) =>
  triggered !== true && resent !== true && faults === undefined

/** Entries are written at the end: `at_ms` is when the answer was there. */
function isWithin(call: EntryOf<'api'>, delivery: EntryOf<'delivery'>): boolean {
  const sentMs = delivery.at_ms - delivery.duration_ms
  return call.at_ms - call.duration_ms >= sentMs && call.at_ms + MARGIN_MS <= delivery.at_ms
}

function tooEarly(call: EntryOf<'api'>, delivery: EntryOf<'delivery'>): Sighting {
  const lateMs = Math.round(delivery.at_ms - call.at_ms)
  const message =
    `${callAt(call)} was made ${lateMs} ms before ${delivery.event} (#${delivery.seq}) was answered. A platform that ` +
    'waits for its webhook before it serves the chat would never answer that call, and a slow API makes the webhook ' +
    'time out. Write the event down, answer 200, call the API after that.'
  return { marks: [call.seq, delivery.seq], message }
}
