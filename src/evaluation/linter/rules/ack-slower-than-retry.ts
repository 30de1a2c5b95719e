import { formatDuration } from '../../../base/text/quantities.ts'
import type { EntryOf } from '../../../platform/journal/entry.ts'
import type { LinterRule } from './rule.ts'

/** A webhook that times out has received the event, and may still be working on it when the event comes again. */
export const ackSlowerThanRetry: LinterRule = {
  id: 'ack-slower-than-retry',
  *findInChat(chat) {
    const attempts: EntryOf<'delivery'>[] = []
    for (const entry of chat) if (entry.kind === 'delivery' && entry.duplicate !== true) attempts.push(entry)
    for (const { delivery_id: id, event, failure, retry_in_ms: retryMs, seq: deliverySeq } of attempts) {
      const repeatedSeq = attempts.find(one => one.delivery_id === id && one.seq > deliverySeq)?.seq
      if (failure?.code !== 'timeout' || retryMs === undefined || repeatedSeq === undefined) continue
      const happened = `The webhook did not answer ${event} (#${deliverySeq}) within ${formatDuration(failure.timeout_ms)}, so it was sent again ${formatDuration(retryMs)} later (#${repeatedSeq}). The intermediary received it twice, and may do the work twice: events have no id that shows a copy. Store the event, answer 200, then do the work.`
      yield { happened, entrySeqs: [deliverySeq, repeatedSeq] }
    }
  },
}
