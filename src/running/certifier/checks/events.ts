/** EVT: what events contain. */

import { isMap } from '../../../base/objects.ts'
import { type DeliveryEntry, isAccepted } from '../../../evaluation/history.ts'
import { type CheckChat, openChat, openConversation } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError, type FoundMistake } from '../context.ts'
import { controlEvent, EFFECT_TEXTS, effectWithin, inboxWith, timesSeen } from '../observe.ts'
import { answerText } from '../words.ts'

export const EVENT_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'EVT-01',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['W5', 'V4'],
    title: 'An unknown event is accepted and has no effect',
    sends: 'A validly signed event with a new name, then REQUESTING TAKEOVER in another chat.',
    observes: 'The answer, calls about the chat, and what the agent sees.',
    passes: 'The status is 2xx, nothing happens to the chat, and the valid event is answered with 200.',
    run: expectUnknownIgnored,
  },
  {
    id: 'EVT-02',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['V4', 'GP'],
    title: 'Unknown fields and the order of fields change nothing',
    sends: 'REQUESTING TAKEOVER as usual, with new fields at every level, and with its fields in reverse order.',
    observes: 'The answers, and the effect of each.',
    passes: 'Each is answered with 200 and has the same effect.',
    run: expectFormsEqual,
  },
  {
    id: 'EVT-03',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['EV7', 'EV8', 'W5'],
    title: 'Typing events are accepted, and no typing call follows',
    sends: 'AGENT TYPING START and AGENT TYPING STOP, which have no chat object.',
    observes: 'The answers, and typing calls about the chat.',
    passes: 'The status is 2xx, and no typing call follows.',
    // An echo of each typing call would make the loop that the check looks for endless.
    knobs: { 'typing.webhook': 'off' },
    run: expectNoTyping,
  },
  {
    id: 'EVT-04',
    level: 'MUST',
    profile: 'webhook',
    rules: ['WH3'],
    title: 'A message of an unknown chat is accepted',
    sends: 'MESSAGE FROM USER for a chat that never had a request, then REQUESTING TAKEOVER in another chat.',
    observes: 'The answers.',
    passes: 'Both are answered with 200.',
    run: expectUnknownChatAccepted,
  },
  {
    id: 'EVT-05',
    level: 'MUST',
    profile: 'webhook',
    rules: ['EV4', 'EV5', 'WH3'],
    title: 'A message is accepted with and without attachments',
    sends: 'MESSAGE FROM USER without `attachments`, with an empty list, and with two files.',
    observes: 'The answers, and the texts that the agent sees.',
    passes: 'Each is answered with 200, and the agent sees each text.',
    run: expectTextsSeen,
  },
  {
    id: 'EVT-06',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['R-CHAT', 'PUB'],
    title: 'Every language and every source is accepted',
    sends: 'REQUESTING TAKEOVER of chats with rare and new languages and sources.',
    observes: 'The answers, the effect of each, and `start` when an agent accepts.',
    passes: 'Each is answered with 200, has the effect that others have, and can be taken over.',
    run: expectEveryKind,
  },
]

const REQUEST = 'REQUESTING TAKEOVER'
const MESSAGE = 'MESSAGE FROM USER'

/** The details of an answer that is reported. */
const detailsOf = ({ status, failure }: DeliveryEntry) => ({ status, failure: failure ?? null })

async function expectUnknownIgnored(check: CheckContext): Promise<void> {
  const event = 'CUSTOMER RATING GIVEN'
  const chat = await openChat(check, 'unknown event')
  const answer = await check.send({ event, chat, payload: { ...chat.payload(event), rating: { stars: 5 } } })
  if (!isAccepted(answer)) check.add(refusedUnknown(answer))
  const soon = await effectWithin(check, chat, check.limits.quietMs)
  const isVisible = await controlEvent(check, soon === null)
  // The help desk may show a request later than the check waits at first.
  const effect = soon ?? (isVisible ? await effectWithin(check, chat, 0) : null)
  if (effect === null) return
  check.report('SHOULD', 'unknown-event-used', {
    happened: `The unknown event ${event} had an effect: ${EFFECT_TEXTS[effect.kind]}.`,
    hint: 'Compare `event` with the exact names. A branch for "everything else" must not open a conversation or forward a message.',
    details: { event, effect: effect.kind },
    entries: [answer, effect],
  })
}

