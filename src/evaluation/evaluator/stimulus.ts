/** Evaluates a step that does something: whether it could be done, whether the target was reachable, what its webhook answered. */

import {
  type ConnectionFailure,
  certificateProblem,
  isCutOff,
  peerLoss,
} from '../../base/runtime/connection-failure.ts'
import { pageText, sentence } from '../../base/text/error-text.ts'
import { formatDuration, parseDuration } from '../../base/text/quantities.ts'
import { isWebhookEvent } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { WAIT_UNTIL_FAILED, type WaitUntilNote } from '../../platform/journal/journal.ts'
import { type DriverFailure, type EarlyEnd, isInboxFailure } from '../../platform/journal/run-failures.ts'
import {
  driverFailureText,
  earlyEndText,
  failureText,
  httpsHint,
  stepFailureText,
  TLS_HINTS,
  waitUntilText,
} from '../../platform/wording/failures.ts'
import { type Cause, causedBy, createFailure, type FailureDetails, type FailureKind, type Hint } from '../finding.ts'
import { type DeliveryEntry, isAccepted } from '../history.ts'
import type { ExpectedAck, PlannedStep } from '../scenario/plan.ts'
import { type DriverCallEntry, isRunEvent } from '../scenario/run-events.ts'
import { plainText } from '../scenario/value-text.ts'
import type { JournalIndex } from './journal-index.ts'
import { PASSED, type StepResult, type Stimulus } from './step-evaluator.ts'
import type { Reason } from './verdict.ts'
import { answerBody, seconds, stepText, webhookUrl, whyVerbIsMissing, within } from './words.ts'

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
    return { outcome: 'inconclusive', reason: missingVerb('verb_missing', stepText(step), ended.missing, verbs) }
  }
  if (ended.interrupted) {
    const cause = index.ended?.stopped ?? null
    const why = cause === null ? 'the run ended' : earlyEndText(cause)
    const happened = `the scenario was stopped at ${stepText(step)}: ${why}`
    return {
      outcome: 'fail',
      failure: stoppedFailure(index, cause, { code: 'stopped_at_step', happened, entrySeqs: [ended.seq] }),
    }
  }
  const refused = driverResult(index, label, index.findStart(number)?.seq)
  const { failure } = ended
  if (refused !== null || failure === undefined) return refused
  const { verb } = action
  let kind: FailureKind = 'stimulus'
  if (failure.code === 'target_not_started') kind = 'environment'
  else if (verb === 'agent') kind = 'driver'
  else if (verb === 'expect' || verb === 'none' || verb === 'check' || verb === 'sees') kind = verb
  const text = stepFailureText(failure)
  return {
    outcome: kind === 'environment' ? 'error' : 'fail',
    failure: createFailure(kind, {
      code: 'step_failed',
      expected: label,
      happened: `${label} failed: ${text}`,
      details: { failure },
      entrySeqs: [ended.seq],
      cause: causedBy('step', text, failure),
    }),
  }
}

/** A scenario that reached its time limit, or whose run ended. */
export function stoppedFailure(
  { settings }: JournalIndex,
  end: EarlyEnd | null,
  { code, happened, entrySeqs }: Pick<FailureDetails, 'code' | 'happened' | 'entrySeqs'>,
): FailureDetails {
  const limitMs = end?.code === 'time_limit' ? end.limit_ms : null
  return createFailure('stopped', {
    ...{ code, happened, entrySeqs },
    expected:
      limitMs === null
        ? `${settings.name} runs to its end`
        : `the scenario ends within ${formatDuration(settings.timeouts.scenarioMs)}`,
    details: { isEndOfRun: end !== null && limitMs === null },
    cause:
      limitMs === null
        ? null
        : causedBy('time_limit', `the scenario takes longer than ${formatDuration(limitMs)}`, limitMs),
  })
}

