/** FLT: faults of the platform's API. */
import type { DriverCall } from '../../agent-driver/driver.ts'
import { defineTexts } from '../../text/texts.ts'
import { type ChatCall, type CheckChat, expectAcknowledged } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import { controlEvent } from '../effects.ts'
import type { FaultKind } from '../findings/faults.ts'

const NEEDS = ['accept', 'says']
const common = { level: 'SHOULD', profile: 'resilience', needs: NEEDS } as const

export const FAULT_CHECKS: readonly CheckDefinition[] = [
  {
    ...common,
    id: 'FLT-01',
    // A slow API fills what all chats share, such as a pool of connections.
    exclusive: true,
    rules: ['E6', 'GP'],
    texts: defineTexts({
      title: 'A slow answer of the platform delays only its chat',
      sends: 'One agent message whose call is answered after 8 s, and a message in another chat meanwhile.',
      observes: 'What both users see, and when.',
      passes: 'The first user sees the message once. The other user sees theirs before the slow answer.',
    }),
    run: slowAnswer,
  },
  {
    ...common,
    id: 'FLT-02',
    rules: ['ER1', 'ER4', 'GP'],
    texts: defineTexts({
      title: 'Calls that are refused for a while are repeated in time and in order',
      sends: '503 twice to start and to message, and 429 with Retry-After: 2 to start and to message.',
      observes: 'The repeated calls, the time before each, and what the users see.',
      passes: 'No call comes before Retry-After has passed. Each message is shown once, in the order of the agent.',
    }),
    run: refusedForAWhile,
  },
  {
    ...common,
    id: 'FLT-03',
    // An intermediary may stop all calls for a while when its key is refused.
    exclusive: 'last',
    rules: ['A1', 'ER1', 'GP'],
    texts: defineTexts({
      title: 'A refused key does not cause a flood of calls',
      sends: '401 to every call for 10 s, while the user writes; then a new handover with an accepted key.',
      observes: 'The calls per chat, the answers to events, and the new handover.',
      passes: 'At most 5 calls per chat, every event is answered with 200, and the new handover starts.',
    }),
    run: refusedKey,
  },
  {
    ...common,
    id: 'FLT-04',
    rules: ['E6'],
    texts: defineTexts({
      title: 'A message whose answer was lost is shown at most twice',
      sends: 'An agent message that the platform shows without answering the call, then a second message.',
      observes: 'How often the user sees each.',
      passes:
        'The first is shown once or twice (the report says which: no key makes calls idempotent), the second too.',
    }),
    run: lostAnswer,
  },
]

async function takenOver(check: CheckContext, name: string): Promise<CheckChat> {
  const chat = await check.chat(name)
  await chat.takeOver()
  return chat
}

const FIRST = 'First: I am looking at it.'
const SECOND = 'Second: it is on its way.'

async function slowAnswer(check: CheckContext): Promise<void> {
  const { slowAnswerMs, effectMs } = check.limits
  const [slow, other] = await Promise.all([takenOver(check, 'slow answer'), takenOver(check, 'other')])
  check.sim.faults.add({ on: { api: 'message' }, chat_id: slow.id, latency: `${slowAnswerMs}ms`, times: 1 })
  // A help desk may answer its agent only after the platform has answered.
  const writing = slow.tryAgent('says', { text: FIRST })
  await other.agent('says', { text: SECOND })
  const slowCall = () => slow.calls('message').find(({ faults }) => faults !== undefined)
  await check.until(() => slowCall() !== undefined, slowAnswerMs + effectMs)
  await writing
  await expectDelivered(check, slow, { text: FIRST, fault: 'slow', withinMs: effectMs })
  await expectDelivered(check, other, { text: SECOND, fault: 'slow', withinMs: effectMs })
  const [late, free] = [slowCall(), shownTo(other, SECOND)[0]]
  if (late !== undefined && free !== undefined && free.seq > late.seq)
    check.report('SHOULD', 'other-chat-blocked', { slowMs: slowAnswerMs }, [late, free])
  await reportRepeats(check, slow, { text: FIRST, fault: 'slow', atMost: 1 })
}

async function refusedForAWhile(check: CheckContext): Promise<void> {
  const unavailable = { status: 503 }
  const limited = { status: 429, headers: { 'Retry-After': '2' } }
  await Promise.all([
    startRefused(check, '503 to start', { respond: unavailable, times: 2 }),
    startRefused(check, '429 to start', { respond: limited, times: 1 }),
    messageRefused(check, '503 to message', { respond: unavailable, times: 2 }),
    messageRefused(check, '429 to message', { respond: limited, times: 1 }),
  ])
}

