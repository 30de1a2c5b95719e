/** DLV: events that come twice, late, or in another order. */

import { formatDuration } from '../../../base/text/quantities.ts'
import { type CheckChat, expectAcknowledged, openChat, openTakenOver } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import { UNTRANSLATED } from '../exchange.ts'
import { inboxWith, requestsIn, requireReadInbox, timesSeen } from '../observe.ts'
import { answerText } from '../words.ts'

export const DELIVERY_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'DLV-01',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['GP'],
    needs: ['accept'],
    title: 'A request that comes twice opens one conversation',
    sends: 'REQUESTING TAKEOVER twice, 50 ms apart, and again while an agent has the chat.',
    observes: 'Calls of start, the requests that the agent sees, and the answers.',
    passes:
      'The endpoint start is called once, the agent sees one request and keeps the chat, and each copy is answered with 200.',
    run: expectOneConversation,
  },
  {
    id: 'DLV-02',
    level: 'MUST',
    profile: 'flow',
    rules: ['WH4', 'GP'],
    needs: ['accept', 'inbox'],
    knobs: UNTRANSLATED,
    title: 'A user can write the same text twice',
    sends: 'The same text as two messages, and then one message that is delivered twice.',
    observes: 'The messages that the agent sees.',
    passes:
      'The agent sees the repeated text twice, and the other at least once (MUST). The copy is answered with 200 (SHOULD).',
    run: expectRepeatedTextsSeen,
  },
  {
    id: 'DLV-03',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['WH4', 'GP'],
    needs: ['accept', 'inbox'],
    knobs: UNTRANSLATED,
    title: 'A message that another one overtakes still arrives',
    sends: 'Two messages, of which the first is delivered after the second.',
    observes: 'The messages that the agent sees.',
    passes: 'The agent sees both.',
    run: expectBothArrive,
  },
  {
    id: 'DLV-04',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['ST13', 'WH3', 'GP'],
    needs: ['accept', 'leave'],
    title: 'A message after the end starts nothing',
    sends: 'MESSAGE FROM USER after the agent has left.',
    observes: 'The answer, and calls about the chat.',
    passes: 'The status is 200, and no start, message or typing_start follows.',
    run: expectSilenceAfterEnd,
  },
]

const REQUEST = 'REQUESTING TAKEOVER'
const MESSAGE = 'MESSAGE FROM USER'
const TWICE = { duplicate: 2, gap: '50ms' } as const

/** When the request came again. */
const PHASES = {
  pending: 'REQUESTING TAKEOVER was delivered twice, 50 ms apart',
  'taken over': 'REQUESTING TAKEOVER was delivered again while an agent had the chat',
}

async function expectOneConversation(check: CheckContext): Promise<void> {
  const chat = await openChat(check, 'twice')
  check.sim.faults.add({ on: { webhook: REQUEST }, ...TWICE, times: 1 })
  const pressedMs = check.core.journal.atMs
  expectAcknowledged(check, await chat.press())
  await expectCopiesAccepted(check, chat, 1)
  await chat.accept()
  // The help desk needs as long for a further request as for the first.
  const watchMs = check.core.journal.atMs - pressedMs + check.limits.quietMs
  if (await reportRepeated(check, chat, 'pending', watchMs)) return
  expectAcknowledged(check, await check.send({ event: REQUEST, chat, sending: TWICE }))
  await expectCopiesAccepted(check, chat, 2)
  if (await reportRepeated(check, chat, 'taken over', watchMs)) return
  if (check.canDo('says')) await chat.agent('says', { text: 'Still here' })
}

/** A copy is sent 50 ms later, so its answer may come after that of the first. */
async function expectCopiesAccepted(check: CheckContext, chat: CheckChat, count: number): Promise<void> {
  const copies = () => chat.deliveries().filter(({ duplicate }) => duplicate)
  await check.until(() => copies().length >= count, check.limits.ackMs)
  const refused = copies().find(({ status }) => status !== 200)
  if (refused === undefined) return
  const { event, status, failure = null } = refused
  check.report('SHOULD', 'redelivery-refused', {
    happened: `The webhook ${answerText(refused)} to the second copy of ${event}, and not 200.`,
    hint: 'Answer 200 when an event is recognized as a copy: it was received, and nothing more has to be done. Otherwise the platform may send it once more.',
    details: { event, status, failure },
    entries: [refused],
  })
  throw new CheckEndedError(event)
}

