/** ACK: the answers of the webhook, and their times. */

import { formatDuration } from '../../../base/text/quantities.ts'
import { isAnsweredDuring } from '../../../evaluation/linter/chat-rules.ts'
import { type CheckChat, expectAcknowledged } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import type { CheckContext, CheckEvent, EventAnswer } from '../context.ts'
import { canDo, openConversation } from '../conversation.ts'
import { controlEvent } from '../effects.ts'
import { answerDetails } from '../findings/acknowledgement.ts'

export const ACKNOWLEDGEMENT_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'ACK-01',
    level: 'MUST',
    profile: 'webhook',
    rules: ['WH2', 'WH3'],
    texts: {
      title: 'Events are answered with exactly 200',
      sends: 'REQUESTING TAKEOVER, and MESSAGE FROM USER in the same chat.',
      observes: 'The status of each answer.',
      passes: 'The status is exactly 200.',
    },
    async run(check) {
      const chat = await openConversation(check, 'first')
      expectAcknowledged(check, await userWrites(check, chat))
    },
  },
  {
    id: 'ACK-02',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    // A slow API fills what all chats share, such as a pool of connections.
    exclusive: true,
    texts: {
      title: 'Events are acknowledged soon, also while the API is slow',
      sends: '20 events at once, and 20 more while every answer of the API takes 8 s.',
      observes: 'How long each acknowledgement takes.',
      passes: 'Each takes less than the limit, which is 5 s unless --ack-limit says otherwise.',
    },
    run: expectSoon,
  },
  {
    id: 'ACK-03',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    texts: {
      title: 'A request that is no event is refused',
      sends: 'A GET, a signed body that is not JSON, a signed event as text/plain, then a valid event.',
      observes: 'The status of each answer.',
      passes: 'The bad requests are answered with 4xx, and the valid event with 200.',
    },
    run: expectMalformedRefused,
  },
  {
    id: 'ACK-04',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    texts: {
      title: 'The acknowledgement waits for no call',
      sends: 'REQUESTING TAKEOVER and MESSAGE FROM USER, while every answer of the API takes 500 ms.',
      observes: 'Calls about the chat before the webhook answers.',
      passes: 'No call is made and answered before the event that causes it is acknowledged.',
    },
    run: expectAnswerFirst,
  },
  {
    id: 'ACK-05',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    // A slow API fills what all chats share, such as a pool of connections.
    exclusive: true,
    texts: {
      title: 'An event is acknowledged before it is sent again',
      sends: 'REQUESTING TAKEOVER and MESSAGE FROM USER, with a slow API, a timeout of the limit and one retry.',
      observes: 'How often each event is sent.',
      passes: 'Each is sent once.',
    },
    run: expectNoRetry,
  },
]

/** A message, as the platform sends it when the chat is taken over. */
const userWrites = (check: CheckContext, chat: CheckChat): Promise<EventAnswer | null> =>
  canDo(check, 'accept') ? chat.says('Is anybody there?') : check.send({ event: 'MESSAGE FROM USER', chat })

/** Answers of the API take longer than an acknowledgement may, so that one that waits for them is late for certain. */
const latencyOf = ({ limits: { ackMs, slowAnswerMs } }: CheckContext): number =>
  Math.max(slowAnswerMs, Math.round(ackMs * 1.6))

const slowApi = (check: CheckContext, latencyMs: number) =>
  check.sim.faults.add({ on: 'api', latency: formatDuration(latencyMs) })

async function expectSoon(check: CheckContext): Promise<void> {
  const { ackMs: limitMs } = check.limits
  await check.sim.configure({ 'webhook.timeout': formatDuration(limitMs * 2) })
  const chat = await openConversation(check, 'writing')
  const usual = await burst(check, chat, 'request')
  check.measure('ack_slowest_ms', slowestOf(usual).duration_ms)
  if (reportLate(check, usual)) return
  const latencyMs = latencyOf(check)
  slowApi(check, latencyMs)
  const delayed = await burst(check, chat, 'request with a slow API')
  const slowest = slowestOf(delayed)
  check.measure('ack_slowest_with_slow_api_ms', slowest.duration_ms)
  if (slowest.duration_ms <= limitMs) return
  const times = { slowestMs: slowest.duration_ms, usualMs: slowestOf(usual).duration_ms, latencyMs, limitMs }
  check.report('SHOULD', 'acknowledgement-waits', { event: slowest.event, ...times }, [slowest])
}

const HALF = 10

