/** Evaluates a step that does something: whether it could be done, whether the target was reachable, what its webhook answered. */

import {
  type ConnectionFailure,
  certificateProblem,
  isCutOff,
  peerLoss,
} from '../../base/runtime/connection-failure.ts'
import { pageText } from '../../base/text/error-text.ts'
import { parseDuration } from '../../base/text/quantities.ts'
import { isWebhookEvent } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { type DriverFailure, isInboxFailure } from '../../platform/journal/run-failures.ts'
import { httpsHint } from '../../platform/wording/failures.ts'
import type { ExpectedAck, PlannedStep } from '../scenario/plan.ts'
import { type DriverCallEntry, isRunEvent } from '../scenario/run-events.ts'
import { plainText } from '../scenario/value-text.ts'
import type { AttemptResult, Expected, FailureHint, FailureKind, Happened, StepName } from './failure.ts'
import type { Delivery, JournalIndex } from './journal-index.ts'
import { type FailureDetails, failureDetails, PASSED, type StepResult, type Stimulus } from './step-evaluator.ts'

/** `isOver`: nothing more will come, so what is still open is decided as well. */
export function stimulusResult(index: JournalIndex, step: PlannedStep, isOver: boolean): StepResult {
  const failed = failedStepResult(index, step)
  if (failed !== null) return failed
  const { action, number } = step
  const end = index.findEnd(number)
  if (!('ack' in action) || action.ack === null || !end?.delivery_id) return PASSED
  const isReplay = action.verb === 'deliver' && action.replay !== null
  const start = index.getStart(number)
  return ackResult(index, { id: end.delivery_id, ack: action.ack, isAsync: action.async, isReplay, start, end }, isOver)
}

/** The result of a step of any kind that could not be run, or not to its end; null when it ran. */
export function failedStepResult(index: JournalIndex, step: PlannedStep): StepResult | null {
  const { label, action, number } = step
  const ended = index.findEnd(number)
  if (ended === null) return null
  if (ended.missing !== undefined) {
    const verbs = index.started?.driver ?? null
    const reason = { code: 'verb_missing', step: stepName(step), verb: ended.missing, verbs } as const
    return { outcome: 'inconclusive', reason }
  }
  const entrySeqs = [ended.seq]
  if (ended.interrupted) {
    const cause = index.ended?.stopped ?? null
    const { name, timeouts } = index.settings
    const expected: Expected =
      cause?.code === 'time_limit'
        ? { code: 'end_within', ms: timeouts.scenarioMs }
        : { code: 'own_end', scenario: name }
    const happened = { code: 'stopped_at_step', cause, step: stepName(step) } as const
    return { outcome: 'fail', failure: failureDetails('stopped', expected, happened, { entrySeqs }) }
  }
  const refused = driverResult(index, label, index.findStart(number)?.seq)
  const { failure } = ended
  if (refused !== null || failure === undefined) return refused
  const { verb } = action
  let kind: FailureKind = 'stimulus'
  if (failure.code === 'target_not_started') kind = 'environment'
  else if (verb === 'agent') kind = 'driver'
  else if (verb === 'expect' || verb === 'none' || verb === 'check' || verb === 'sees') kind = verb
  const happened = { code: 'step_failed', label, failure } as const
  return {
    outcome: kind === 'environment' ? 'error' : 'fail',
    failure: failureDetails(kind, { code: 'step_done', label }, happened, { entrySeqs }),
  }
}

const LONGEST_ANSWER = 120

/** Null when the driver did as asked. A failed reading of the inbox is forgiven when a later one succeeded. */
export function driverResult(index: JournalIndex, label: string, startSeq: number | undefined): StepResult | null {
  const last = index.drivers.findLast(({ cause }) => cause === startSeq)
  if (last === undefined || last.outcome === 'ok') return null
  const { how, status = null, failure = null, answer = '', seq } = last
  // Neither shows anything of the intermediary.
  const isError = isInboxFailure(failure) || isTargetAbsent(index, last)
  const hint = driverHint(last)
  const text = plainText(answer.trim(), LONGEST_ANSWER)
  const happened = { code: 'driver_failed', label, how, status, failure, answer: text } as const
  const more = { entrySeqs: [seq], ...(hint && { hint }) }
  return {
    outcome: isError ? 'error' : 'fail',
    failure: failureDetails(isError ? 'environment' : 'driver', { code: 'step_done', label }, happened, more),
  }
}

function driverHint({ status, outcome, failure }: DriverCallEntry): FailureHint | undefined {
  if (failure !== undefined && NOT_STARTED.includes(failure.code)) return { code: 'command_folder' }
  if (peerLoss(failure) === 'broken') return { code: 'broke_off' }
  if (outcome === 'unreachable') return { code: 'desk_address' }
  if (status === 404) return { code: 'desk_path' }
  return status === 409 ? { code: 'earlier_run' } : undefined
}

