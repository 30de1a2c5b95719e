/** Reads from the journal whether the intermediary was reachable and what its webhook answered. */
import type { DeliveryFailure, Entry } from '../journal/entry.ts'
import type { ConnectionFailure } from '../runtime/connection-failure.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { isRunEvent } from '../scenario/run-events.ts'
import type { AttemptResult, FailureHint } from './hint.ts'
import type { Delivery, JournalIndex } from './journal-index.ts'
import { plainText } from './matching/value-text.ts'
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

/** Why the intermediary could not be reached when a step ran out of time; null when it could, or was not tried. */
export function unreachableReason({ entries }: JournalIndex): ConnectionFailure | null {
  const unreachable = entries.find(entry => isRunEvent(entry, 'target_unreachable'))
  return unreachable?.failure ?? null
}

/** Whether it answered or called at any time of the play. */
export const wasReachable = ({ calls, drivers, entries }: JournalIndex): boolean =>
  calls.length > 0 ||
  drivers.some(({ outcome }) => outcome !== 'unreachable') ||
  entries.some(entry => entry.kind === 'delivery' && entry.status !== null)

const LONGEST_BODY = 120

export const attemptResult = (delivery: Delivery): AttemptResult => ({
  event: delivery.event,
  attempt: delivery.attempt,
  status: delivery.status,
  afterMs: delivery.duration_ms,
  body: plainText(delivery.response?.body.trim() ?? '', LONGEST_BODY),
  url: delivery.url,
  sent: delivery.outcome !== 'skipped',
  sign: delivery.sign ?? 'valid',
  ...(delivery.failure === undefined ? {} : { failure: delivery.failure }),
})

const OF_USERS = ['REQUESTING TAKEOVER', 'MESSAGE FROM USER']

/** Explains a missing reaction by the latest event of the user in the turn of a step, when the webhook refused it. */
export function refusedEventHint({ index, windows }: EvaluationContext, step: PlannedStep): FailureHint | null {
  const from = windows.stimulus(step)
  return from.step === null ? null : refusedEventSince(index, step.conversation, from.seq)
}

/** The same for the latest event of a conversation's user after an entry. */
export function refusedEventSince(index: JournalIndex, conversation: string, seq: number): FailureHint | null {
  const own = (entry: Entry): entry is Delivery =>
    entry.kind === 'delivery' &&
    entry.seq > seq &&
    OF_USERS.includes(entry.event) &&
    index.conversationOfChat(entry.chat_id) === conversation
  const last = index.entries.findLast(own)
  if (last === undefined || last.outcome === 'delivered') return null
  return { code: 'event_refused', result: attemptResult(last) }
}
