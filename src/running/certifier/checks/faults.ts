/** FLT: faults of the platform's API. */

import { counted, formatDuration } from '../../../base/text/quantities.ts'
import type { CallEntry } from '../../../evaluation/history.ts'
import { driverFailureText } from '../../../platform/wording/failures.ts'
import type { DriverCall } from '../../agent-driver/driver.ts'
import { type CheckChat, expectAcknowledged, openChat, openTakenOver } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import { messageIn } from '../exchange.ts'
import { controlEvent } from '../observe.ts'

const NEEDS = ['accept', 'says']
const common = { level: 'SHOULD', profile: 'resilience', needs: NEEDS } as const

export const FAULT_CHECKS: readonly CheckDefinition[] = [
  {
    ...common,
    id: 'FLT-01',
    // A slow API fills what all chats share, such as a pool of connections.
    exclusive: true,
    rules: ['E6', 'GP'],
    title: 'A slow answer of the platform delays only its chat',
    sends: 'One agent message whose call is answered after 8 s, and a message in another chat meanwhile.',
    observes: 'What both users see, and when.',
    passes: 'The first user sees the message once. The other user sees theirs before the slow answer.',
    run: slowAnswer,
  },
  {
    ...common,
    id: 'FLT-02',
    rules: ['ER1', 'ER4', 'GP'],
    title: 'Calls that are refused for a while are repeated in time and in order',
    sends:
      '503 twice to start and to message; 429 once to start and to message, with Retry-After: 2 and without this header.',
    observes: 'The repeated calls, the time before each, and what the users see.',
    passes:
      'No call comes before Retry-After has passed, or within 200 ms without it. Each message is shown once, in the order of the agent.',
    run: refusedForAWhile,
  },
  {
    ...common,
    id: 'FLT-03',
    // An intermediary may stop all calls for a while when its key is refused.
    exclusive: true,
    begins: 'last',
    rules: ['A1', 'ER1', 'GP'],
    title: 'A refused key does not cause a flood of calls',
    sends: '401 to every call for 10 s, while the user writes; then a new handover with an accepted key.',
    observes: 'The calls per chat, the answers to events, and the new handover.',
    passes: 'At most 5 calls per chat, every event is answered with 200, and the new handover starts.',
    run: refusedKey,
  },
  {
    ...common,
    id: 'FLT-04',
    rules: ['E6'],
    title: 'A message whose answer was lost is shown at most twice',
    sends: 'An agent message that the platform shows without answering the call, then a second message.',
    observes: 'How often the user sees each.',
    passes: 'The first is shown once or twice (the report says which: no key makes calls idempotent), the second too.',
    run: lostAnswer,
  },
]

const FIRST_MESSAGE = 'First: I am looking at it.'
const SECOND_MESSAGE = 'Second: it is on its way.'

/** slow: the answer came late. refused: the call was refused at first. lost: the answer never came. */
type FaultKind = 'slow' | 'refused' | 'lost'

/** Follows what the user saw. */
const CAUSES: Readonly<Record<FaultKind, string>> = {
  slow: 'while the platform answered one call slowly',
  refused: 'after the platform had refused the call at first',
  lost: 'after the answer to one call was lost',
}

const REPEAT_HINTS: Readonly<Record<FaultKind, string>> = {
  slow: 'Wait at least 15 s for an answer before the call is made again: a call that was not answered yet may still be processed.',
  refused:
    'Look for two places that repeat the same call, such as an HTTP client with retries below an outbox with retries.',
  lost: 'Stop at the first answer with status 200, also when an earlier attempt had no answer.',
}

/** The calls by which the user sees this text, oldest first. A lost answer does not change that the platform processed the call. */
function callsShowing(chat: CheckChat, text: string): CallEntry[] {
  const shown: CallEntry[] = []
  for (const call of chat.calls('message'))
    if (messageIn(call) === text && (call.status === 200 || call.answer_lost === 'after')) shown.push(call)
  return shown
}

/**
 * The agent writes both messages. The second waits for the call of the first, because a fault is to meet the first: calls
 * that are under way together may come in either order. Resolves with how the first was written.
 */
async function writeBoth(check: CheckContext, chat: CheckChat): Promise<DriverCall> {
  const written = await chat.tryAgent('says', { text: FIRST_MESSAGE })
  await check.until(() => chat.calls('message').length > 0, check.limits.effectMs)
  await chat.tryAgent('says', { text: SECOND_MESSAGE })
  return written
}

/** A message of the agent that meets a fault. */
interface FaultedMessage {
  readonly text: string
  readonly fault: FaultKind
}