/** Why a step that needs a verb, or a scenario that requires it, has no verdict. `who` is its name. */
export function missingVerb(
  code: 'verb_missing' | 'need_missing',
  who: string,
  verb: string,
  verbs: readonly string[] | null,
): Reason {
  const cause =
    verbs === null
      ? causedBy('no_driver', 'a step needs an agent driver, and there is none (--agent-driver FILE)')
      : causedBy('verb_missing', `the agent driver has no verb ${verb}`, verb)
  const needs = code === 'verb_missing' ? 'needs' : 'requires'
  return { code, text: `${who} ${needs} ${verb}, and ${whyVerbIsMissing(verb, verbs)}`, cause }
}

const MAX_ANSWER_CHARS = 120

/** Null when the driver did as asked. A failed reading of the inbox is forgiven when a later one succeeded. */
export function driverResult(index: JournalIndex, label: string, startSeq: number | undefined): StepResult | null {
  const last = index.drivers.findLast(({ cause }) => cause === startSeq)
  if (last === undefined || last.outcome === 'ok') return null
  const { how, status = null, failure = null, answer = '', seq } = last
  // Neither shows anything of the intermediary.
  const isError = isInboxFailure(failure) || isTargetAbsent(index, last)
  const text = plainText(answer.trim(), MAX_ANSWER_CHARS)
  const driverText = failure === null ? null : driverFailureText(failure)
  const why = driverText ?? (status === null ? 'it failed' : `answered ${status}`)
  // Adds the answer where the failure does not contain it.
  const isContained = failure !== null && (failure.code !== 'command_failed' || failure.stream === 'stdout')
  const known = driverText ?? status
  return {
    outcome: isError ? 'error' : 'fail',
    failure: createFailure(isError ? 'environment' : 'driver', {
      code: 'driver_failed',
      expected: label,
      happened: `${label} failed: ${how}: ${why}${text === '' || isContained ? '' : `: ${text}`}`,
      details: { status, failure, answer: text },
      entrySeqs: [seq],
      hint: driverHint(last),
      cause: causedBy('driver', `the agent driver fails${known === null ? '' : `: ${known}`}`, failure, status),
    }),
  }
}

function driverHint({ status, outcome, failure }: DriverCallEntry): Hint | null {
  if (failure !== undefined && NOT_STARTED.includes(failure.code))
    return { code: 'command_folder', text: 'Commands run in the folder of the driver file, without a shell.' }
  if (peerLoss(failure) === 'broken')
    return {
      code: 'broke_off',
      text: 'The connection broke while it answered: what does the log of the intermediary say?',
    }
  if (outcome === 'unreachable')
    return {
      code: 'desk_address',
      text: 'Is the help desk of the intermediary running where the driver file says?',
    }
  if (status === 404)
    return {
      code: 'desk_path',
      text: 'Does the help desk know this chat yet, and is the path in the driver file right?',
    }
  if (status !== 409) return null
  const text =
    'If the help desk knows this chat from an earlier run: the same seed gives the same chats. Restart it, or give another --seed.'
  return { code: 'earlier_run', text }
}

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
  calls.length > 0 || drivers.some(({ outcome }) => outcome !== 'unreachable') || hasAnswered(entries)

const hasAnswered = (entries: readonly Entry[]): boolean =>
  entries.some(entry => entry.kind === 'delivery' && entry.status !== null)

const MAX_BODY_CHARS = 120

/** What a webhook answered to an attempt, or why it did not: `answered 500 after 31 ms: TypeError: x is not a function` */
function attemptText(delivery: DeliveryEntry): string {
  const { status, failure, outcome, url, duration_ms: afterMs } = delivery
  if (outcome === 'skipped') return `not sent: ${failureText(failure)}`
  if (status === null) return `no answer from ${url}: ${failureText(failure)}`
  return `answered ${status} after ${seconds(afterMs)}${answerBody(shownBody(delivery))}`
}

const shownBody = ({ response }: DeliveryEntry): string =>
  plainText(pageText(response?.body.trim() ?? ''), MAX_BODY_CHARS)

