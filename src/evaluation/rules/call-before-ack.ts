import { formatMs } from '../../base/text/terminal-text.ts'
import type { CallEntry, DeliveryEntry } from '../history.ts'
import { callText, type Mistake, type Rule, right } from './rule.ts'

/** The answer to a webhook and a call made right after it may be recorded in either order. */
const MARGIN_MS = 50

export const callBeforeAck: Rule = {
  id: 'call-before-ack',
  level: 'SHOULD',
  *judgeChat(chat) {
    const calls = chat.calls.map(({ call }) => call)
    const causedByStart = readsAfterStart(calls)
    for (const { name, attempts } of chat.events) {
      // Manual events, resent events and events changed by a fault cause no calls.
      if (name !== 'REQUESTING TAKEOVER' && name !== 'MESSAGE FROM USER') continue
      for (const attempt of attempts) {
        if (attempt.triggered || attempt.resent || attempt.faults !== undefined) continue
        const following = calls.filter(call => call.follows === attempt.cause && !causedByStart.has(call))
        const [first] = following
        const mistake = callsBeforeAck(following, attempt)
        if (mistake !== null) yield mistake
        else if (first !== undefined && attempt.status === 200) yield right(first)
      }
    }
  },
}

/** The first read of a transcript after each start, which the start causes and no event: it has what was written before. */
function readsAfterStart(calls: readonly CallEntry[]): Set<CallEntry> {
  const reads = new Set<CallEntry>()
  let isRead = true
  for (const call of calls) {
    if (call.endpoint === 'start') isRead = false
    if (isRead || (call.endpoint !== 'chat' && call.endpoint !== 'transcript')) continue
    reads.add(call)
    isRead = true
  }
  return reads
}

/** Which of these calls were answered before the event was acknowledged; null when none was. */
export function callsBeforeAck(calls: readonly CallEntry[], attempt: DeliveryEntry): Mistake | null {
  const early = calls.filter(call => isAnsweredDuring(call, attempt))
  const [first] = early
  if (first === undefined) return null
  const { event, seq, duration_ms: ackMs } = attempt
  const costMs = Math.max(...early.map(({ at_ms }) => at_ms)) - (first.at_ms - first.duration_ms)
  const made = early.length === 1 ? callText(first) : `${early.length} calls, first ${callText(first)},`
  return {
    happened: `The intermediary made ${made} before it answered ${event} (#${seq}): ${formatMs(costMs)} of the ${formatMs(ackMs)} until the answer. A platform that waits for the webhook before it serves the chat never answers such a call, and a slow API makes the webhook time out.`,
    hint: 'Store the event, answer 200, and do everything else after that: put the work into a queue or a background task, and do not await it in the handler.',
    details: { event, call: `${first.method} ${first.path}`, calls: early.length, ackMs, costMs },
    entries: [...early, attempt],
  }
}

/** Whether the webhook answered after it had made this call and received the answer. `at_ms` of an entry is its end. */
function isAnsweredDuring(call: CallEntry, delivery: DeliveryEntry): boolean {
  const calledMs = call.at_ms - call.duration_ms
  const sentMs = delivery.at_ms - delivery.duration_ms
  return calledMs >= sentMs && calledMs + MARGIN_MS <= delivery.at_ms && call.at_ms <= delivery.at_ms
}
