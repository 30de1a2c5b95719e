/** EVT: what events contain. */
import { isMap } from '../../../base/objects.ts'
import type { CheckChat } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError, type EventAnswer } from '../context.ts'
import { canDo, openConversation, timesSeen } from '../conversation.ts'
import { controlEvent, effectWithin } from '../effects.ts'
import { inboxUntil } from '../exchange.ts'
import { answerDetails } from '../findings/acknowledgement.ts'

export const EVENT_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'EVT-01',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['W5', 'V4'],
    texts: {
      title: 'An unknown event is accepted and has no effect',
      sends: 'A validly signed event with a new name, then REQUESTING TAKEOVER in another chat.',
      observes: 'The answer, calls about the chat, and what the agent sees.',
      passes: 'The status is 2xx, nothing happens to the chat, and the valid event is answered with 200.',
    },
    run: expectUnknownIgnored,
  },
  {
    id: 'EVT-02',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['V4', 'GP'],
    texts: {
      title: 'Unknown fields and the order of fields change nothing',
      sends: 'REQUESTING TAKEOVER as usual, with new fields at every level, and with its fields in reverse order.',
      observes: 'The answers, and the effect of each.',
      passes: 'Each is answered with 200 and has the same effect.',
    },
    run: expectFormsEqual,
  },
  {
    id: 'EVT-03',
    level: 'MUST',
    profile: 'webhook',
    rules: ['EV7', 'EV8', 'W5'],
    texts: {
      title: 'Typing events are accepted, and no typing call follows',
      sends: 'AGENT TYPING START and AGENT TYPING STOP, which have no chat object.',
      observes: 'The answers, and typing calls about the chat.',
      passes: 'No typing call follows and valid events are answered (MUST), the status is 2xx (SHOULD).',
    },
    // An echo of each typing call would make the loop that the check looks for endless.
    knobs: { 'typing.webhook': 'off' },
    run: expectNoTyping,
  },
  {
    id: 'EVT-04',
    level: 'MUST',
    profile: 'webhook',
    rules: ['WH3'],
    texts: {
      title: 'A message of an unknown chat is accepted',
      sends: 'MESSAGE FROM USER for a chat that never had a request, then REQUESTING TAKEOVER in another chat.',
      observes: 'The answers.',
      passes: 'Both are answered with 200.',
    },
    async run(check) {
      const chat = await check.chat('unknown')
      // A missing `attachments` is the subject of EVT-05.
      const payload = { ...chat.payload('MESSAGE FROM USER'), attachments: [] }
      const answer = await check.send({ event: 'MESSAGE FROM USER', chat, payload })
      if (answer.status !== 200) check.report('MUST', 'unknown-chat-refused', answerDetails(answer), [answer])
      await controlEvent(check, false)
    },
  },
  {
    id: 'EVT-05',
    level: 'MUST',
    profile: 'webhook',
    rules: ['EV4', 'EV5', 'WH3'],
    texts: {
      title: 'A message is accepted with and without attachments',
      sends: 'MESSAGE FROM USER without `attachments`, with an empty list, and with two files.',
      observes: 'The answers, and the texts that the agent sees.',
      passes: 'Each is answered with 200, and the agent sees each text.',
    },
    run: expectTextKept,
  },
  {
    id: 'EVT-06',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['R-CHAT', 'PUB'],
    texts: {
      title: 'Every language and every source is accepted',
      sends: 'REQUESTING TAKEOVER of chats with rare and new languages and sources.',
      observes: 'The answers, the effect of each, and `start` when an agent accepts.',
      passes: 'Each is answered with 200, has the effect that others have, and can be taken over.',
    },
    run: expectEveryKind,
  },
]

const REQUEST = 'REQUESTING TAKEOVER'

const isAccepted = ({ status }: EventAnswer): boolean => status !== null && status >= 200 && status < 300

