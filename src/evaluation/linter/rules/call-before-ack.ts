import type { EntryOf } from '../../../platform/journal/entry.ts'
import { type Call, callText, type LinterRule } from './rule.ts'

/** The answer to a webhook and a call made right after it may be recorded in either order. */
const MARGIN_MS = 50

export const callBeforeAck: LinterRule = {
  id: 'call-before-ack',
  *findInChat(chat) {
    const calls = chat.filter(entry => entry.kind === 'api')
    for (const delivery of chat) {
      if (delivery.kind !== 'delivery') continue
      const { event, seq: deliverySeq } = delivery
      // Manual events, resent events and events changed by a fault cause no calls.
      if (event !== 'REQUESTING TAKEOVER' && event !== 'MESSAGE FROM USER') continue
      if (delivery.triggered || delivery.resent || delivery.faults !== undefined) continue
      const call = calls.find(one => one.follows === delivery.cause && isAnsweredDuring(one, delivery))
      if (call === undefined) continue
      const earlyMs = Math.round(delivery.at_ms - call.at_ms)
      const happened = `${callText(call)} was made ${earlyMs} ms before the webhook answered ${event} (#${deliverySeq}). A platform that waits for the webhook before it serves the chat never answers that call, and a slow API makes the webhook time out. Store the event, answer 200, then call the API.`
      yield { happened, entrySeqs: [call.seq, deliverySeq] }
    }
  },
}

/** Whether the webhook answered after it had made this call and received the answer. `at_ms` of an entry is its end. */
export function isAnsweredDuring(call: Call, delivery: EntryOf<'delivery'>): boolean {
  const calledMs = call.at_ms - call.duration_ms
  const sentMs = delivery.at_ms - delivery.duration_ms
  return calledMs >= sentMs && calledMs + MARGIN_MS <= delivery.at_ms && call.at_ms <= delivery.at_ms
}