export const stepName = ({ number, id, label }: StepName): StepName => ({ number, id, label })

const NOT_STARTED: readonly string[] = [
  'program_not_found',
  'program_not_executable',
  'folder_not_found',
  'program_not_started',
] satisfies DriverFailure['code'][]

interface Request {
  readonly seq: number
  readonly failure?: { readonly code: string } | undefined
}

/**
 * Detects a request that found no intermediary, in a run that never reached one: an error of the environment. A
 * connection that broke shows that only when the target had ended before; otherwise the request may have broken it.
 */
function isTargetAbsent(index: JournalIndex, { seq, failure }: Request): boolean {
  const loss = peerLoss(failure)
  if (loss === null || wasReachable(index)) return false
  if (loss === 'absent') return true
  return index.entries.some(entry => entry.seq < seq && isRunEvent(entry, 'target_output') && entry.ended !== null)
}

/** Why the intermediary could not be reached when a step ran out of time; null when it could, or was not tried. */
export function unreachableReason({ entries }: JournalIndex): ConnectionFailure | null {
  for (const entry of entries) if (isRunEvent(entry, 'target_unreachable')) return entry.failure
  return null
}

/** Whether it answered or called at any time of the run. */
const wasReachable = ({ calls, drivers, entries }: JournalIndex): boolean =>
  calls.length > 0 ||
  drivers.some(({ outcome }) => outcome !== 'unreachable') ||
  entries.some(entry => entry.kind === 'delivery' && entry.status !== null)

const LONGEST_BODY = 120

const attemptResult = (delivery: Delivery): AttemptResult => ({
  event: delivery.event,
  attempt: delivery.attempt,
  status: delivery.status,
  afterMs: delivery.duration_ms,
  body: plainText(pageText(delivery.response?.body.trim() ?? ''), LONGEST_BODY),
  url: delivery.url,
  sent: delivery.outcome !== 'skipped',
  sign: delivery.sign ?? 'valid',
  ...(delivery.failure === undefined ? {} : { failure: delivery.failure }),
})

const OF_USERS = ['REQUESTING TAKEOVER', 'MESSAGE FROM USER']

/** Explains a missing reaction by the latest event of a conversation's user since a stimulus, when the webhook refused it. */
export function refusedEventHint(
  index: JournalIndex,
  conversation: string,
  since: Pick<Stimulus, 'seq'> | null,
): FailureHint | null {
  if (since === null) return null
  const last = index.entries.findLast(
    (entry): entry is Delivery =>
      entry.kind === 'delivery' &&
      entry.seq > since.seq &&
      OF_USERS.includes(entry.event) &&
      index.findConversation(entry.chat_id) === conversation,
  )
  if (last === undefined || last.outcome === 'delivered') return null
  return { code: 'event_refused', result: attemptResult(last) }
}

type Ack = NonNullable<ExpectedAck>

/** An event whose answer is evaluated. */
export interface SentEvent {
  readonly id: string
  readonly ack: Ack
  /** Whether the step ends before the answer. */
  readonly isAsync: boolean
  /** Whether the event repeats another one, whose id it has. */
  readonly isReplay: boolean
  /** The start and the end of the action that sends it. */
  readonly start: Pick<Entry, 'seq'>
  readonly end: Pick<Entry, 'seq' | 'at_ms'>
}

/** The last attempt decides. `isOver`: nothing more will come, so an open result is decided as well. */
export function ackResult(index: JournalIndex, event: SentEvent, isOver: boolean): StepResult {
  const { ack, end } = event
  const once: Delivery[] = []
  const copies: Delivery[] = []
  for (const delivery of index.deliveriesOf(event.id)) {
    if (delivery.seq <= event.start.seq || (delivery.resent === true) !== event.isReplay) continue
    if (delivery.duplicate === true) copies.push(delivery)
    else once.push(delivery)
  }
  const attempts = once.length > 0 ? once : copies
  const [first] = attempts
  const last = attempts.at(-1)
  const waits = event.isAsync || last?.retry_in_ms !== undefined
  if (!isOver && waits && (last === undefined || last.retry_in_ms !== undefined)) return { outcome: 'open' }
  // The step ran out of time before the first attempt, and ended the steps of its chat: a later answer changes nothing.
  const isTooLate = !event.isAsync && first !== undefined && first.seq > end.seq && !isSlow(index, first)
  if (last === undefined || isTooLate) return { outcome: 'fail', failure: missingAnswer(index, event) }
  if (last.outcome === 'skipped') return refusal(index, last, ack, true)
  if (!isAcknowledged(last, ack) || isSlow(index, last)) {
    return refusal(index, last, ack, last.status === null && isTargetAbsent(index, last))
  }
  // A copy that a fault made may be refused, but must not break the receiver.
  const bad = copies.find(copy => !isAcknowledged(copy, ack) && (copy.status ?? 500) >= 500)
  if (bad === undefined || attempts.length > 1) return PASSED
  const copied = notAcknowledged(index, bad, ack, true)
  return { outcome: 'fail', failure: { ...copied, kind: 'stimulus', hint: { code: 'event_twice' } } }
}