export function refusedUnknown(answer: DeliveryEntry): FoundMistake {
  const { event } = answer
  return {
    ...{ code: 'unknown-event-refused', level: 'SHOULD' },
    happened: `The webhook ${answerText(answer)} to the unknown event ${event}, which was validly signed, and not 2xx.`,
    hint: 'Give the switch over `event` a default branch that logs the name and answers 200. The platform can add events at any time, and may disable a webhook that refuses them.',
    details: { event, ...detailsOf(answer) },
    entries: [answer],
  }
}

type Payload = Readonly<Record<string, unknown>>

/** Fields that other webhooks of the platform have, and a null and an object of the kind that a parser may take for something else. */
const NEW_FIELDS: Payload = {
  organization_id: 7,
  chat_labels: ['delivery', { name: 'vip' }],
  web_host: 'www.example.test',
  web_path: null,
  web_url: 'https://www.example.test/delivery',
  web_page: { event: 'X' },
}

/** Adds unknown fields at every level, or reverses the order of the fields at every level. */
function changeFields(payload: Payload, change: 'add' | 'reverse'): Payload {
  const fields: [string, unknown][] = []
  for (const [name, value] of Object.entries(payload))
    fields.push([name, isMap(value) ? changeFields(value, change) : value])
  return change === 'add' ? { ...Object.fromEntries(fields), ...NEW_FIELDS } : Object.fromEntries(fields.toReversed())
}

const FORMS = [
  { form: 'unknown fields at every level', change: 'add' },
  { form: 'its fields in reverse order', change: 'reverse' },
] as const

async function expectFormsEqual(check: CheckContext): Promise<void> {
  const { effectMs } = check.limits
  const usual = await openChat(check, 'usual')
  const isUsed = (await check.send({ event: REQUEST, chat: usual })).status === 200
  const effect = isUsed ? await effectWithin(check, usual, effectMs) : null
  for (const { form, change } of FORMS) {
    const chat = await openChat(check, form)
    const payload = changeFields(chat.payload(REQUEST), change)
    const answer = await check.send({ event: REQUEST, chat, payload })
    if (answer.status !== 200) {
      check.report('SHOULD', 'event-form-refused', {
        happened: `The webhook ${answerText(answer)} to ${REQUEST} with ${form}, and not 200.`,
        hint: 'Make the schema ignore fields that it does not know, and read fields by name. The platform can add fields, and JSON has no order of fields.',
        details: { event: REQUEST, form, ...detailsOf(answer) },
        entries: [answer],
      })
    } else if (effect !== null && (await effectWithin(check, chat, effectMs)) === null) {
      check.report('SHOULD', 'event-form-ignored', {
        happened: `${REQUEST} with ${form} had no effect. Without the difference ${effect.kind === 'call' ? 'the intermediary calls the platform' : 'the agent sees it'}.`,
        hint: 'Look for a parser that rejects unknown fields without an error, or for code that takes the first fields instead of named ones.',
        details: { event: REQUEST, form, effect: effect.kind },
        entries: [answer],
      })
    }
  }
  await controlEvent(check, false)
}

