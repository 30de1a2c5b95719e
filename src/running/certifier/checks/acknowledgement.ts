/** ACK: the answers of the webhook, and their times. */

import { counted, formatDuration } from '../../../base/text/quantities.ts'
import { formatMs } from '../../../base/text/terminal-text.ts'
import type { DeliveryEntry } from '../../../evaluation/history.ts'
import { callBeforeAck, callsBeforeAck } from '../../../evaluation/rules/call-before-ack.ts'
import { type CheckChat, expectAcknowledged, openChat, openConversation } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import type { CheckContext, CheckEvent } from '../context.ts'
import { controlEvent } from '../observe.ts'
import { answerText } from '../words.ts'

export const ACKNOWLEDGEMENT_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'ACK-01',
    level: 'MUST',
    profile: 'webhook',
    rules: ['WH2', 'WH3'],
    title: 'Events are answered with exactly 200',
    sends: 'REQUESTING TAKEOVER, and MESSAGE FROM USER in the same chat.',
    observes: 'The status of each answer.',
    passes: 'The status is exactly 200.',
    async run(check) {
      const chat = await openConversation(check, 'first')
      expectAcknowledged(check, await userWrites(check, chat))
    },
  },
  {
    id: 'ACK-02',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['WH2', 'WH3', 'GP'],
    // A slow API fills what all chats share, such as a pool of connections.
    exclusive: true,
    title: 'Events are acknowledged soon, also while the API is slow',
    sends: '20 events at once, and 20 more while every answer of the API takes 8 s.',
    observes: 'How long each acknowledgement takes.',
    passes:
      'Each takes less than the limit, which is 5 s unless --ack-limit says otherwise. The platform does not say how long it waits; the check waits for twice the limit.',
    run: expectSoon,
  },
  {
    id: 'ACK-03',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    title: 'A request that is no event is refused',
    sends: 'A GET, a signed body that is not JSON, a signed event as text/plain, then a valid event.',
    observes: 'The status of each answer.',
    passes: 'The bad requests are answered with 4xx, and the valid event with 200.',
    run: expectMalformedRefused,
  },
  {
    id: 'ACK-04',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    title: 'The acknowledgement waits for no call',
    sends: 'REQUESTING TAKEOVER and MESSAGE FROM USER, while every answer of the API takes 500 ms.',
    observes: 'Calls about the chat before the webhook answers.',
    passes: 'No call is made and answered before the event that causes it is acknowledged.',
    run: expectAnswerFirst,
  },
  {
    id: 'ACK-05',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['WH2', 'WH3', 'GP'],
    // A slow API fills what all chats share, such as a pool of connections.
    exclusive: true,
    title: 'An event is acknowledged before it is sent again',
    sends: 'REQUESTING TAKEOVER and MESSAGE FROM USER, with a slow API, a timeout of the limit and one retry.',
    observes: 'How often each event is sent.',
    passes: 'Each is sent once. The platform does not say whether it sends an event again.',
    run: expectNoRetry,
  },
]

const STORE_FIRST =
  'Store the event, answer 200, and do everything else after that: put the work into a queue or a background task, and do not await it in the handler.'

/** A message, as the platform sends it when the chat is taken over. */
async function userWrites(check: CheckContext, chat: CheckChat): Promise<DeliveryEntry | null> {
  return check.canDo('accept') ? chat.says('Is anybody there?') : check.send({ event: 'MESSAGE FROM USER', chat })
}

/** Answers of the API take longer than an acknowledgement may, so that one that waits for them is late for certain. */
const slowLatencyOf = ({ limits: { ackMs, slowAnswerMs } }: CheckContext): number =>
  Math.max(slowAnswerMs, Math.round(ackMs * 1.6))

function slowDownApi(check: CheckContext, latencyMs: number): void {
  check.sim.faults.add({ on: 'api', latency: formatDuration(latencyMs) })
}

async function expectSoon(check: CheckContext): Promise<void> {
  const { ackMs: limitMs } = check.limits
  await check.sim.configure({ 'webhook.timeout': formatDuration(limitMs * 2) })
  const chat = await openConversation(check, 'writing')
  const usual = await sendAtOnce(check, chat, 'request')
  const usualMs = usual[0]!.duration_ms
  check.measure('ack_slowest_ms', usualMs)
  const late = usual.filter(({ duration_ms }) => duration_ms > limitMs)
  if (late.length > 0) {
    const { event } = late[0]!
    const never = usual.filter(isUnanswered).length
    check.report('SHOULD', 'acknowledged-late', {
      happened: `Of ${usual.length} events at once, ${late.length} ${late.length === 1 ? 'was' : 'were'} not acknowledged within ${formatDuration(limitMs)}. The slowest was ${event}, with ${formatMs(usualMs)}.${neverText(never, limitMs)}`,
      hint: `${STORE_FIRST} If only some events are late, look for a lock or a connection pool that they wait for.`,
      details: { event, slowestMs: usualMs, limitMs, late: late.length, never, of: usual.length },
      entries: late,
    })
    return
  }
  const latencyMs = slowLatencyOf(check)
  slowDownApi(check, latencyMs)
  const answers = await sendAtOnce(check, chat, 'request with a slow API')
  const slowest = answers[0]!
  const { event, duration_ms: slowestMs } = slowest
  check.measure('ack_slowest_with_slow_api_ms', slowestMs)
  if (slowestMs <= limitMs) return
  const never = answers.filter(isUnanswered).length
  check.report('SHOULD', 'acknowledgement-waits', {
    happened: `While every answer of the API took ${formatDuration(latencyMs)}, ${event} was acknowledged after ${formatMs(slowestMs)}. Usually it takes ${formatMs(usualMs)}. The limit is ${formatDuration(limitMs)}.${neverText(never, limitMs)}`,
    hint: STORE_FIRST,
    details: { event, slowestMs, usualMs, latencyMs, limitMs, never },
    entries: [slowest],
  })
}

