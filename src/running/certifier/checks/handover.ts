/** FLW: one handover from the request to the end. */

import { isMap } from '../../../base/objects.ts'
import type { InboxItem } from '../../agent-driver/driver.ts'
import { acceptChat, awaitCall, type CheckChat, expectAcknowledged, requireCall } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { checkCalls } from '../check-calls.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import { timesSeen } from '../conversation.ts'
import { requestsIn } from '../effects.ts'
import {
  acceptedMessages,
  compareOrder,
  compareSamples,
  inboxUntil,
  isAccepted,
  lastEntry,
  observeSilence,
  type Sample,
  textsSeenByAgent,
  textsSentToUser,
  UNTRANSLATED,
} from '../exchange.ts'

export const HANDOVER_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'FLW-01',
    level: 'MUST',
    profile: 'flow',
    rules: ['E4.2', 'ST6', 'WH2'],
    needs: ['accept'],
    texts: {
      title: 'A handover starts when an agent accepts',
      sends: 'REQUESTING TAKEOVER; then the agent accepts.',
      observes: 'The answer of the webhook, and the call of start.',
      passes: 'The answer is 200, and start comes within 5 s with the bot_id and chat_id of the event.',
    },
    async run(check) {
      const chat = await check.chat('first')
      await chat.takeOver()
    },
  },
  {
    id: 'FLW-02',
    level: 'MUST',
    profile: 'flow',
    rules: ['WH3', 'WH4', 'ST11'],
    needs: ['accept', 'inbox'],
    knobs: UNTRANSLATED,
    texts: {
      title: 'The agent sees what the user writes',
      sends: 'Three MESSAGE FROM USER in a chat that is taken over.',
      observes: 'The answers of the webhook, and what the agent sees.',
      passes: 'Every answer is 200, and the agent sees each message once, unchanged, in order.',
    },
    run: userWritesThreeMessages,
  },
  {
    id: 'FLW-03',
    level: 'MUST',
    profile: 'flow',
    rules: ['E6.2', 'E6.3', 'R-SENDER.3'],
    needs: ['accept', 'says'],
    knobs: UNTRANSLATED,
    texts: {
      title: 'The user gets what the agent writes',
      sends: 'The agent writes three messages.',
      observes: 'The calls of message.',
      passes:
        'Each text is in one call, unchanged, in order (MUST), and each call has sender.name and sender.avatar (SHOULD).',
    },
    run: agentWritesThreeMessages,
  },
  {
    id: 'FLW-04',
    level: 'MUST',
    profile: 'flow',
    rules: ['W2', 'E5.5', 'ST13'],
    needs: ['accept', 'leave'],
    texts: {
      title: 'The handover ends when the agent leaves',
      sends: 'The agent leaves.',
      observes: 'The calls about the chat.',
      passes: 'end comes once, and then nothing that the user could see.',
    },
    run: agentLeaves,
  },
  {
    id: 'FLW-05',
    level: 'MUST',
    profile: 'flow',
    rules: ['E0.2', 'E0.3', 'E0.4', 'A1', 'V2'],
    needs: ['accept'],
    // Calls without a usable chat_id belong to this check only when no other runs.
    exclusive: true,
    // With these values the platform says what is wrong with a call, and accepts what it may accept.
    knobs: {
      ...UNTRANSLATED,
      'errors.body': 'json',
      'errors.validation': '400',
      'api.contentType': 'accept',
      'api.unknownFields': 'accept',
      'api.trailingSlash': 'accept',
    },
    texts: {
      title: 'Every call is as the platform describes it',
      sends: 'A whole handover, with every verb that the agent driver has.',
      observes: 'Every call: path, headers, fields and their types; and the answers of the webhook.',
      passes:
        'Each call has a documented path (under handover or takeover), the bearer key, JSON, and fields of the right types (MUST); the key is in no text, address or answer, and there are no unknown fields (SHOULD). The form of the paths is reported.',
    },
    run: checkWholeHandover,
  },
  {
    id: 'FLW-06',
    level: 'MUST',
    profile: 'flow',
    rules: ['ST4', 'ST6', 'ST16'],
    needs: ['accept', 'says', 'leave'],
    knobs: UNTRANSLATED,
    texts: {
      title: 'The same chat can be handed over again',
      sends: 'A whole handover; then the user asks for an agent again, in the same chat.',
      observes: 'What the agent sees, and the calls of start, message and end.',
      passes: 'The second handover works as the first.',
    },
    run: handsOverTwice,
  },
]

const numbered = (texts: readonly string[]): Sample[] =>
  texts.map((text, index) => ({ name: `message ${index + 1}`, token: text, text }))

const FROM_USER = numbered(['Where is my parcel?', 'The number is 4711.', 'Is anybody there?'])
const FROM_AGENT = numbered(['Hello, I am looking.', 'I found your parcel.', 'It arrives tomorrow.'])

async function userWritesThreeMessages(check: CheckContext): Promise<void> {
  const chat = await check.chat('first')
  await chat.takeOver()
  for (const { text } of FROM_USER) expectAcknowledged(check, await chat.says(text))
  compareSamples(check, 'MUST', 'to_agent', FROM_USER, await textsSeenByAgent(check, chat, FROM_USER))
  await observeSilence(check)
  compareOrder(check, 'MUST', 'to_agent', FROM_USER, await textsSeenByAgent(check, chat, []))
}