interface Refusal {
  readonly respond: { readonly status: number; readonly headers?: Record<string, string> }
  readonly times: number
}

async function startRefused(check: CheckContext, name: string, refusal: Refusal): Promise<void> {
  const chat = await check.chat(name)
  expectAcknowledged(check, await chat.press())
  check.sim.faults.add({ on: { api: 'start' }, chat_id: chat.id, ...refusal })
  const accepted = await chat.tryAgent('accept')
  const isStarted = () => chat.calls('start').some(({ status }) => status === 200)
  const hasStarted = await check.until(isStarted, check.limits.retryMs)
  const calls = chat.calls('start')
  if (!expectRefused(check, 'start', calls, accepted)) return
  if (!hasStarted) reportGivenUp(check, 'start', refusal, calls)
  else reportEarly(check, chat, 'start')
}

async function messageRefused(check: CheckContext, name: string, refusal: Refusal): Promise<void> {
  const chat = await takenOver(check, name)
  check.sim.faults.add({ on: { api: 'message' }, chat_id: chat.id, ...refusal })
  const written = await chat.tryAgent('says', { text: FIRST })
  await chat.tryAgent('says', { text: SECOND })
  const isShown = () => [FIRST, SECOND].every(text => shownTo(chat, text).length > 0)
  const areShown = await check.until(isShown, check.limits.retryMs)
  if (!expectRefused(check, 'message', chat.calls('message'), written)) return
  if (!areShown) return reportMissing(check, chat, refusal)
  reportEarly(check, chat, 'message')
  const [first, second] = [shownTo(chat, FIRST)[0]!, shownTo(chat, SECOND)[0]!]
  if (second.seq < first.seq) check.report('SHOULD', 'messages-reordered', { fault: name }, [second, first])
  await reportRepeats(check, chat, { text: FIRST, fault: 'refused', atMost: 1 })
}

type Endpoint = 'start' | 'message'

/** False: nothing is known, because the call that the platform would have refused was not made. */
function expectRefused(
  check: CheckContext,
  endpoint: Endpoint,
  calls: readonly ChatCall[],
  { verb, failure }: DriverCall,
) {
  if (calls.some(({ faults }) => faults !== undefined)) return true
  check.inconclusive({ code: 'call_not_made', endpoint, verb, failure: failure ?? null })
  return false
}

/** The second message was not refused itself. */
function reportMissing(check: CheckContext, chat: CheckChat, refusal: Refusal): void {
  const withText = (text: string) => chat.calls('message').filter(call => messageOf(call) === text)
  if (shownTo(chat, FIRST).length === 0) return reportGivenUp(check, 'message', refusal, withText(FIRST))
  const details = { chat: chat.name, text: SECOND, fault: 'refused', withinMs: check.limits.retryMs } as const
  check.report('SHOULD', 'message-missing', details, withText(SECOND))
}

function reportGivenUp(
  check: CheckContext,
  endpoint: Endpoint,
  { respond: { status } }: Refusal,
  calls: readonly ChatCall[],
): void {
  const details = { endpoint, status, calls: calls.length, withinMs: check.limits.retryMs }
  check.report('SHOULD', 'call-given-up', details, calls)
}

const RETRY_AFTER_MS = 2_000
/** Two clocks differ, and entries are written after the answer. */
const TOLERANCE_MS = 50

function reportEarly(check: CheckContext, chat: CheckChat, endpoint: Endpoint): void {
  const calls = chat.calls(endpoint)
  for (const [index, refused] of calls.entries()) {
    const next = calls[index + 1]
    if (refused.status !== 429 || next === undefined) continue
    const waitedMs = Math.round(next.at_ms - refused.at_ms)
    if (waitedMs < RETRY_AFTER_MS - TOLERANCE_MS)
      check.report('SHOULD', 'retry-too-early', { endpoint, waitedMs, retryAfterMs: RETRY_AFTER_MS }, [refused, next])
  }
}

/** Per chat, while every call is refused. */
const MAX_REFUSED_CALLS = 5

