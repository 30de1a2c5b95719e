/** DLV: events that come twice, late, or in another order. */
import { formatDuration } from '../../../base/text/quantities.ts'
import { acceptChat, type CheckChat, expectAcknowledged, requireCall } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import { canDo, timesSeen } from '../conversation.ts'
import { requestsIn, requireReadInbox } from '../effects.ts'
import { inboxUntil, observeSilence, UNTRANSLATED } from '../exchange.ts'
import { answerDetails } from '../findings/acknowledgement.ts'

export const DELIVERY_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'DLV-01',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['GP'],
    needs: ['accept'],
    texts: {
      title: 'A request that comes twice opens one conversation',
      sends: 'REQUESTING TAKEOVER twice, 50 ms apart, and again while an agent has the chat.',
      observes: 'Calls of start, the requests that the agent sees, and the answers.',
      passes:
        'The endpoint start is called once, the agent sees one request and keeps the chat, and each copy is answered with 200.',
    },
    run: expectOneConversation,
  },
  {
    id: 'DLV-02',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['WH4', 'GP'],
    needs: ['accept', 'inbox'],
    knobs: UNTRANSLATED,
    texts: {
      title: 'A user can write the same text twice',
      sends: 'The same text as two messages, and then one message that is delivered twice.',
      observes: 'The messages that the agent sees.',
      passes: 'The agent sees the repeated text twice, and the other at least once.',
    },
    run: expectRepeatsKept,
  },
  {
    id: 'DLV-03',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['WH4', 'GP'],
    needs: ['accept', 'inbox'],
    knobs: UNTRANSLATED,
    texts: {
      title: 'A message that another one overtakes still arrives',
      sends: 'Two messages, of which the first is delivered after the second.',
      observes: 'The messages that the agent sees.',
      passes: 'The agent sees both.',
    },
    run: expectBothArrive,
  },
  {
    id: 'DLV-04',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['ST13', 'WH3', 'GP'],
    needs: ['accept', 'leave'],
    texts: {
      title: 'A message after the end starts nothing',
      sends: 'MESSAGE FROM USER after the agent has left.',
      observes: 'The answer, and calls about the chat.',
      passes: 'The status is 200, and no start, message or typing_start follows.',
    },
    run: expectSilenceAfterEnd,
  },
]

const REQUEST = 'REQUESTING TAKEOVER'
const MESSAGE = 'MESSAGE FROM USER'
const TWICE = { duplicate: 2, gap: '50ms' } as const

async function expectOneConversation(check: CheckContext): Promise<void> {
  const chat = await check.chat('twice')
  check.sim.faults.add({ on: { webhook: REQUEST }, ...TWICE, times: 1 })
  const pressedMs = check.core.journal.atMs
  expectAcknowledged(check, await chat.press())
  await expectCopiesAccepted(check, chat, 1)
  await acceptChat(check, chat)
  // The help desk needs as long for a further request as for the first.
  const watchMs = check.core.journal.atMs - pressedMs + check.limits.quietMs
  if (await reportRepeated(check, chat, 'pending', watchMs)) return
  expectAcknowledged(check, await check.send({ event: REQUEST, chat, sending: TWICE }))
  await expectCopiesAccepted(check, chat, 2)
  if (await reportRepeated(check, chat, 'taken over', watchMs)) return
  if (canDo(check, 'says')) await chat.agent('says', { text: 'Still here' })
}

/** A copy is sent 50 ms later, so its answer may come after that of the first. */
async function expectCopiesAccepted(check: CheckContext, chat: CheckChat, count: number): Promise<void> {
  const copies = () => check.core.journal.query({ kind: 'delivery', chatId: chat.id }).filter(entry => entry.duplicate)
  await check.until(() => copies().length >= count, check.limits.ackMs)
  const refused = copies().find(({ status }) => status !== 200)
  if (refused === undefined) return
  check.report('SHOULD', 'redelivery-refused', { event: refused.event, ...answerDetails(refused) }, [refused])
  throw new CheckEndedError(refused.event)
}

