/** What the user did and the webhook did not take: nothing can come of it. */
import type { Entry } from '../journal/entry.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { whatCame } from './ack.ts'
import type { Delivery, JournalIndex } from './journal-index.ts'
import type { EvaluationContext } from './step-evaluator.ts'

const OF_USERS = ['REQUESTING TAKEOVER', 'MESSAGE FROM USER']

/** Of the latest thing the user did in the turn of a step; null when it arrived, or is still on its way. */
export function notTakenHint({ index, windows }: EvaluationContext, step: PlannedStep): string | null {
  const from = windows.stimulus(step)
  return from.step === null ? null : notTakenSince(index, step.conversation, from.seq)
}

/** Of the latest thing the user of a lane did after an entry. */
export function notTakenSince(index: JournalIndex, conversation: string, seq: number): string | null {
  const own = (entry: Entry): entry is Delivery =>
    entry.kind === 'delivery' &&
    entry.seq > seq &&
    OF_USERS.includes(entry.event) &&
    index.conversationOfChat(entry.chat_id) === conversation
  const last = index.entries.findLast(own)
  if (last === undefined || last.outcome === 'delivered') return null
  return `The webhook did not take ${last.event}: ${whatCame(last)}`
}