async function expectUnknownIgnored(check: CheckContext): Promise<void> {
  const event = 'CUSTOMER RATING GIVEN'
  const chat = await check.chat('unknown event')
  const answer = await check.send({ event, chat, payload: { ...chat.payload(event), rating: { stars: 5 } } })
  if (!isAccepted(answer))
    check.report('SHOULD', 'unknown-event-refused', { event, ...answerDetails(answer) }, [answer])
  const soon = await effectWithin(check, chat, check.limits.quietMs)
  const isVisible = await controlEvent(check, soon === null)
  // The help desk may show a request later than the check waits at first.
  const effect = soon ?? (isVisible ? await effectWithin(check, chat, 0) : null)
  if (effect !== null) check.report('SHOULD', 'unknown-event-used', { event, effect: effect.kind }, [answer, effect])
}

type Payload = Readonly<Record<string, unknown>>

const FORMS: readonly { readonly form: string; of(payload: Payload): Payload }[] = [
  { form: 'unknown fields at every level', of: payload => withNewFields(payload) },
  { form: 'its fields in reverse order', of: payload => reversed(payload) },
]

const NEW_FIELDS: Payload = { x_new: 'text', x_list: [1, { deep: true }], x_nothing: null, x_object: { event: 'X' } }

const withNewFields = (payload: Payload): Payload => ({ ...mapped(payload, withNewFields), ...NEW_FIELDS })
const reversed = (payload: Payload): Payload =>
  Object.fromEntries(Object.entries(mapped(payload, reversed)).toReversed())

const mapped = (payload: Payload, change: (inner: Payload) => Payload): Payload =>
  Object.fromEntries(Object.entries(payload).map(([name, value]) => [name, isMap(value) ? change(value) : value]))

async function expectFormsEqual(check: CheckContext): Promise<void> {
  const usual = await check.chat('usual')
  const isUsed = (await check.send({ event: REQUEST, chat: usual })).status === 200
  const effect = isUsed ? await effectWithin(check, usual, check.limits.effectMs) : null
  for (const { form, of } of FORMS) {
    const chat = await check.chat(form)
    const answer = await check.send({ event: REQUEST, chat, payload: of(chat.payload(REQUEST)) })
    const details = { event: REQUEST, form }
    if (answer.status !== 200) {
      check.report('SHOULD', 'event-form-refused', { ...details, ...answerDetails(answer) }, [answer])
    } else if (effect !== null && (await effectWithin(check, chat, check.limits.effectMs)) === null) {
      check.report('SHOULD', 'event-form-ignored', { ...details, effect: effect.kind }, [answer])
    }
  }
  await controlEvent(check, false)
}

async function expectNoTyping(check: CheckContext): Promise<void> {
  const chat = await openConversation(check, 'typing')
  await untilTypingEnds(check, chat)
  const firstSeq = check.core.journal.nextSeq
  const typing = () => typingCalls(chat).filter(({ seq }) => seq >= firstSeq)
  for (const event of ['AGENT TYPING START', 'AGENT TYPING STOP']) {
    const answer = await check.send({ event, chat })
    const details = { event, ...answerDetails(answer) }
    const level = answer.status === null ? 'MUST' : 'SHOULD'
    if (!isAccepted(answer)) check.report(level, 'typing-event-refused', details, [answer])
  }
  await check.until(() => typing().length > 0, check.limits.quietMs)
  const [first] = typing()
  const details = { call: `${first?.method} ${first?.path}`, calls: typing().length }
  if (first !== undefined) check.report('MUST', 'typing-returned', details, typing())
  await controlEvent(check, false)
}

const typingCalls = (chat: CheckChat) => [...chat.calls('typing_start'), ...chat.calls('typing_stop')]

/** The help desk may show that the agent types as soon as it has accepted. */
async function untilTypingEnds(check: CheckContext, chat: CheckChat): Promise<void> {
  const { effectMs, quietMs } = check.limits
  const untilMs = check.core.journal.atMs + effectMs
  for (let calls = -1; calls < typingCalls(chat).length && check.core.journal.atMs < untilMs; ) {
    calls = typingCalls(chat).length
    await check.until(() => typingCalls(chat).length > calls, quietMs)
  }
}

const FILES = [
  { name: 'receipt.pdf', type: 'application/pdf', sizeKb: 12 },
  { name: 'photo æøå.png', type: 'image/png', sizeKb: 40 },
]