/** True: a second conversation or a second `start` was seen. */
async function reportRepeated(
  check: CheckContext,
  chat: CheckChat,
  phase: 'pending' | 'taken over',
  watchMs: number,
): Promise<boolean> {
  await check.until(() => chat.calls('start').length > 1, watchMs)
  const starts = chat.calls('start')
  if (starts.length > 1) check.report('SHOULD', 'start-repeated', { phase, starts: starts.length }, starts)
  const requests = requestsIn(await chat.inbox())
  if (starts.length < 2) requireReadInbox(check, chat)
  const last = check.core.journal.query({ kind: 'delivery', chatId: chat.id }).slice(-1)
  if (requests > 1) check.report('SHOULD', 'conversation-repeated', { phase, requests }, last)
  return starts.length > 1 || requests > 1
}

/** What a user may well write twice, and nothing that a help desk shows with a chat contains by chance. */
const REPEATED = 'ok, parcel-17'

async function expectRepeatsKept(check: CheckContext): Promise<void> {
  const chat = await check.chat('repeats')
  await chat.takeOver()
  await expectWrittenTwice(check, chat, REPEATED)
  const redelivered = 'One message, delivered twice'
  check.sim.faults.add({ on: { webhook: MESSAGE }, ...TWICE, times: 1 })
  expectAcknowledged(check, await chat.says(redelivered))
  await expectCopiesAccepted(check, chat, 1)
  await inboxUntil(check, chat, items => timesSeen(items, redelivered) > 0)
  const seen = timesSeen(await chat.inbox(), redelivered)
  check.measure('redelivered_message_seen', seen)
  if (seen === 0) check.report('SHOULD', 'redelivered-text-lost', { text: redelivered }, messagesTo(check, chat))
}

async function expectWrittenTwice(check: CheckContext, chat: CheckChat, text: string): Promise<void> {
  expectAcknowledged(check, await chat.says(text))
  await observeSilence(check)
  expectAcknowledged(check, await chat.says(text))
  const seen = timesSeen(await inboxUntil(check, chat, items => timesSeen(items, text) > 1), text)
  if (seen > 1) return
  check.report('SHOULD', 'repeated-text-lost', { text, sent: 2, seen }, messagesTo(check, chat))
}

const messagesTo = ({ core }: CheckContext, { id }: CheckChat) =>
  core.journal.query({ kind: 'delivery', chatId: id }).filter(({ event }) => event === MESSAGE)

async function expectBothArrive(check: CheckContext): Promise<void> {
  const delayMs = check.limits.quietMs
  const chat = await check.chat('overtaken')
  await chat.takeOver()
  check.sim.faults.add({ on: { webhook: MESSAGE }, delay: formatDuration(delayMs), times: 1 })
  const texts = ['Written first, delivered last', 'Written last, delivered first']
  const answers = await Promise.all(texts.map(text => chat.says(text)))
  for (const answer of answers) expectAcknowledged(check, answer)
  const items = await inboxUntil(check, chat, seen => texts.every(text => timesSeen(seen, text) > 0))
  const lost = texts.filter(text => timesSeen(items, text) === 0)
  if (lost.length > 0) check.report('SHOULD', 'overtaken-text-lost', { lost, delayMs }, messagesTo(check, chat))
}

/** Calls that reach the user. */
const CALLS = ['start', 'message', 'typing_start'] as const

async function expectSilenceAfterEnd(check: CheckContext): Promise<void> {
  const chat = await check.chat('ended')
  await chat.takeOver()
  await chat.agent('leave')
  const end = await requireCall(check, chat, 'end', 'the agent left')
  const late = () => CALLS.flatMap(name => chat.calls(name)).filter(({ seq }) => seq > end.seq)
  const payload = { ...chat.payload(MESSAGE), attachments: [] }
  const answer = await check.send({ event: MESSAGE, chat, payload })
  await check.until(() => late().length > 0, check.limits.quietMs)
  const [call] = late()
  const details = { call: `${call?.method} ${call?.path}` }
  if (call !== undefined) check.report('SHOULD', 'late-message-starts-call', details, [answer, call])
  expectAcknowledged(check, answer)
}
