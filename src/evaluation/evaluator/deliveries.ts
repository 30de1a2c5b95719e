/** Reads from the journal whether the intermediary was reachable and what its webhook answered. */

import { type ConnectionFailure, certificateProblem } from '../../base/runtime/connection-failure.ts'
import { parseDuration } from '../../base/text/quantities.ts'
import { isWebhookEvent } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { DeliveryFailure, Entry, EntryOf } from '../../platform/journal/entry.ts'
import type { ExpectedAck, PlannedStep } from '../scenario/plan.ts'
import { isRunEvent } from '../scenario/run-events.ts'
import { plainText } from '../scenario/value-text.ts'
import type { AttemptResult, FailureHint, FailureKind, Happened } from './failure.ts'
import type { Delivery, JournalIndex } from './journal-index.ts'
import {
  type EvaluationContext,
  type FailureDetails,
  failureDetails,
  OPEN,
  PASSED,
  type StepResult,
} from './step-evaluator.ts'

const UNREACHABLE: readonly string[] = [
  'connection_refused',
  'connect_timeout',
  'no_route',
  'dns_not_found',
  'dns_no_answer',
] satisfies DeliveryFailure['code'][]

const isUnreachable = (failure: DeliveryFailure | undefined): boolean =>
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

/** The characters of an error page that are searched for its text. */
const LONGEST_PAGE = 4_000
const ENTITIES: Readonly<Record<string, string>> = { quot: '"', '#39': "'", lt: '<', gt: '>', amp: '&' }