async function agentWritesThreeMessages(check: CheckContext): Promise<void> {
  const chat = await check.chat('first')
  await chat.takeOver()
  for (const { text } of FROM_AGENT) await chat.agent('says', { text })
  compareSamples(check, 'MUST', 'to_user', FROM_AGENT, await textsSentToUser(check, chat, FROM_AGENT))
  await observeSilence(check)
  compareOrder(check, 'MUST', 'to_user', FROM_AGENT, await textsSentToUser(check, chat, []))
  expectSender(check, chat)
}

const SENDER_FIELDS = ['name', 'avatar'] as const

function expectSender(check: CheckContext, chat: CheckChat): void {
  const calls = acceptedMessages(chat)
  const missing = SENDER_FIELDS.filter(field => calls.some(({ request }) => !hasSender(request.body, field)))
  const without = calls.filter(({ request }) => missing.some(field => !hasSender(request.body, field)))
  if (without.length === 0) return
  const names = missing.map(field => `sender.${field}`)
  check.report('SHOULD', 'sender-missing', { missing: names, calls: without.length }, without)
}

const hasSender = (body: unknown, field: (typeof SENDER_FIELDS)[number]): boolean => {
  const sender = isMap(body) && isMap(body.sender) ? body.sender : {}
  return typeof sender[field] === 'string' && sender[field] !== ''
}

async function agentLeaves(check: CheckContext): Promise<void> {
  const chat = await check.chat('first')
  await chat.takeOver()
  await leave(check, chat)
  await observeSilence(check)
  expectSilenceAfterEnd(check, chat)
}

/** The agent leaves, and `end` comes. */
async function leave(check: CheckContext, chat: CheckChat): Promise<void> {
  await chat.agent('leave')
  await requireCall(check, chat, 'end', 'the agent left')
}

/** Reads of the transcript are right after the end, for an archive. */
const REACHES_USER = ['start', 'message', 'typing_start'] as const

function expectSilenceAfterEnd(check: CheckContext, chat: CheckChat): void {
  const [end, ...others] = chat.calls('end').filter(isAccepted)
  if (end === undefined) return
  const last = others.at(-1)
  if (last !== undefined) {
    const details = { times: others.length + 1, afterMs: last.at_ms - end.at_ms }
    check.report('MUST', 'end-repeated', details, [end, ...others])
  }
  for (const endpoint of REACHES_USER) {
    const late = chat.calls(endpoint).find(({ seq }) => seq > end.seq)
    if (late !== undefined)
      check.report('MUST', 'call-after-end', { endpoint, afterMs: late.at_ms - end.at_ms }, [end, late])
  }
}

async function checkWholeHandover(check: CheckContext): Promise<void> {
  const { journal } = check.core
  const firstSeq = journal.nextSeq
  try {
    await playWholeHandover(check, await check.chat('first'))
  } finally {
    checkCalls(check, journal.query({ after: firstSeq - 1 }))
  }
}

type AgentCall = 'message' | 'typing_start' | 'typing_stop' | 'end'

/** Uses every verb of the driver, and waits for the call of each: a handover without calls shows nothing about them. */
async function playWholeHandover(check: CheckContext, chat: CheckChat): Promise<void> {
  const missing: AgentCall[] = []
  const act = async (verb: string, endpoint: AgentCall, text?: string) => {
    if (!check.driver?.verbs.includes(verb)) return
    await chat.agent(verb, text === undefined ? {} : { text })
    if ((await chat.nextCall(endpoint)) === null) missing.push(endpoint)
  }
  expectAcknowledged(check, await chat.press())
  await act('does.announce', 'message')
  const { how } = await chat.agent('accept')
  await awaitCall(check, chat, 'start', `the agent accepted (${how})`)
  await chat.says('Where is my parcel?')
  await act('type', 'typing_start')
  await act('stop', 'typing_stop')
  await act('says', 'message', 'It arrives tomorrow.')
  await act('leave', 'end')
  if (missing.length > 0) check.inconclusive({ code: 'calls_missing', endpoints: missing })
  await observeSilence(check)
}

async function handsOverTwice(check: CheckContext): Promise<void> {
  const chat = await check.chat('first')
  await chat.takeOver()
  expectAcknowledged(check, await chat.says(BETWEEN))
  const before = await inboxUntil(check, chat, seen => timesSeen(seen, BETWEEN) > 0)
  await leave(check, chat)
  expectAcknowledged(check, await chat.press())
  await expectSecondRequest(check, chat, before)
  await acceptChat(check, chat)
  const samples = FROM_AGENT.slice(0, 1)
  for (const { text } of samples) await chat.agent('says', { text })
  compareSamples(check, 'MUST', 'to_user', samples, await textsSentToUser(check, chat, samples))
  await leave(check, chat)
}

/** Lets an inbox that begins anew with each handover be shorter than the one before. */
const BETWEEN = 'A message of the first handover.'

/** Only for a help desk that shows requests. */
async function expectSecondRequest(check: CheckContext, chat: CheckChat, before: readonly InboxItem[]): Promise<void> {
  if (requestsIn(before) === 0) return
  const isNew = (items: readonly InboxItem[]) =>
    requestsIn(items) > (items.length < before.length ? 0 : requestsIn(before))
  if (isNew(await inboxUntil(check, chat, isNew))) return
  check.report('MUST', 'second-request-unseen', { withinMs: check.limits.effectMs }, lastEntry(check))
  throw new CheckEndedError('second request')
}