/** Reports a message that the user does not see in time, which ends the check. */
async function expectDelivered(
  check: CheckContext,
  chat: CheckChat,
  { text, fault }: FaultedMessage,
  withinMs: number,
): Promise<void> {
  if (await check.until(() => callsShowing(chat, text).length > 0, withinMs)) return
  reportMissing(check, chat, { text, fault }, withinMs, chat.calls('message'))
  throw new CheckEndedError(text)
}

function reportMissing(
  check: CheckContext,
  chat: CheckChat,
  { text, fault }: FaultedMessage,
  withinMs: number,
  entries: readonly CallEntry[],
): void {
  check.report('SHOULD', 'message-missing', {
    happened: `The user of the chat "${chat.name}" did not see the agent's message ${JSON.stringify(text)} within ${formatDuration(withinMs)}, ${CAUSES[fault]}.`,
    hint: 'Look for the call in the log of the intermediary. A call without an answer must be made again, and the calls after it must not be dropped; each chat needs its own queue.',
    details: { direction: 'to_user', chat: chat.name, text, fault, withinMs },
    entries,
  })
}

/** Waits for repetitions of the first message, and reports more than `atMost`. Resolves with the calls that show it. */
async function reportRepeats(
  check: CheckContext,
  chat: CheckChat,
  fault: FaultKind,
  atMost: number,
): Promise<CallEntry[]> {
  const text = FIRST_MESSAGE
  await check.until(() => callsShowing(chat, text).length > atMost, check.limits.quietMs)
  const shown = callsShowing(chat, text)
  if (shown.length > atMost)
    check.report('SHOULD', 'message-repeated', {
      happened: `The user saw the agent's message ${JSON.stringify(text)} ${shown.length} times, ${CAUSES[fault]}. It may be shown ${atMost === 1 ? 'once' : `at most ${counted(atMost, 'time')}`}.`,
      hint: REPEAT_HINTS[fault],
      details: { text, fault, times: shown.length, atMost },
      entries: shown,
    })
  return shown
}

async function slowAnswer(check: CheckContext): Promise<void> {
  const { slowAnswerMs, effectMs } = check.limits
  const [slow, other] = await Promise.all([openTakenOver(check, 'slow answer'), openTakenOver(check, 'other')])
  check.sim.faults.add({ on: { api: 'message' }, chat_id: slow.id, latency: `${slowAnswerMs}ms`, times: 1 })
  // Both write at the same time, in this order.
  await check.pace(null)
  // A help desk may answer its agent only after the platform has answered.
  const writing = slow.tryAgent('says', { text: FIRST_MESSAGE })
  await other.agent('says', { text: SECOND_MESSAGE })
  const slowCall = () => slow.calls('message').find(({ faults }) => faults !== undefined)
  await check.until(() => slowCall() !== undefined, slowAnswerMs + effectMs)
  await writing
  await expectDelivered(check, slow, { text: FIRST_MESSAGE, fault: 'slow' }, effectMs)
  await expectDelivered(check, other, { text: SECOND_MESSAGE, fault: 'slow' }, effectMs)
  const late = slowCall()
  const [free] = callsShowing(other, SECOND_MESSAGE)
  if (late !== undefined && free !== undefined && free.seq > late.seq)
    check.report('SHOULD', 'other-chat-blocked', {
      happened: `A message in one chat waited for the call of another chat, which the platform answered after ${formatDuration(slowAnswerMs)}.`,
      hint: 'Use one queue of calls per chat. One queue, one lock or one connection for all chats lets every user wait for the slowest.',
      details: { slowMs: slowAnswerMs },
      entries: [late, free],
    })
  await reportRepeats(check, slow, 'slow', 1)
}

interface Refusal {
  readonly respond: { readonly status: number; readonly headers?: Record<string, string> }
  readonly times: number
}

async function refusedForAWhile(check: CheckContext): Promise<void> {
  const unavailable: Refusal = { respond: { status: 503 }, times: 2 }
  const limited: Refusal = { respond: { status: 429, headers: { 'Retry-After': '2' } }, times: 1 }
  const limitedOnly: Refusal = { respond: { status: 429 }, times: 1 }
  await Promise.all([
    startRefused(check, '503 to start', unavailable),
    startRefused(check, '429 to start', limited),
    messageRefused(check, '503 to message', unavailable),
    messageRefused(check, '429 to message', limited),
    startRefused(check, '429 without Retry-After to start', limitedOnly),
    messageRefused(check, '429 without Retry-After to message', limitedOnly),
  ])
}