const isUnanswered = ({ status }: DeliveryEntry): boolean => status === null

const neverText = (never: number, limitMs: number): string =>
  never === 0
    ? ''
    : ` After ${formatDuration(limitMs * 2)} the platform gave up waiting for ${counted(never, 'answer')}.`

const HALF = 10

/** Sends ten requests, each in a chat of its own, and ten messages in one chat; all at once. Resolves with the slowest answer first. */
async function sendAtOnce(check: CheckContext, writing: CheckChat, name: string): Promise<readonly DeliveryEntry[]> {
  const chats: CheckChat[] = []
  for (let number = 1; number <= HALF; number++) chats.push(await openChat(check, `${name} ${number}`))
  const sent: Promise<DeliveryEntry>[] = []
  for (const chat of chats) sent.push(check.send({ event: 'REQUESTING TAKEOVER', chat }))
  for (const _ of chats) sent.push(check.send({ event: 'MESSAGE FROM USER', chat: writing }))
  const answers = await Promise.all(sent)
  for (const answer of answers) if (answer.failure?.code !== 'timeout') expectAcknowledged(check, answer)
  return answers.toSorted((a, b) => b.duration_ms - a.duration_ms)
}

const MALFORMED: readonly (Pick<CheckEvent, 'alteration'> & { readonly variant: string })[] = [
  { variant: 'a GET request', alteration: { method: 'GET', body: '' } },
  { variant: 'a signed body that is not JSON', alteration: { body: '{"event":"REQUESTING TAKEOVER","chat":{' } },
  {
    variant: 'a signed event with the content type text/plain',
    alteration: { headers: signed => ({ ...signed, 'content-type': 'text/plain' }) },
  },
]

async function expectMalformedRefused(check: CheckContext): Promise<void> {
  for (const { variant, alteration } of MALFORMED) {
    const chat = await openChat(check, variant)
    const answer = await check.send({ event: 'REQUESTING TAKEOVER', chat, ...(alteration && { alteration }) })
    const { status, failure = null } = answer
    if (status !== null && status >= 400 && status <= 499) continue
    check.report('SHOULD', 'malformed-request', {
      happened: `The webhook ${answerText(answer)} to ${variant}, and not with a status from 400 to 499.`,
      hint:
        status !== null && status < 400
          ? 'Refuse what is not an event: 405 for another method, 415 for another content type, 400 for a body that is not JSON. An answer of 200 hides mistakes of the sender.'
          : 'Catch the error of the parser, and answer 400. An uncaught exception can end the process, and every chat with it.',
      details: { variant, status, failure },
      entries: [answer],
    })
  }
  await controlEvent(check, false)
}

/** More than the 50 ms that may lie between an answer and a call in either order, and short enough for any timeout. */
const CALL_LATENCY_MS = 500

async function expectAnswerFirst(check: CheckContext): Promise<void> {
  const started = await openConversation(check, 'writing')
  const usualMs = (await (await openChat(check, 'usual')).press()).duration_ms
  slowDownApi(check, usualMs + CALL_LATENCY_MS)
  const asking = await openChat(check, 'asking')
  const [asked, written] = await Promise.all([asking.press(), userWrites(check, started)])
  for (const [chat, answer] of [[asking, asked] as const, [started, written] as const]) {
    // An acknowledgement that does not take longer than usual waits for no call, also when one is made meanwhile.
    if (answer === null || answer.duration_ms <= usualMs + CALL_LATENCY_MS / 2) continue
    const mistake = callsBeforeAck(chat.calls(), answer)
    if (mistake !== null) check.report('SHOULD', callBeforeAck.id, mistake)
  }
  expectAcknowledged(check, asked)
  expectAcknowledged(check, written)
}

const RETRY_MS = 1_000

async function expectNoRetry(check: CheckContext): Promise<void> {
  const { ackMs: timeoutMs } = check.limits
  const started = await openConversation(check, 'writing')
  const knobs = { 'webhook.timeout': formatDuration(timeoutMs), 'webhook.retry': [formatDuration(RETRY_MS)] }
  await check.sim.configure(knobs)
  slowDownApi(check, slowLatencyOf(check))
  const asking = await openChat(check, 'asking')
  await Promise.all([expectSentOnce(check, asking.press()), expectSentOnce(check, userWrites(check, started))])
}

async function expectSentOnce(check: CheckContext, sent: Promise<DeliveryEntry | null>): Promise<void> {
  const answer = await sent
  if (answer === null) return
  const { delivery_id: id, event } = answer
  const attempts = () => check.core.journal.query({ kind: 'delivery' }).filter(({ delivery_id }) => delivery_id === id)
  const [first = answer] = attempts()
  if (first.failure?.code !== 'timeout') return expectAcknowledged(check, first)
  const { ackMs: timeoutMs } = check.limits
  if (first.retry_in_ms !== undefined) await check.until(() => attempts().length > 1, RETRY_MS + timeoutMs * 2)
  const entries = attempts()
  const isNever = entries.every(isUnanswered)
  check.report('SHOULD', 'sent-again', {
    happened: `${event} was not acknowledged within ${formatDuration(timeoutMs)}, so the platform sent it again ${formatDuration(RETRY_MS)} later. The intermediary received it ${entries.length} times${isNever ? ', and acknowledged none of them in time' : ''}.`,
    hint: `${STORE_FIRST} Events have no id: the second copy looks like a new event, and cannot be recognized for certain.`,
    details: { event, timeoutMs, retryMs: RETRY_MS, attempts: entries.length, isAcknowledged: !isNever },
    entries,
  })
}
