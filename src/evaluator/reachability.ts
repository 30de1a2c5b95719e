/** Whether anybody was there: an intermediary that never showed itself is a matter of the surroundings. */
import type { DeliveryFailure, Entry } from '../journal/entry.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { RunEventOf } from '../scenario/run-events.ts'
import { failureText } from '../wording/delivery.ts'
import { whatCame } from './ack.ts'
import type { Delivery, JournalIndex } from './journal-index.ts'
import type { EvaluationContext } from './step-evaluator.ts'

const UNREACHABLE: readonly string[] = [
  'connection_refused',
  'connect_timeout',
  'no_route',
  'dns_not_found',
  'dns_no_answer',
] satisfies DeliveryFailure['code'][]

export const isUnreachable = (failure: DeliveryFailure | undefined): boolean =>
  failure !== undefined && UNREACHABLE.includes(failure.code)

/** Why nobody could be reached after a step had waited in vain; null when nobody looked or somebody was there. */
export function unreachableReason({ entries }: JournalIndex): string | null {
  const gone = entries.find(entry => entry.kind === 'note' && entry.note === 'target_unreachable')
  return gone === undefined
    ? null
    : `the intermediary is gone: ${failureText((gone as RunEventOf<'target_unreachable'>).failure)}`
}

/** It answered something, or called, at any time of the play. */
export const wasReachable = ({ calls, drivers, entries }: JournalIndex): boolean =>
  calls.length > 0 ||
  drivers.some(({ outcome }) => outcome !== 'unreachable') ||
  entries.some(entry => entry.kind === 'delivery' && entry.status !== null)

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