/** Returns the text that an HTML page shows, such as the error page of Express, and any other body as it is. */
function visibleText(body: string): string {
  if (!/^<(!doctype html|html)\b/i.test(body)) return body
  const page = body.slice(0, LONGEST_PAGE).replace(/<(head|script|style)\b[\s\S]*?<\/\1>/gi, ' ')
  const text = page.replace(/<[^<>]*>/g, ' ').replace(/&([a-z]+|#39);/g, (_, name) => ENTITIES[name] ?? ' ')
  return text.replace(/\s+/g, ' ').trim() || body
}

const attemptResult = (delivery: Delivery): AttemptResult => ({
  event: delivery.event,
  attempt: delivery.attempt,
  status: delivery.status,
  afterMs: delivery.duration_ms,
  body: plainText(visibleText(delivery.response?.body.trim() ?? ''), LONGEST_BODY),
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

type Ack = NonNullable<ExpectedAck>

/** Null when the step sends no event, or expects no answer. The last attempt decides. */
export function ackResult(index: JournalIndex, step: PlannedStep, over: boolean): StepResult | null {
  const { action } = step
  const ended = index.endOf(step.number)
  const id = ended?.delivery_id
  if (!('ack' in action) || action.ack === null || ended === null || !id) return null
  const own = deliveriesOf(index, step, id)
  const once = own.filter(({ duplicate }) => duplicate !== true)
  const attempts: Delivery[] = once.length > 0 ? once : own

  const last = attempts.at(-1)
  const waits = action.async || last?.retry_in_ms !== undefined
  if (!over && waits && (last === undefined || last.retry_in_ms !== undefined)) return OPEN
  if (last === undefined || startedAfterwards(index, step, attempts[0] ?? last)) {
    const ack = action.ack
    const sent = index.entries.filter(isSending).find(({ delivery_id }) => delivery_id === ended.delivery_id)
    const name = sent?.event
    const event = typeof name === 'string' ? name : null
    const holding = index.entries.filter(isHolding).find(({ delivery_id }) => delivery_id === ended.delivery_id)
    const expected = { code: 'acknowledgement', event, ack, withinMs: index.plan.timeouts.ackMs } as const
    const happened: Happened =
      holding === undefined ? silence(index, ended, event) : { code: 'event_held', event, fault: holding.fault }
    const hint = { code: holding === undefined ? 'answer_first' : 'async' } as const
    const entrySeqs = [sent?.seq ?? ended.seq]
    return {
      outcome: 'fail',
      failure: failureDetails('stimulus', expected, happened, { rules: rulesFor(event ?? '', ack), entrySeqs, hint }),
    }
  }
  if (last.outcome === 'skipped') return refusal(index, last, action.ack, 'environment')
  if (isAcknowledged(last, action.ack) && !isSlow(index, last)) {
    return attempts.length > 1 ? PASSED : copyResult(index, step, id, action.ack)
  }
  const absent = last.status === null && isUnreachable(last.failure) && !wasReachable(index)
  return refusal(index, last, action.ack, absent ? 'environment' : 'stimulus')
}

/** Deliveries of this step: a replay has the id of the event it repeats. */
function deliveriesOf(index: JournalIndex, { number, action }: PlannedStep, id: string): Delivery[] {
  const begun = index.startOf(number).seq
  const replay = action.verb === 'deliver' && action.replay !== null
  return index.deliveriesOf(id).filter(({ seq, resent }) => seq > begun && (resent === true) === replay)
}

/** The step ran out of time before the first attempt, and ended the steps of its chat: a later answer changes nothing. */
function startedAfterwards(index: JournalIndex, { number, action }: PlannedStep, first: Delivery): boolean {
  const async = 'async' in action && action.async
  return !async && first.seq > (index.endOf(number)?.seq ?? Number.POSITIVE_INFINITY) && !isSlow(index, first)
}

/** A copy that a fault made may be refused, but must not break the receiver. */
function copyResult(index: JournalIndex, step: PlannedStep, id: string, ack: Ack): StepResult {
  const copies = deliveriesOf(index, step, id).filter(({ duplicate }) => duplicate === true)
  const bad = copies.find(one => !isAcknowledged(one, ack) && (one.status ?? 500) >= 500)
  if (bad === undefined) return PASSED
  return { outcome: 'fail', failure: notAcknowledged(index, bad, ack, 'stimulus', { code: 'event_twice' }, true) }
}

const is2xx = (status: number) => status >= 200 && status < 300

/** Only the two named events require exactly 200 (WH2). */
function isAcknowledged({ status, event }: Delivery, ack: Ack): boolean {
  if (status === null) return false
  if (ack === 'any') return true
  if (ack === 'non-2xx') return !is2xx(status)
  return status === ack || (ack === 200 && !requires200(event) && is2xx(status))
}

const requires200 = (event: string) => isWebhookEvent(event) && WEBHOOK_EVENTS[event].demands200

/** Deliveries that a fault slowed down may take longer. */
const isSlow = ({ plan }: JournalIndex, delivery: Delivery): boolean =>
  delivery.duration_ms > plan.timeouts.ackMs && delivery.faults === undefined

const rulesFor = (event: string, ack: ExpectedAck) =>
  ack === 'non-2xx' ? ['A4'] : requires200(event) ? ['WH2'] : ['WH1']

/** A play that is cut short does not wait for every answer that is due. */
function silence({ ended, plan }: JournalIndex, step: Ended, event: string | null): Happened {
  const waitedMs = ended === null ? Number.POSITIVE_INFINITY : ended.at_ms - step.at_ms
  return ended?.stopped !== undefined && waitedMs < plan.timeouts.ackMs
    ? { code: 'no_answer_before_stop', event, cause: ended.stopped }
    : { code: 'no_answer', event, withinMs: plan.timeouts.ackMs }
}
type Ended = NonNullable<ReturnType<JournalIndex['endOf']>>

/** A fault that held the event: then the webhook is not late. */
const isHolding = (entry: Entry): entry is EntryOf<'fault'> =>
  entry.kind === 'fault' && (entry.effect.hold !== undefined || entry.effect.swap === true)

/** By the platform, or by hand. */
const isSending = (entry: Entry): entry is EntryOf<'event' | 'note'> =>
  entry.kind === 'event' || (entry.kind === 'note' && entry.note === 'event_triggered')

function refusal(index: JournalIndex, last: Delivery, ack: Ack, kind: 'environment' | 'stimulus'): StepResult {
  const failure = notAcknowledged(index, last, ack, kind, hintFor(index, last, ack))
  return { outcome: kind === 'environment' ? 'error' : 'fail', failure }
}

function notAcknowledged(
  { plan }: JournalIndex,
  delivery: Delivery,
  ack: Ack,
  kind: FailureKind,
  hint: FailureHint | undefined,
  copy = false,
): FailureDetails {
  const { seq, event } = delivery
  const { ackMs: withinMs } = plan.timeouts
  const rules = kind === 'environment' ? [] : rulesFor(event, ack)
  return failureDetails(
    kind,
    { code: 'acknowledgement', event, ack, withinMs },
    { code: 'not_acknowledged', ack, withinMs, result: attemptResult(delivery), copy },
    { rules, entrySeqs: [seq], ...(hint && { hint }) },
  )
}

/** How long the simulator waits for an answer; null when the journal does not say. */
const timeoutOf = ({ started }: JournalIndex): number | null =>
  parseDuration(String(started?.config['webhook.timeout']))

function hintFor(index: JournalIndex, delivery: Delivery, ack: Ack): FailureHint | undefined {
  const { status, failure } = delivery
  const timedOut = failure?.code === 'timeout' || failure?.code === 'connect_timeout'
  const timeoutMs = timeoutOf(index)
  if (timedOut && timeoutMs !== null && timeoutMs < index.plan.timeouts.ackMs)
    return { code: 'platform_timeout', ms: timeoutMs }
  if (isSlow(index, delivery) || timedOut) return { code: 'answer_first' }
  const problem = certificateProblem(failure)
  if (problem !== undefined) return { code: problem }
  if (status === null) return isUnreachable(failure) ? { code: 'is_running' } : undefined
  return ack === 'non-2xx' ? { code: 'verify_first' } : hintForStatus(delivery, status)
}

const LONGEST_LOCATION = 120

function hintForStatus({ faults, sign, response }: Delivery, status: number): FailureHint | undefined {
  const refused = status === 401 || status === 403
  if (refused && faults !== undefined) return { code: 'fault_refused', faults }
  if (refused && (sign ?? 'valid') === 'valid') return { code: 'signed_correctly' }
  const location = response?.headers.location
  if (status >= 300 && status < 400)
    return { code: 'redirect', location: location === undefined ? null : plainText(location, LONGEST_LOCATION) }
  if (status === 404 || status === 405) return { code: 'webhook_address' }
  return is2xx(status) ? { code: 'only_200' } : undefined
}
