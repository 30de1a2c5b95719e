/** FLT: faults of the platform's API. */
import { type CheckChat, expectAcknowledged } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import type { CheckContext } from '../context.ts'
import { controlEvent } from '../effects.ts'
import { refusedForAWhile } from './refused-calls.ts'
import {
  expectDelivered,
  FIRST_MESSAGE,
  reportRepeats,
  SECOND_MESSAGE,
  shownTo,
  takenOver,
  writeBoth,
} from './shown-messages.ts'

const NEEDS = ['accept', 'says']
const common = { level: 'SHOULD', profile: 'resilience', needs: NEEDS } as const

export const FAULT_CHECKS: readonly CheckDefinition[] = [
  {
    ...common,
    id: 'FLT-01',
    // A slow API fills what all chats share, such as a pool of connections.
    exclusive: true,
    rules: ['E6', 'GP'],
    texts: {
      title: 'A slow answer of the platform delays only its chat',
      sends: 'One agent message whose call is answered after 8 s, and a message in another chat meanwhile.',
      observes: 'What both users see, and when.',
      passes: 'The first user sees the message once. The other user sees theirs before the slow answer.',
    },
    run: slowAnswer,
  },
  {
    ...common,
    id: 'FLT-02',
    rules: ['ER1', 'ER4', 'GP'],
    texts: {
      title: 'Calls that are refused for a while are repeated in time and in order',
      sends: '503 twice to start and to message, and 429 with Retry-After: 2 to start and to message.',
      observes: 'The repeated calls, the time before each, and what the users see.',
      passes: 'No call comes before Retry-After has passed. Each message is shown once, in the order of the agent.',
    },
    run: refusedForAWhile,
  },
  {
    ...common,
    id: 'FLT-03',
    // An intermediary may stop all calls for a while when its key is refused.
    exclusive: 'last',
    rules: ['A1', 'ER1', 'GP'],
    texts: {
      title: 'A refused key does not cause a flood of calls',
      sends: '401 to every call for 10 s, while the user writes; then a new handover with an accepted key.',
      observes: 'The calls per chat, the answers to events, and the new handover.',
      passes: 'At most 5 calls per chat, every event is answered with 200, and the new handover starts.',
    },
    run: refusedKey,
  },
  {
    ...common,
    id: 'FLT-04',
    rules: ['E6'],
    texts: {
      title: 'A message whose answer was lost is shown at most twice',
      sends: 'An agent message that the platform shows without answering the call, then a second message.',
      observes: 'How often the user sees each.',
      passes:
        'The first is shown once or twice (the report says which: no key makes calls idempotent), the second too.',
    },
    run: lostAnswer,
  },
]

async function slowAnswer(check: CheckContext): Promise<void> {
  const { slowAnswerMs, effectMs } = check.limits
  const [slow, other] = await Promise.all([takenOver(check, 'slow answer'), takenOver(check, 'other')])
  check.sim.faults.add({ on: { api: 'message' }, chat_id: slow.id, latency: `${slowAnswerMs}ms`, times: 1 })
  // A help desk may answer its agent only after the platform has answered.
  const writing = slow.tryAgent('says', { text: FIRST_MESSAGE })
  await other.agent('says', { text: SECOND_MESSAGE })
  const slowCall = () => slow.calls('message').find(({ faults }) => faults !== undefined)
  await check.until(() => slowCall() !== undefined, slowAnswerMs + effectMs)
  await writing
  await expectDelivered(check, slow, { text: FIRST_MESSAGE, fault: 'slow', withinMs: effectMs })
  await expectDelivered(check, other, { text: SECOND_MESSAGE, fault: 'slow', withinMs: effectMs })
  const [late, free] = [slowCall(), shownTo(other, SECOND_MESSAGE)[0]]
  if (late !== undefined && free !== undefined && free.seq > late.seq)
    check.report('SHOULD', 'other-chat-blocked', { slowMs: slowAnswerMs }, [late, free])
  await reportRepeats(check, slow, { text: FIRST_MESSAGE, fault: 'slow', atMost: 1 })
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
    open.tryAgent('says', { text: FIRST_MESSAGE }),
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
  await writeBoth(check, chat)
  await expectDelivered(check, chat, { text: SECOND_MESSAGE, fault: 'lost', withinMs: check.limits.retryMs })
  await reportRepeats(check, chat, { text: FIRST_MESSAGE, fault: 'lost', atMost: 2 })
  const shown = shownTo(chat, FIRST_MESSAGE)
  if (shown.length > 0 && shown.length <= 2) check.report('INFO', 'lost-answer', { times: shown.length }, shown)
}