interface Written {
  /** Completes "MESSAGE FROM USER ...". */
  readonly form: string
  readonly text: string
  readonly attachments?: readonly unknown[]
}

async function expectTextKept(check: CheckContext): Promise<void> {
  const chat = await openConversation(check, 'writing')
  const messages: readonly Written[] = [
    { form: 'without `attachments`', text: 'A message without attachments' },
    { form: 'with an empty list of attachments', text: 'A message with an empty list', attachments: [] },
    { form: 'with two attachments', text: 'A message with two files', attachments: await filesOf(check) },
  ]
  const accepted: Written[] = []
  for (const written of messages) if (await isMessageAccepted(check, chat, written)) accepted.push(written)
  if (canDo(check, 'accept') && canDo(check, 'inbox')) await expectTexts(check, chat, accepted)
  await controlEvent(check, false)
}

/** Real files with working links. They belong to a chat without an agent, so that no event is sent for them. */
async function filesOf(check: CheckContext): Promise<readonly unknown[]> {
  const chat = await check.chat('files')
  await chat.says('Two files', FILES)
  return check.core.journal.query({ kind: 'user', chatId: chat.id }).at(-1)?.attachments ?? []
}

async function isMessageAccepted(
  check: CheckContext,
  chat: CheckChat,
  { form, text, attachments }: Written,
): Promise<boolean> {
  const { attachments: _, ...payload } = chat.payload('MESSAGE FROM USER')
  const message = { ...payload, message: text, ...(attachments && { attachments }) }
  const answer = await check.send({ event: 'MESSAGE FROM USER', chat, payload: message })
  if (answer.status === 200) return true
  check.report('MUST', 'attachments-refused', { form, ...answerDetails(answer) }, [answer])
  return false
}

async function expectTexts(check: CheckContext, chat: CheckChat, messages: readonly Written[]): Promise<void> {
  const items = await inboxUntil(check, chat, seen => messages.every(({ text }) => timesSeen(seen, text) > 0))
  for (const { form, text } of messages) {
    if (timesSeen(items, text) > 0) continue
    const seen = items.flatMap(item => item.text ?? [])
    const last = check.core.journal.query({ kind: 'driver', chatId: chat.id }).slice(-1)
    check.report('MUST', 'attachments-lose-text', { form, text, seen }, last)
  }
}

interface ChatKind {
  readonly field: 'language' | 'source'
  readonly value: string
}

/** The sources that the platform's public documentation names, and one that is new; languages in every form of a tag. */
const KINDS: readonly ChatKind[] = [
  ...['web', 'facebook', 'slack', 'app', 'test', 'carrier-pigeon'].map(value => ({ field: 'source', value }) as const),
  ...['no', 'pt-BR', 'zh-Hans', ''].map(value => ({ field: 'language', value }) as const),
]

async function expectEveryKind(check: CheckContext): Promise<void> {
  const isVisible = await controlEvent(check, true)
  await Promise.all(KINDS.map(kind => expectKind(check, kind, isVisible)))
}

async function expectKind(check: CheckContext, kind: ChatKind, isVisible: boolean): Promise<void> {
  const chat = await check.chat(`${kind.field} ${kind.value}`, { [kind.field]: kind.value })
  const answer = await chat.press()
  if (answer === null) return
  if (answer.status !== 200) {
    check.report('SHOULD', 'chat-kind-refused', { ...kind, ...answerDetails(answer) }, [answer])
  } else if (isVisible && (await effectWithin(check, chat, check.limits.effectMs)) === null) {
    check.report('SHOULD', 'chat-kind-ignored', kind, [answer])
  } else if (canDo(check, 'accept') && !(await isStarted(chat))) {
    check.report('SHOULD', 'chat-kind-not-started', kind, [answer])
  }
}

/** False also when the agent cannot accept, which is reported by itself. */
async function isStarted(chat: CheckChat): Promise<boolean> {
  try {
    await chat.agent('accept')
  } catch (error) {
    if (error instanceof CheckEndedError) return false
    throw error
  }
  return (await chat.nextCall('start')) !== null
}