async function expectNoTyping(check: CheckContext): Promise<void> {
  const { limits, core } = check
  const chat = await openConversation(check, 'typing')
  const typingCalls = (after = 0) => chat.calls(['typing_start', 'typing_stop'], after)
  // The help desk may show that the agent types as soon as it has accepted: waits until these calls end.
  const untilMs = core.journal.atMs + limits.effectMs
  for (let calls = -1; calls < typingCalls().length && core.journal.atMs < untilMs; ) {
    calls = typingCalls().length
    await check.until(() => typingCalls().length > calls, limits.quietMs)
  }
  const lastSeq = core.journal.nextSeq - 1
  for (const event of ['AGENT TYPING START', 'AGENT TYPING STOP']) {
    const answer = await check.send({ event, chat })
    if (!isAccepted(answer)) check.add(refusedTyping(answer))
  }
  await check.until(() => typingCalls(lastSeq).length > 0, limits.quietMs)
  const calls = typingCalls(lastSeq)
  const [first] = calls
  if (first !== undefined)
    check.report('SHOULD', 'typing-returned', {
      happened: `The intermediary made ${calls.length === 1 ? 'a call' : `${calls.length} calls`} after AGENT TYPING START and AGENT TYPING STOP: ${first.method} ${first.path}.`,
      hint: 'Ignore both events, or use them only to show the agent that the platform has received the typing call. They report your own calls, so a call in return never ends.',
      details: { call: `${first.method} ${first.path}`, calls: calls.length },
      entries: calls,
    })
  await controlEvent(check, false)
}

export function refusedTyping(answer: DeliveryEntry): FoundMistake {
  const { event } = answer
  return {
    ...{ code: 'typing-event-refused', level: 'SHOULD' },
    happened: `The webhook ${answerText(answer)} to ${event}, whose payload has only \`chat_id\`, and not 2xx.`,
    hint: 'Read `event` before anything else, and `chat.id` only for REQUESTING TAKEOVER and MESSAGE FROM USER: this event has no `chat`, `bot` or `user` object.',
    details: { event, ...detailsOf(answer) },
    entries: [answer],
  }
}

async function expectUnknownChatAccepted(check: CheckContext): Promise<void> {
  const chat = await openChat(check, 'unknown')
  // A missing `attachments` is the subject of EVT-05.
  const answer = await check.send({ event: MESSAGE, chat, payload: { ...chat.payload(MESSAGE), attachments: [] } })
  if (answer.status !== 200)
    check.report('MUST', 'unknown-chat-refused', {
      happened: `The webhook ${answerText(answer)} to ${MESSAGE} for a chat that it had not seen before, and not 200.`,
      hint: 'Create the conversation when it is unknown, as for a request, and show the message to an agent: the request may be lost, or have come before a restart. The payload has all that is needed: bot, chat and user.',
      details: { event: MESSAGE, ...detailsOf(answer) },
      entries: [answer],
    })
  await controlEvent(check, false)
}

const FILES = [
  { name: 'receipt.pdf', type: 'application/pdf', sizeKb: 12 },
  { name: 'photo æøå.png', type: 'image/png', sizeKb: 40 },
]

interface Message {
  /** Completes "MESSAGE FROM USER ...". */
  readonly form: string
  readonly text: string
  readonly attachments?: readonly unknown[]
}