async function refusedKey(check: CheckContext): Promise<void> {
  const [open, pending] = await Promise.all([takenOver(check, 'conversation'), check.chat('request')])
  expectAcknowledged(check, await pending.press())
  const before = new Set([...open.calls(), ...pending.calls()].map(({ seq }) => seq))
  check.sim.faults.add({ name: 'refused-key', on: 'api', respond: { status: 401 } })
  const refused = () => [open, pending].map(chat => chat.calls().filter(({ seq }) => !before.has(seq)))
  await Promise.all([
    open.tryAgent('says', { text: FIRST }),
    pending.tryAgent('accept'),
    usersWrite(check, open),
    check.until(() => refused().some(calls => calls.length > MAX_REFUSED_CALLS), check.limits.outageMs),
  ])
  for (const calls of refused()) reportHammering(check, calls)
  check.sim.faults.clear('refused-key')
  await expectRecovery(check)
}

/** At the beginning and in the middle of the outage. */
async function usersWrite(check: CheckContext, chat: CheckChat): Promise<void> {
  expectAcknowledged(check, await chat.says('Are you there?'))
  await check.until(() => false, check.limits.outageMs / 2)
  expectAcknowledged(check, await chat.says('Hello?'))
}

function reportHammering(check: CheckContext, calls: ReturnType<CheckChat['calls']>): void {
  const [first, last] = [calls[0], calls.at(-1)]
  if (first === undefined || last === undefined || calls.length <= MAX_REFUSED_CALLS) return
  const overMs = Math.round(last.at_ms - first.at_ms)
  const details = { endpoint: first.endpoint ?? first.path, calls: calls.length, overMs, atMost: MAX_REFUSED_CALLS }
  check.report('SHOULD', 'key-refused-repeatedly', details, calls.slice(0, 10))
}

async function expectRecovery(check: CheckContext): Promise<void> {
  await controlEvent(check, false)
  const chat = await check.chat('after the outage')
  expectAcknowledged(check, await chat.press())
  await chat.tryAgent('accept')
  // One that stops all calls for a while continues later.
  const { retryMs } = check.limits
  const start = await chat.nextCall('start', retryMs)
  if (start === null) check.report('SHOULD', 'not-recovered', { withinMs: retryMs }, chat.calls())
}

async function lostAnswer(check: CheckContext): Promise<void> {
  const chat = await takenOver(check, 'lost answer')
  check.sim.faults.add({ on: { api: 'message' }, chat_id: chat.id, drop: 'after', times: 1 })
  await chat.tryAgent('says', { text: FIRST })
  await chat.tryAgent('says', { text: SECOND })
  await expectDelivered(check, chat, { text: SECOND, fault: 'lost', withinMs: check.limits.retryMs })
  await reportRepeats(check, chat, { text: FIRST, fault: 'lost', atMost: 2 })
  const shown = shownTo(chat, FIRST)
  if (shown.length > 0 && shown.length <= 2) check.report('INFO', 'lost-answer', { times: shown.length }, shown)
}

/** The calls by which the user sees this text, oldest first. */
const shownTo = (chat: CheckChat, text: string): ChatCall[] =>
  chat.calls('message').filter(call => isShown(call) && messageOf(call) === text)

/** A lost answer does not change that the platform processed the call. */
const isShown = ({ status, answer_lost }: ChatCall): boolean => status === 200 || answer_lost === 'after'

function messageOf({ request: { body } }: ChatCall): string | null {
  const message = (body as { readonly message?: unknown } | null)?.message
  return typeof message === 'string' ? message : null
}

interface Shown {
  readonly text: string
  /** The fault that the message meets. */
  readonly fault: FaultKind
}

/** Reports a message that the user does not see in time, which ends the check. */
async function expectDelivered(
  check: CheckContext,
  chat: CheckChat,
  { text, fault, withinMs }: Shown & { readonly withinMs: number },
): Promise<void> {
  if (await check.until(() => shownTo(chat, text).length > 0, withinMs)) return
  check.report('SHOULD', 'message-missing', { chat: chat.name, text, fault, withinMs }, chat.calls('message'))
  throw new CheckEndedError(text)
}

/** Waits for repetitions, and reports more than `atMost`. */
async function reportRepeats(
  check: CheckContext,
  chat: CheckChat,
  { text, fault, atMost }: Shown & { readonly atMost: number },
): Promise<void> {
  await check.until(() => shownTo(chat, text).length > atMost, check.limits.quietMs)
  const shown = shownTo(chat, text)
  if (shown.length > atMost)
    check.report('SHOULD', 'message-repeated', { text, fault, times: shown.length, atMost }, shown)
}