/** Sends ten requests, each in a chat of its own, and ten messages in one chat; all at once. */
async function burst(check: CheckContext, writing: CheckChat, name: string): Promise<readonly EventAnswer[]> {
  const numbers = Array.from({ length: HALF }, (_, index) => index + 1)
  const chats = await Promise.all(numbers.map(number => check.chat(`${name} ${number}`)))
  const answers = await Promise.all([
    ...chats.map(chat => check.send({ event: 'REQUESTING TAKEOVER', chat })),
    ...numbers.map(() => check.send({ event: 'MESSAGE FROM USER', chat: writing })),
  ])
  for (const answer of answers) if (!timedOut(answer)) expectAcknowledged(check, answer)
  return answers
}

const timedOut = ({ failure }: EventAnswer): boolean => failure?.code === 'timeout'

const slowestOf = (answers: readonly EventAnswer[]): EventAnswer =>
  answers.reduce((slowest, answer) => (answer.duration_ms > slowest.duration_ms ? answer : slowest))

function reportLate(check: CheckContext, answers: readonly EventAnswer[]): boolean {
  const { ackMs: limitMs } = check.limits
  const late = answers.filter(({ duration_ms }) => duration_ms > limitMs)
  if (late.length === 0) return false
  const { event, duration_ms: slowestMs } = slowestOf(late)
  const details = { event, slowestMs, limitMs, late: late.length, of: answers.length }
  check.report('SHOULD', 'acknowledged-late', details, late)
  return true
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
    const chat = await check.chat(variant)
    const answer = await check.send({ event: 'REQUESTING TAKEOVER', chat, ...(alteration && { alteration }) })
    const { status } = answer
    if (status !== null && status >= 400 && status <= 499) continue
    check.report('SHOULD', 'malformed-request', { variant, ...answerDetails(answer) }, [answer])
  }
  await controlEvent(check, false)
}

/** More than the 50 ms that may lie between an answer and a call in either order, and short enough for any timeout. */
const CALL_LATENCY_MS = 500

async function expectAnswerFirst(check: CheckContext): Promise<void> {
  const started = await openConversation(check, 'writing')
  const usualMs = (await (await check.chat('usual')).press()).duration_ms
  slowApi(check, usualMs + CALL_LATENCY_MS)
  const asking = await check.chat('asking')
  const [asked, written] = await Promise.all([asking.press(), userWrites(check, started)])
  for (const [chat, answer] of [
    [asking, asked],
    [started, written],
  ] as const)
    if (answer !== null && answer.duration_ms > usualMs + CALL_LATENCY_MS / 2) reportCallsBefore(check, chat, answer)
  expectAcknowledged(check, asked)
  expectAcknowledged(check, written)
}

/** An acknowledgement that does not take longer than usual waits for no call, also when one is made meanwhile. */
function reportCallsBefore(check: CheckContext, chat: CheckChat, answer: EventAnswer): void {
  const calls = chat.calls().filter(call => isAnsweredDuring(call, answer))
  const [first] = calls
  if (first === undefined) return
  const details = {
    event: answer.event,
    call: `${first.method} ${first.path}`,
    calls: calls.length,
    ackMs: answer.duration_ms,
    costMs: Math.max(...calls.map(({ at_ms }) => at_ms)) - (first.at_ms - first.duration_ms),
  }
  check.report('SHOULD', 'called-before-acknowledgement', details, [...calls, answer])
}

const RETRY_MS = 1_000

async function expectNoRetry(check: CheckContext): Promise<void> {
  const { ackMs: timeoutMs } = check.limits
  const started = await openConversation(check, 'writing')
  const knobs = { 'webhook.timeout': formatDuration(timeoutMs), 'webhook.retry': [formatDuration(RETRY_MS)] }
  await check.sim.configure(knobs)
  slowApi(check, latencyOf(check))
  const asking = await check.chat('asking')
  await Promise.all([expectSentOnce(check, asking.press()), expectSentOnce(check, userWrites(check, started))])
}

async function expectSentOnce(check: CheckContext, sent: Promise<EventAnswer | null>): Promise<void> {
  const answer = await sent
  if (answer === null) return
  const { delivery_id: id, event } = answer
  const attempts = () => check.core.journal.query({ kind: 'delivery' }).filter(({ delivery_id }) => delivery_id === id)
  const [first = answer] = attempts()
  if (!timedOut(first)) return expectAcknowledged(check, first)
  const { ackMs: timeoutMs } = check.limits
  if (first.retry_in_ms !== undefined) await check.until(() => attempts().length > 1, RETRY_MS + timeoutMs * 2)
  const details = { event, timeoutMs, retryMs: RETRY_MS, attempts: attempts().length }
  check.report('SHOULD', 'sent-again', details, attempts())
}