async function expectTextsSeen(check: CheckContext): Promise<void> {
  const { journal } = check.core
  const chat = await openConversation(check, 'writing')
  // Real files with working links. They belong to a chat without an agent, so that no event is sent for them.
  const other = await openChat(check, 'files')
  await other.says('Two files', FILES)
  const files = journal.query({ kind: 'user', chatId: other.id }).at(-1)?.attachments ?? []
  const messages: readonly Message[] = [
    { form: 'without `attachments`', text: 'A message without attachments' },
    { form: 'with an empty list of attachments', text: 'A message with an empty list', attachments: [] },
    { form: 'with two attachments', text: 'A message with two files', attachments: files },
  ]
  const accepted: Message[] = []
  for (const message of messages) {
    const { form, text, attachments } = message
    const { attachments: _, ...payload } = chat.payload(MESSAGE)
    const changed = { ...payload, message: text, ...(attachments && { attachments }) }
    const answer = await check.send({ event: MESSAGE, chat, payload: changed })
    if (answer.status === 200) accepted.push(message)
    else
      check.report('MUST', 'attachments-refused', {
        happened: `The webhook ${answerText(answer)} to ${MESSAGE} ${form}, and not 200.`,
        hint: 'Treat a missing `attachments` as an empty list: `event.attachments ?? []`. It is there only when the handover was started with support for it (EV5).',
        details: { event: MESSAGE, form, ...detailsOf(answer) },
        entries: [answer],
      })
  }
  if (check.canDo('accept') && check.canDo('inbox')) {
    const texts = accepted.map(({ text }) => text)
    const items = await inboxWith(check, chat, texts)
    // The inbox may show the conversation before the handover too.
    const notices = journal.query({ kind: 'note', chatId: chat.id }).filter(({ note }) => note === 'bot_message')
    const isOfBot = (shown: string) => notices.some(({ text }) => shown.includes(String(text)))
    for (const { form, text } of accepted) {
      if (timesSeen(items, text) > 0) continue
      const seen = items.flatMap(item => item.text ?? []).filter(seenText => !isOfBot(seenText))
      const quoted = seen.map(text => JSON.stringify(text)).join(', ')
      const shown = seen.length === 0 ? 'No text came from this chat' : `Seen: ${quoted}`
      check.report('MUST', 'attachments-lose-text', {
        happened: `The agent does not see the text ${JSON.stringify(text)} of ${MESSAGE} ${form}. ${shown}.`,
        hint: 'Forward the text and the attachments. A message with files can have a text too.',
        details: { form, text, arrived: seen.length },
        entries: journal.query({ kind: 'driver', chatId: chat.id }).slice(-1),
      })
    }
  }
  await controlEvent(check, false)
}

/** The sources that the platform's public documentation and its own clients name, and one that is new; languages in every form of a tag. */
const CHAT_KINDS = {
  source: ['web', 'facebook', 'slack', 'app', 'test', 'android', 'ios', 'carrier-pigeon'],
  language: ['no', 'pt-BR', 'zh-Hans', ''],
} as const

async function expectEveryKind(check: CheckContext): Promise<void> {
  const isVisible = await controlEvent(check, true)
  const checked: Promise<void>[] = []
  for (const field of ['source', 'language'] as const)
    for (const value of CHAT_KINDS[field]) checked.push(expectKind(check, field, value, isVisible))
  await Promise.all(checked)
}

async function expectKind(
  check: CheckContext,
  field: keyof typeof CHAT_KINDS,
  value: string,
  isVisible: boolean,
): Promise<void> {
  const chat = await openChat(check, `${field} ${value}`, { [field]: value })
  const kind = `of a chat whose ${field} is ${JSON.stringify(value)}`
  const details = { field, value }
  const answer = await chat.press()
  if (answer.status !== 200) {
    check.report('SHOULD', 'chat-kind-refused', {
      happened: `The webhook ${answerText(answer)} to ${REQUEST} ${kind}, and not 200.`,
      hint: 'Store language and source as plain texts. A list of allowed values becomes incomplete; use a default for what is not in it.',
      details: { ...details, ...detailsOf(answer) },
      entries: [answer],
    })
  } else if (isVisible && (await effectWithin(check, chat, check.limits.effectMs)) === null) {
    check.report('SHOULD', 'chat-kind-ignored', {
      happened: `${REQUEST} ${kind} had no effect. With the usual ${field} it has one.`,
      hint: 'Look for a filter or a route by language or source that has no default.',
      details,
      entries: [answer],
    })
  } else if (check.canDo('accept') && !(await isStarted(chat))) {
    check.report('SHOULD', 'chat-kind-not-started', {
      happened: `The handover ${kind} was not started after an agent accepted it.`,
      hint: 'Look for an exception after the agent accepted: a library for languages or formats may throw for a value that it does not know.',
      details: { ...details, endpoint: 'start' },
      entries: [answer],
    })
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