/** True: a second conversation or a second `start` was seen. */
async function reportRepeated(
  check: CheckContext,
  chat: CheckChat,
  phase: keyof typeof PHASES,
  watchMs: number,
): Promise<boolean> {
  await check.until(() => chat.calls('start').length > 1, watchMs)
  const starts = chat.calls('start')
  if (starts.length > 1)
    check.report('SHOULD', 'start-repeated', {
      happened: `${PHASES[phase]}, and \`start\` was called ${starts.length} times. The user reads the entering text with each.`,
      hint: 'Store that a chat is taken over, and check it before `start` in the same step, so that two copies at once cannot both pass.',
      details: { phase, starts: starts.length },
      entries: starts,
    })
  const requests = requestsIn(await chat.inbox())
  if (starts.length < 2) requireReadInbox(check, chat)
  if (requests > 1)
    check.report('SHOULD', 'conversation-repeated', {
      happened: `${PHASES[phase]}, and the agent sees ${requests} requests instead of one.`,
      hint: 'Look up the conversation by `chat.id` before one is opened. While it is pending or taken over, a further request is a copy or an impatient user, and changes nothing.',
      details: { phase, requests },
      entries: chat.deliveries().slice(-1),
    })
  return starts.length > 1 || requests > 1
}

/** What a user may well write twice, and nothing that a help desk shows with a chat contains by chance. */
const REPEATED = 'ok, parcel-17'
const REDELIVERED = 'One message, delivered twice'

async function expectRepeatedTextsSeen(check: CheckContext): Promise<void> {
  const chat = await openTakenOver(check, 'repeats')
  expectAcknowledged(check, await chat.says(REPEATED))
  await check.pause(check.limits.quietMs)
  expectAcknowledged(check, await chat.says(REPEATED))
  const items = await inboxWith(check, chat, [REPEATED], 2)
  const seen = timesSeen(items, REPEATED)
  if (seen < 2)
    check.report('MUST', 'repeated-text-lost', {
      happened: `The user wrote "${REPEATED}" 2 times, and the agent sees it ${seen === 0 ? 'never' : 'once'}.`,
      hint: 'Do not recognize copies of MESSAGE FROM USER by their content: the payload has no id and no time, so a copy and a repeated text are equal. A doubled message is better than a lost one.',
      details: { text: REPEATED, sent: 2, seen },
      entries: chat.deliveries(MESSAGE),
    })
  check.sim.faults.add({ on: { webhook: MESSAGE }, ...TWICE, times: 1 })
  expectAcknowledged(check, await chat.says(REDELIVERED))
  await expectCopiesAccepted(check, chat, 1)
  await inboxWith(check, chat, [REDELIVERED])
  const redelivered = timesSeen(await chat.inbox(), REDELIVERED)
  check.measure('redelivered_message_seen', redelivered)
  if (redelivered === 0)
    check.report('MUST', 'redelivered-text-lost', {
      happened: `The message "${REDELIVERED}" was delivered twice, and the agent does not see it.`,
      hint: 'Look in the log for the second copy: it may undo or replace the first.',
      details: { text: REDELIVERED, seen: 0 },
      entries: chat.deliveries(MESSAGE),
    })
}

async function expectBothArrive(check: CheckContext): Promise<void> {
  const delayMs = check.limits.quietMs
  const chat = await openTakenOver(check, 'overtaken')
  check.sim.faults.add({ on: { webhook: MESSAGE }, delay: formatDuration(delayMs), times: 1 })
  const texts = ['Written first, delivered last', 'Written last, delivered first']
  // Both are written at the same time, in this order.
  await check.pace(chat.id)
  const answers = await Promise.all(texts.map(text => chat.says(text)))
  for (const answer of answers) expectAcknowledged(check, answer)
  const items = await inboxWith(check, chat, texts)
  const lost = texts.filter(text => timesSeen(items, text) === 0)
  if (lost.length === 0) return
  check.report('SHOULD', 'overtaken-text-lost', {
    happened: `A message was delivered ${delayMs} ms after a later one, and the agent does not see "${lost.join('" and "')}".`,
    hint: 'Use the text of each event. Code that reads the latest message from the transcript, or expects events in order, loses those that come late: the order of deliveries is not stated.',
    details: { lost, arrived: texts.length - lost.length, delayMs },
    entries: chat.deliveries(MESSAGE),
  })
}

async function expectSilenceAfterEnd(check: CheckContext): Promise<void> {
  const chat = await openTakenOver(check, 'ended')
  await chat.agent('leave')
  const end = await chat.requireCall('end', 'the agent left')
  // Calls that reach the user.
  const lateCalls = () => chat.calls(['start', 'message', 'typing_start'], end.seq)
  const payload = { ...chat.payload(MESSAGE), attachments: [] }
  const answer = await check.send({ event: MESSAGE, chat, payload })
  await check.until(() => lateCalls().length > 0, check.limits.quietMs)
  const [call] = lateCalls()
  if (call !== undefined)
    check.report('SHOULD', 'late-message-starts-call', {
      happened: `The intermediary made ${call.method} ${call.path} after a message that came when the handover was over and the bot answers again.`,
      hint: 'Show the late message to an agent, or drop it. Only a new REQUESTING TAKEOVER begins a handover.',
      details: { call: `${call.method} ${call.path}` },
      entries: [answer, call],
    })
  expectAcknowledged(check, answer)
}