async function startRefused(check: CheckContext, name: string, refusal: Refusal): Promise<void> {
  const chat = await openChat(check, name)
  expectAcknowledged(check, await chat.press())
  check.sim.faults.add({ on: { api: 'start' }, chat_id: chat.id, ...refusal })
  const accepted = await chat.tryAgent('accept')
  const isStarted = () => chat.calls('start').some(({ status }) => status === 200)
  const hasStarted = await check.until(isStarted, check.limits.retryMs)
  const calls = chat.calls('start')
  if (!wasRefused(check, 'start', calls, accepted)) return
  if (hasStarted) reportEarlyRetries(check, 'start', calls, refusal)
  else reportGivenUp(check, 'start', refusal, calls)
}

async function messageRefused(check: CheckContext, name: string, refusal: Refusal): Promise<void> {
  const { retryMs } = check.limits
  const chat = await openTakenOver(check, name)
  check.sim.faults.add({ on: { api: 'message' }, chat_id: chat.id, ...refusal })
  const written = await writeBoth(check, chat)
  const areBothShown = () =>
    callsShowing(chat, FIRST_MESSAGE).length > 0 && callsShowing(chat, SECOND_MESSAGE).length > 0
  await check.until(areBothShown, retryMs)
  const calls = chat.calls('message')
  if (!wasRefused(check, 'message', calls, written)) return
  const [first] = callsShowing(chat, FIRST_MESSAGE)
  const [second] = callsShowing(chat, SECOND_MESSAGE)
  const callsWith = (text: string) => calls.filter(call => messageIn(call) === text)
  if (first === undefined) return reportGivenUp(check, 'message', refusal, callsWith(FIRST_MESSAGE))
  // The second message was not refused itself.
  if (second === undefined) {
    const message = { text: SECOND_MESSAGE, fault: 'refused' } as const
    return reportMissing(check, chat, message, retryMs, callsWith(SECOND_MESSAGE))
  }
  reportEarlyRetries(check, 'message', calls, refusal)
  if (second.seq < first.seq)
    check.report('SHOULD', 'messages-reordered', {
      happened: `The user saw the second message of the agent before the first, which the platform had refused at first (${name}).`,
      hint: 'Make the later calls of a chat wait while an earlier one is being repeated.',
      details: { fault: name },
      entries: [second, first],
    })
  await reportRepeats(check, chat, 'refused', 1)
}

type Endpoint = 'start' | 'message'

/** False: the check is inconclusive, because the call that the platform would have refused was not made. */
function wasRefused(check: CheckContext, endpoint: Endpoint, calls: readonly CallEntry[], acted: DriverCall): boolean {
  if (calls.some(({ faults }) => faults !== undefined)) return true
  const { verb, failure = null } = acted
  const unseen = 'the platform refused none, and it is not visible whether a refused call is made again.'
  const text =
    failure === null
      ? `No ${endpoint} came after the agent driver performed ${verb}, so ${unseen} See what FLW-01 reports.`
      : `No ${endpoint} came, because the agent driver failed at ${verb}: ${driverFailureText(failure)}. So ${unseen}`
  check.inconclusive({ code: 'call_not_made', text })
  return false
}

function reportGivenUp(check: CheckContext, endpoint: Endpoint, refusal: Refusal, calls: readonly CallEntry[]): void {
  const { status } = refusal.respond
  const withinMs = check.limits.retryMs
  check.report('SHOULD', 'call-given-up', {
    happened: `${endpoint} did not succeed within ${formatDuration(withinMs)} after the platform had answered it with ${status}: the intermediary made ${counted(calls.length, 'call')} in all.`,
    hint: 'Repeat calls after 429, 5xx and no answer, with growing pauses (0.5 s, 1 s, 2 s ...) or after Retry-After, and let later calls of the chat wait.',
    details: { endpoint, status, calls: calls.length, withinMs },
    entries: calls,
  })
}

const RETRY_AFTER_MS = 2_000
/** Two clocks differ, and entries are written after the answer. */
const TOLERANCE_MS = 50

/** A person would not call the same again sooner. */
const MIN_PAUSE_MS = 200