function missingAnswer({ entries, settings, ended }: JournalIndex, { id, ack, end }: SentEvent): FailureDetails {
  const withinMs = settings.timeouts.ackMs
  // The platform sent it, or a step by hand.
  const sent = entries.find(
    entry =>
      (entry.kind === 'event' || (entry.kind === 'note' && entry.note === 'event_triggered')) &&
      entry.delivery_id === id,
  )
  const event = sent !== undefined && 'event' in sent && typeof sent.event === 'string' ? sent.event : null
  // A fault that held the event: then the webhook is not late.
  const holding = entries.find(
    (entry): entry is EntryOf<'fault'> =>
      entry.kind === 'fault' &&
      (entry.effect.hold !== undefined || entry.effect.swap === true) &&
      entry.delivery_id === id,
  )
  let happened: Happened = { code: 'no_answer', event, withinMs }
  if (holding !== undefined) happened = { code: 'event_held', event, fault: holding.fault }
  // A run that is cut short does not wait for every answer that is due.
  else if (ended?.stopped !== undefined && ended.at_ms - end.at_ms < withinMs)
    happened = { code: 'no_answer_before_stop', event, cause: ended.stopped }
  return failureDetails('stimulus', { code: 'acknowledgement', event, ack, withinMs }, happened, {
    rules: rulesFor(event ?? '', ack),
    entrySeqs: [sent?.seq ?? end.seq],
    hint: { code: holding === undefined ? 'answer_first' : 'async' },
  })
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
const isSlow = ({ settings }: JournalIndex, delivery: Delivery): boolean =>
  delivery.duration_ms > settings.timeouts.ackMs && delivery.faults === undefined

const rulesFor = (event: string, ack: ExpectedAck) =>
  ack === 'non-2xx' ? ['A4'] : requires200(event) ? ['WH2'] : ['WH1']

function refusal(index: JournalIndex, last: Delivery, ack: Ack, isEnvironment: boolean): StepResult {
  const failure = notAcknowledged(index, last, ack)
  return isEnvironment
    ? { outcome: 'error', failure: { ...failure, kind: 'environment', rules: [] } }
    : { outcome: 'fail', failure }
}

/** The failure of an event that the webhook did not acknowledge. `copy`: the attempt repeats it. */
function notAcknowledged(index: JournalIndex, delivery: Delivery, ack: Ack, copy = false): FailureDetails {
  const { seq, event } = delivery
  const { ackMs: withinMs } = index.settings.timeouts
  const hint = findHint(index, delivery, ack)
  return failureDetails(
    'stimulus',
    { code: 'acknowledgement', event, ack, withinMs },
    { code: 'not_acknowledged', ack, withinMs, result: attemptResult(delivery), copy },
    { rules: rulesFor(event, ack), entrySeqs: [seq], ...(hint && { hint }) },
  )
}

const LONGEST_LOCATION = 120

function findHint(index: JournalIndex, delivery: Delivery, ack: Ack): FailureHint | undefined {
  const { status, failure, faults, response } = delivery
  const isTimeout = failure?.code === 'timeout' || failure?.code === 'connect_timeout'
  // How long the simulator waits for an answer; null when the journal does not say.
  const timeoutMs = parseDuration(String(index.started?.config['webhook.timeout']))
  if (isTimeout && timeoutMs !== null && timeoutMs < index.settings.timeouts.ackMs)
    return { code: 'platform_timeout', ms: timeoutMs }
  if (isSlow(index, delivery) || isTimeout) return { code: 'answer_first' }
  const problem = certificateProblem(failure)
  if (problem !== undefined) return { code: problem }
  if (failure?.code === 'no_url') return { code: 'no_webhook' }
  if (status === null && peerLoss(failure) === 'absent') return { code: 'is_running' }
  if (status === null) {
    const hasAnswered = index.entries.some(entry => entry.kind === 'delivery' && entry.status !== null)
    const text = isCutOff(failure) && !hasAnswered ? httpsHint(delivery.url) : null
    return text === null ? undefined : { code: 'https', text }
  }
  if (ack === 'non-2xx') return { code: 'verify_first' }
  const isRefused = status === 401 || status === 403
  if (isRefused && faults !== undefined) return { code: 'fault_refused', faults }
  if (isRefused && (delivery.sign ?? 'valid') === 'valid') return { code: 'signed_correctly' }
  const location = response?.headers.location
  if (status >= 300 && status < 400)
    return { code: 'redirect', location: location === undefined ? null : plainText(location, LONGEST_LOCATION) }
  if (status === 404 || status === 405) return { code: 'webhook_address' }
  return is2xx(status) ? { code: 'only_200' } : undefined
}
