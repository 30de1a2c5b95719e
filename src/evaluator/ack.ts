/** What the webhook answered to the event of a step. */

import { WEBHOOK_EVENTS, type WebhookEventName } from '../contract/events.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import type { AckWanted } from '../scenario/action.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { formatDuration, parseDuration } from '../text/duration.ts'
import { failureText } from '../wording/delivery.ts'
import { earlyEndText } from '../wording/run-failures.ts'
import type { Delivery, JournalIndex } from './journal-index.ts'
import { plainText } from './matching/value-text.ts'
import { isUnreachable, wasReachable } from './reachability.ts'
import { type FailureDetails, OPEN, PASSED, type StepResult } from './step-evaluator.ts'
import { seconds } from './wording.ts'

/** Null when the step sends no event, or wants no answer. The last try decides. */
export function ackResult(index: JournalIndex, step: PlannedStep, over: boolean): StepResult | null {
  const { action } = step
  const id = index.endOf(step.number)?.delivery_id
  if (!('ack' in action) || action.ack === null || !id) return null
  const tries = triesOf(index, step, id)
  const last = tries.at(-1)
  const waits = action.async || last?.retry_in_ms !== undefined
  if (!over && waits && (last === undefined || last.retry_in_ms !== undefined)) return OPEN
  if (last === undefined || cameAfterwards(index, step, tries[0]!)) {
    return { outcome: 'fail', told: unanswered(index, step, action.ack) }
  }
  if (last.outcome === 'skipped') return { outcome: 'error', told: refused(index, last, action.ack, 'environment') }
  if (isAcknowledged(last, action.ack) && !isSlow(index, last)) {
    return tries.length > 1 ? PASSED : copyResult(index, step, id, action.ack)
  }
  const nobody = last.status === null && isUnreachable(last.failure) && !wasReachable(index)
  return nobody
    ? { outcome: 'error', told: refused(index, last, action.ack, 'environment') }
    : { outcome: 'fail', told: refused(index, last, action.ack, 'stimulus') }
}

/** Deliveries of this step: a replay has the id of the event it repeats. */
function deliveriesOf(index: JournalIndex, { number, action }: PlannedStep, id: string): Delivery[] {
  const begun = index.begun(number)!.seq
  const replay = action.verb === 'deliver' && action.replay !== null
  return index.deliveriesOf(id).filter(({ seq, resent }) => seq > begun && (resent === true) === replay)
}

function triesOf(index: JournalIndex, step: PlannedStep, id: string): Delivery[] {
  const own = deliveriesOf(index, step, id)
  const once = own.filter(({ duplicate }) => duplicate !== true)
  return once.length > 0 ? once : own
}

/** The step waited in vain for it, and ended the steps of its chat: what became of it then does not mend that. */
function cameAfterwards(index: JournalIndex, { number, action }: PlannedStep, first: Delivery): boolean {
  const async = 'async' in action && action.async
  return !async && first.seq > index.endOf(number)!.seq && !isSlow(index, first)
}

/** A copy that a fault made may be refused for what it is, but nothing may break on it. */
function copyResult(index: JournalIndex, step: PlannedStep, id: string, wanted: NonNullable<AckWanted>): StepResult {
  const copies = deliveriesOf(index, step, id).filter(({ duplicate }) => duplicate === true)
  const bad = copies.find(one => !isAcknowledged(one, wanted) && (one.status ?? 500) >= 500)
  if (bad === undefined) return PASSED
  const told = refused(index, bad, wanted, 'stimulus')
  const hint = 'The same event may come twice: acknowledge it again, and forward it once.'
  return { outcome: 'fail', told: { ...told, happened: `the same event again: ${whatCame(bad)}`, hint } }
}

const is2xx = (status: number) => status >= 200 && status < 300

/** Only the two named events demand exactly 200 (WH2). */
function isAcknowledged({ status, event }: Delivery, wanted: NonNullable<AckWanted>): boolean {
  if (status === null) return false
  if (wanted === 'any') return true
  if (wanted === 'non-2xx') return !is2xx(status)
  return status === wanted || (wanted === 200 && !demands200(event) && is2xx(status))
}

const demands200 = (event: string) =>
  Object.hasOwn(WEBHOOK_EVENTS, event) && WEBHOOK_EVENTS[event as WebhookEventName].demands200

/** What was slowed down on purpose has its time. */
const isSlow = ({ plan }: JournalIndex, delivery: Delivery): boolean =>
  delivery.duration_ms > plan.timeouts.ackMs && delivery.faults === undefined

const wantedText = (wanted: NonNullable<AckWanted>, event: string, ackMs: number) => {
  const status = wanted === 'any' ? 'an answer' : wanted === 'non-2xx' ? 'a refusal (no 2xx)' : `status ${wanted}`
  return `${status} from the webhook to ${event} within ${formatDuration(ackMs)}`
}

const rulesFor = (event: string, wanted: AckWanted) =>
  wanted === 'non-2xx' ? ['A4'] : demands200(event) ? ['WH2'] : ['WH1']