const OF_USERS = ['REQUESTING TAKEOVER', 'MESSAGE FROM USER']

/** How the webhook refused an event. */
export interface RefusedEvent {
  readonly status: number | null
  readonly failure: string | null
}

/**
 * Explains a missing reaction by the latest event of a conversation's user since a stimulus, when the webhook refused it, or
 * accepted it and failed afterwards.
 */
export function refusedEventHint(
  index: JournalIndex,
  conversation: string,
  since: Pick<Stimulus, 'seq'> | null,
): (Hint & { readonly refused?: RefusedEvent }) | null {
  if (since === null) return null
  const last = index
    .chatOf(conversation)
    ?.entries.findLast(
      (entry): entry is DeliveryEntry =>
        entry.kind === 'delivery' && entry.seq > since.seq && OF_USERS.includes(entry.event),
    )
  if (last === undefined) return null
  if (last.outcome === 'delivered') {
    const work = index.failedWork.findLast(({ delivery_id: id }) => id === last.delivery_id)
    const text = work === undefined ? null : sentence(`#${work.seq}: ${waitUntilText(work)}`)
    return text === null ? null : { code: WAIT_UNTIL_FAILED, text }
  }
  const { status, failure } = last
  const text = `The webhook did not accept ${last.event}: ${attemptText(last)}`
  return { code: 'event_refused', text, refused: { status, failure: failure?.code ?? null } }
}

/** The failure of work that a webhook function gave to `waitUntil`. */
export const failedWorkFailure = (note: WaitUntilNote): FailureDetails =>
  createFailure('stimulus', {
    code: WAIT_UNTIL_FAILED,
    expected: `the work that the webhook gave to waitUntil for ${note.event} ends without an error`,
    happened: `#${note.seq}: ${waitUntilText(note)}`,
    details: { event: note.event, delivery: note.delivery_id, why: note.code },
    entrySeqs: [note.seq],
    hint: WORK_IS_LOST,
    cause: causedBy(WAIT_UNTIL_FAILED, waitUntilText(note), note.code, note.event),
  })