function reportEarlyRetries(
  check: CheckContext,
  endpoint: Endpoint,
  calls: readonly CallEntry[],
  { respond }: Refusal,
): void {
  const hasTime = respond.headers !== undefined
  const leastMs = hasTime ? RETRY_AFTER_MS - TOLERANCE_MS : MIN_PAUSE_MS
  for (const [index, refused] of calls.entries()) {
    const next = calls[index + 1]
    if (refused.status !== 429 || next === undefined) continue
    const waitedMs = Math.round(next.at_ms - refused.at_ms)
    if (waitedMs >= leastMs) continue
    check.report('SHOULD', 'retry-too-early', {
      happened: `${endpoint} was made again ${waitedMs} ms after an answer of 429 ${hasTime ? `with Retry-After: ${RETRY_AFTER_MS / 1000}` : 'without Retry-After'}.`,
      hint: 'After 429 without Retry-After, wait with growing pauses (0.5 s, 1 s, 2 s ...). Read the header Retry-After of an answer with 429 or 503: seconds or an HTTP date. Wait that long before any further call of the chat.',
      details: { endpoint, waitedMs, retryAfterMs: hasTime ? RETRY_AFTER_MS : null },
      entries: [refused, next],
    })
  }
}

/** Per chat, while every call is refused. */
const MAX_REFUSED_CALLS = 5

async function refusedKey(check: CheckContext): Promise<void> {
  const { outageMs, retryMs } = check.limits
  const [open, pending] = await Promise.all([openTakenOver(check, 'conversation'), openChat(check, 'request')])
  expectAcknowledged(check, await pending.press())
  const lastSeq = check.core.journal.nextSeq - 1
  check.sim.faults.add({ name: 'refused-key', on: 'api', respond: { status: 401 } })
  const isFlood = () =>
    open.calls([], lastSeq).length > MAX_REFUSED_CALLS || pending.calls([], lastSeq).length > MAX_REFUSED_CALLS
  await Promise.all([
    open.tryAgent('says', { text: FIRST_MESSAGE }),
    pending.tryAgent('accept'),
    userWritesTwice(check, open),
    check.until(isFlood, outageMs),
  ])
  for (const chat of [open, pending]) {
    const calls = chat.calls([], lastSeq)
    const [first, last] = [calls[0], calls.at(-1)]
    if (first === undefined || last === undefined || calls.length <= MAX_REFUSED_CALLS) continue
    const overMs = Math.round(last.at_ms - first.at_ms)
    const endpoint = first.endpoint ?? first.path
    check.report('SHOULD', 'key-refused-repeatedly', {
      happened: `The intermediary made ${counted(calls.length, 'call')} in one chat within ${overMs} ms, beginning with ${endpoint}, although each was answered with 401. At most ${MAX_REFUSED_CALLS} are allowed.`,
      hint: 'Do not repeat a call that is answered with 401: report it to the agent and to the operator, and make the next call when an agent acts again.',
      details: { endpoint, calls: calls.length, overMs, atMost: MAX_REFUSED_CALLS },
      entries: calls.slice(0, 10),
    })
  }
  check.sim.faults.clear('refused-key')
  await controlEvent(check, false)
  const chat = await openChat(check, 'after the outage')
  expectAcknowledged(check, await chat.press())
  await chat.tryAgent('accept')
  // One that stops all calls for a while continues later.
  if ((await chat.nextCall('start', retryMs)) !== null) return
  check.report('SHOULD', 'not-recovered', {
    happened: `After the platform accepted the key again, a new request for an agent led to no start within ${formatDuration(retryMs)} after the agent had accepted.`,
    hint: 'Do not store that the key is wrong: try the key again with the next action of an agent.',
    details: { withinMs: retryMs },
    entries: chat.calls(),
  })
}

/** At the beginning and in the middle of the outage. */
async function userWritesTwice(check: CheckContext, chat: CheckChat): Promise<void> {
  expectAcknowledged(check, await chat.says('Are you there?'))
  await check.pause(check.limits.outageMs / 2)
  expectAcknowledged(check, await chat.says('Hello?'))
}

async function lostAnswer(check: CheckContext): Promise<void> {
  const chat = await openTakenOver(check, 'lost answer')
  check.sim.faults.add({ on: { api: 'message' }, chat_id: chat.id, drop: 'after', times: 1 })
  await writeBoth(check, chat)
  await expectDelivered(check, chat, { text: SECOND_MESSAGE, fault: 'lost' }, check.limits.retryMs)
  const shown = await reportRepeats(check, chat, 'lost', 2)
  if (shown.length === 0 || shown.length > 2) return
  check.report('INFO', 'lost-answer', {
    happened:
      shown.length === 1
        ? 'The answer to a message was lost, and the intermediary did not make the call again: the user saw the message once.'
        : 'The answer to a message was lost, and the intermediary made the call again: the user saw the message twice.',
    hint: 'Both are correct, because no field makes a message idempotent. Choose by what is worse for your users: a message that is missing when the call was lost, or one that is shown twice.',
    details: { times: shown.length },
    entries: shown,
  })
}