function unanswered(index: JournalIndex, step: PlannedStep, wanted: NonNullable<AckWanted>): FailureDetails {
  const ended = index.endOf(step.number)!
  const sent = index.entries.find(entry => isSending(entry) && entry.delivery_id === ended.delivery_id)
  const event = String((sent as { event?: string } | undefined)?.event ?? 'its event')
  const holding = index.entries.filter(isHolding).find(({ delivery_id }) => delivery_id === ended.delivery_id)
  return {
    kind: 'stimulus',
    wanted: wantedText(wanted, event, index.plan.timeouts.ackMs),
    happened: silence(index, ended),
    rules: rulesFor(event, wanted),
    nearest: [],
    marks: [sent?.seq ?? ended.seq],
    hint: SLOW_HINT,
    ...(holding === undefined ? {} : heldEvent(holding.fault, event)),
  }
}

/** A play that is cut short does not wait for all that is due. */
function silence({ ended, plan }: JournalIndex, step: Ended): string {
  const waitedMs = ended === null ? Number.POSITIVE_INFINITY : ended.at_ms - step.at_ms
  return ended?.stopped !== undefined && waitedMs < plan.timeouts.ackMs
    ? `the webhook had not answered when the scenario was stopped: ${earlyEndText(ended.stopped)}`
    : `the webhook has not answered within ${formatDuration(plan.timeouts.ackMs)}`
}
type Ended = NonNullable<ReturnType<JournalIndex['endOf']>>

const isHolding = (entry: Entry): entry is EntryOf<'fault'> =>
  entry.kind === 'fault' && (entry.effect.hold !== undefined || entry.effect.swap === true)

/** The event was not sent, so the webhook is not late. */
const heldEvent = (fault: string, event: string) => ({
  happened: `the webhook did not receive ${event}, because the fault ${fault} held it`,
  hint: 'Write async: true on the step, so that the scenario continues and later events release this one.',
})

/** An event of the platform, or a manual one. */
const isSending = (entry: Entry): entry is EntryOf<'event' | 'note'> =>
  entry.kind === 'event' || (entry.kind === 'note' && entry.note === 'event_triggered')

const SLOW_HINT = 'Answer the webhook first, and do the work after it.'

function refused(
  index: JournalIndex,
  last: Delivery,
  wanted: NonNullable<AckWanted>,
  kind: FailureDetails['kind'],
): FailureDetails {
  const hint = hintFor(index, last, wanted, isSlow(index, last))
  return {
    kind,
    wanted: wantedText(wanted, last.event, index.plan.timeouts.ackMs),
    happened: `${last.attempt > 1 ? `try ${last.attempt}: ` : ''}${whatCame(last)}`,
    rules: kind === 'environment' ? [] : rulesFor(last.event, wanted),
    nearest: [],
    marks: [last.seq],
    ...(hint === undefined ? {} : { hint }),
  }
}

const LONGEST_BODY = 120

/** What the webhook answered to a try, or why nothing came. */
export function whatCame({ status, failure, response, duration_ms, url, outcome }: Delivery): string {
  if (outcome === 'skipped') return `not sent: ${failureText(failure)}`
  if (status === null) return `no answer from ${url}: ${failureText(failure)}`
  const body = response?.body.trim() ?? ''
  const said = body === '' ? ' with an empty body' : `: ${plainText(body, LONGEST_BODY)}`
  return `answered ${status} after ${seconds(duration_ms)}${said}`
}

/** What the simulator allows; null when nobody said. */
const timeoutOf = ({ started }: JournalIndex): number | null =>
  parseDuration(String(started?.config['webhook.timeout']))

function redirectHint({ response }: Delivery): string {
  const place = response?.headers.location
  const there = place === undefined ? 'the address it leads to' : plainText(place, LONGEST_BODY)
  return `A redirect is not followed; is ${there} the webhook? Often only a final slash or http/https differs.`
}

function hintFor(index: JournalIndex, delivery: Delivery, wanted: AckWanted, slow: boolean): string | undefined {
  const { status, failure, sign } = delivery
  const tookTooLong = failure?.code === 'timeout' || failure?.code === 'connect_timeout'
  const timeoutMs = timeoutOf(index)
  if (tookTooLong && timeoutMs !== null && timeoutMs < index.plan.timeouts.ackMs) {
    return `The platform itself waits only ${formatDuration(timeoutMs)}: config: { webhook.timeout: … } makes it wait longer.`
  }
  if (slow || tookTooLong) return SLOW_HINT
  if (status === null)
    return isUnreachable(failure) ? 'Is the intermediary running, and is --target its webhook?' : undefined
  if (wanted === 'non-2xx') return 'Does the intermediary verify the signature before it does anything else?'
  if ((status === 401 || status === 403) && delivery.faults !== undefined) {
    return `The fault ${delivery.faults.join(', ')} changed this event: if refusing it is right, say ack: non-2xx on the step.`
  }
  if ((status === 401 || status === 403) && (sign ?? 'valid') === 'valid') {
    return 'The event was signed correctly: is the key the same, and is the HMAC made of the raw bytes of the body?'
  }
  if (status >= 300 && status < 400) return redirectHint(delivery)
  if (status === 404 || status === 405) return 'Is --target the address of the webhook, path included?'
  return is2xx(status) ? 'Only 200 acknowledges this event.' : undefined
}