const WORK_IS_LOST: Hint = {
  code: WAIT_UNTIL_FAILED,
  text: 'The event was acknowledged, so the platform does not send it again: catch the error in the work, and try again there.',
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
  const once: DeliveryEntry[] = []
  const copies: DeliveryEntry[] = []
  for (const delivery of index.history.attemptsOf(event.id)) {
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
  return { outcome: 'fail', failure: notAcknowledged(index, bad, ack, true) }
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
  const name = event ?? 'the event'
  const common = {
    expected: expectedAck(name, ack, withinMs),
    rules: rulesFor(event ?? '', ack),
    entrySeqs: [sent?.seq ?? end.seq],
  }
  if (holding !== undefined)
    return createFailure('stimulus', {
      ...common,
      code: 'event_held',
      happened: `the webhook did not receive ${name}, because the fault ${holding.fault} held it`,
      hint: {
        code: 'async',
        text: 'Write async: true on the step, so that the scenario continues and later events release this one.',
      },
    })
  // A run that is cut short does not wait for every answer that is due.
  const cause = ended?.stopped !== undefined && ended.at_ms - end.at_ms < withinMs ? ended.stopped : null
  if (cause !== null)
    return createFailure('stimulus', {
      ...common,
      code: 'no_answer_before_stop',
      happened: `the webhook had not answered ${name} when the scenario was stopped: ${earlyEndText(cause)}`,
      details: { isEndOfRun: cause.code !== 'time_limit' },
      hint: ANSWER_FIRST,
    })
  return createFailure('stimulus', {
    ...common,
    code: 'no_answer',
    happened: `the webhook did not answer ${name} ${within(withinMs)}`,
    details: { event, withinMs },
    hint: ANSWER_FIRST,
    cause: NO_ANSWER,
  })
}

const ANSWER_FIRST: Hint = { code: 'answer_first', text: 'Answer the webhook first, and do the work after it.' }
const NO_ANSWER: Cause = causedBy('no_answer', 'the webhook does not answer in time')

function expectedAck(event: string, ack: Ack, withinMs: number): string {
  const answer = ack === 'any' ? 'an answer' : ack === 'non-2xx' ? 'a refusal (no 2xx)' : `status ${ack}`
  return `${answer} from the webhook to ${event} ${within(withinMs)}`
}

/** Only the two named events require exactly 200 (WH2). */
function isAcknowledged(delivery: DeliveryEntry, ack: Ack): boolean {
  const { status, event } = delivery
  if (status === null) return false
  if (ack === 'any') return true
  if (ack === 'non-2xx') return !isAccepted(delivery)
  return status === ack || (ack === 200 && !requires200(event) && isAccepted(delivery))
}

const requires200 = (event: string) => isWebhookEvent(event) && WEBHOOK_EVENTS[event].demands200

/** Deliveries that a fault slowed down may take longer. */
const isSlow = ({ settings }: JournalIndex, delivery: DeliveryEntry): boolean =>
  delivery.duration_ms > settings.timeouts.ackMs && delivery.faults === undefined

const rulesFor = (event: string, ack: ExpectedAck) =>
  ack === 'non-2xx' ? ['A4'] : requires200(event) ? ['WH2'] : ['WH1']

function refusal(index: JournalIndex, last: DeliveryEntry, ack: Ack, isEnvironment: boolean): StepResult {
  const failure = notAcknowledged(index, last, ack)
  return isEnvironment
    ? { outcome: 'error', failure: { ...failure, kind: 'environment', rules: [] } }
    : { outcome: 'fail', failure }
}

const SIGNED: Readonly<Record<string, string>> = {
  none: ' without a signature',
  'wrong-key': ' with a signature made with another key',
  tampered: ' with a body changed after signing',
  truncated: ' with a truncated signature',
  hex: ' with a signature in hex',
}

/** The failure of an event that the webhook did not acknowledge. `copy`: the attempt repeats it. */
function notAcknowledged(index: JournalIndex, delivery: DeliveryEntry, ack: Ack, copy = false): FailureDetails {
  const { seq, event, status, failure = null } = delivery
  const { ackMs: withinMs } = index.settings.timeouts
  return createFailure('stimulus', {
    code: 'not_acknowledged',
    expected: expectedAck(event, ack, withinMs),
    happened: refusalText(delivery, ack, withinMs, copy),
    details: { event, ack, copy, status, failure, isSent: delivery.outcome !== 'skipped' },
    rules: rulesFor(event, ack),
    entrySeqs: [seq],
    hint: copy
      ? { code: 'event_twice', text: 'The same event may come twice: acknowledge it again, and forward it once.' }
      : findHint(index, delivery, ack),
    cause: refusalCause(delivery, ack),
  })
}

function refusalText(delivery: DeliveryEntry, ack: Ack, withinMs: number, copy: boolean): string {
  const { status, attempt, failure, url, sign = 'valid', duration_ms: afterMs } = delivery
  const event = copy
    ? `${delivery.event} (sent a second time)`
    : `${delivery.event}${attempt > 1 ? ` (attempt ${attempt})` : ''}`
  if (delivery.outcome === 'skipped') return `${event} was not sent: ${failureText(failure)}`
  if (status === null) return `no answer to ${event} from ${url}: ${failureText(failure)}`
  if (ack === 'non-2xx' && isAccepted(delivery))
    return SIGNED[sign] === undefined
      ? `the webhook accepted an event that it must refuse: it answered ${status} to ${event}`
      : `the webhook accepted a forged event: it answered ${status} to ${event}${SIGNED[sign]}`
  const expected = ack === 'any' ? 'any answer' : ack === 'non-2xx' ? 'a refusal' : String(ack)
  const slow = afterMs > withinMs ? ` ${within(withinMs)}` : ''
  const asExpected = expected === String(status) && slow === ''
  const answer = answerBody(shownBody(delivery))
  return `the webhook answered ${status} to ${event} after ${seconds(afterMs)}${asExpected ? '' : `, expected ${expected}${slow}`}${answer}`
}

function refusalCause({ event, status, outcome, failure }: DeliveryEntry, ack: Ack): Cause {
  const why = failure === undefined ? '' : `: ${failureText(failure)}`
  if (outcome === 'skipped') return causedBy('not_sent', `an event is not sent${why}`, failure)
  if (status === null && (failure === undefined || failure.code === 'timeout')) return NO_ANSWER
  if (status === null) return causedBy('no_answer', `the webhook does not answer${why}`, failure)
  if (ack === 'non-2xx') return causedBy('accepted', `the webhook accepts ${event} where it must refuse it`, event)
  return causedBy('answered', `the webhook answers ${status} to ${event}`, event, status)
}

const MAX_LOCATION_CHARS = 120

function findHint(index: JournalIndex, delivery: DeliveryEntry, ack: Ack): Hint | null {
  const { status, failure, faults, response } = delivery
  const { audience } = index
  const isTest = audience === 'test'
  const hint = (code: string, text: string): Hint => ({ code, text })
  const isTimeout = failure?.code === 'timeout' || failure?.code === 'connect_timeout'
  // How long the simulator waits for an answer; null when the journal does not say.
  const timeoutMs = parseDuration(String(index.started?.config['webhook.timeout']))
  if (isTimeout && timeoutMs !== null && timeoutMs < index.settings.timeouts.ackMs) {
    const knob = isTest ? "'webhook.timeout'" : 'config: { webhook.timeout: … }'
    const waits = formatDuration(timeoutMs)
    return hint('platform_timeout', `The platform itself waits only ${waits}: ${knob} makes it wait longer.`)
  }
  if (isSlow(index, delivery) || isTimeout) return ANSWER_FIRST
  const problem = certificateProblem(failure)
  if (problem !== undefined) return hint(problem, TLS_HINTS[problem])
  if (failure?.code === 'no_url')
    return hint(
      'no_webhook',
      isTest
        ? 'Give the simulator the webhook of the intermediary: createSimulator({ webhook: … }). A test that needs no events accepts them: webhook: { fetch: () => new Response() }.'
        : `Say where events go: ${webhookUrl(audience)}.`,
    )
  if (status === null && peerLoss(failure) === 'absent')
    return hint('is_running', `Is the intermediary running, and is ${webhookUrl(audience)} its webhook?`)
  if (status === null) {
    const text = isCutOff(failure) && !hasAnswered(index.entries) ? httpsHint(delivery.url) : null
    return text === null ? null : hint('https', `${text} Otherwise its log says why it closed the connection.`)
  }
  if (ack === 'non-2xx')
    return hint('verify_first', 'Does the intermediary verify the signature before it does anything else?')
  const isRefused = status === 401 || status === 403
  if (isRefused && faults !== undefined)
    return hint(
      'fault_refused',
      `The fault ${faults.join(', ')} changed this event: if refusing it is right, say ack: non-2xx on the step.`,
    )
  if (isRefused && (delivery.sign ?? 'valid') === 'valid')
    return hint(
      'signed_correctly',
      'The event was signed correctly: is the key the same, and is the HMAC made of the raw bytes of the body?',
    )
  const location = response?.headers.location
  if (status >= 300 && status < 400) {
    const address = location === undefined ? 'the address it leads to' : plainText(location, MAX_LOCATION_CHARS)
    return hint(
      'redirect',
      `A redirect is not followed; is ${address} the webhook? Often only a final slash or http/https differs.`,
    )
  }
  if (status === 404 || status === 405)
    return hint('webhook_address', `Is ${webhookUrl(audience)} the address of the webhook, path included?`)
  return isAccepted(delivery) ? hint('only_200', 'Only 200 acknowledges this event.') : null
}
