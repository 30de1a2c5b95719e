/** Reads what a call and its response show, beside what the call asks for: the form of responses, transcripts, limits, links. */
import { isMap } from '../../base/objects.ts'
import { shapeOf } from '../../base/schemas/definitions.ts'
import { ChatRecord } from '../../platform/contract/schemas.ts'
import { MASKED, type Reading, range } from './evidence.ts'
import { type ChatKnowledge, isOnly, isText, type TextMark } from './knowledge.ts'
import { isByUser, type KnownCall } from './known-call.ts'
import { type Fields, pathOf } from './observation.ts'
import { readTypingCall } from './typing-evidence.ts'

const TIME_FORMS = [
  ['epoch', /^\d+$/],
  ['iso', /^\d{4}-\d\d-\d\dT.*Z$/],
  ['offset', /^\d{4}-\d\d-\d\dT.*[+-]\d\d:\d\d$/],
] as const

/** The refusals whose bodies the platform writes, and no gateway before it. */
const OWN_REFUSALS = [400, 404, 409, 415, 422]
const FORM_BY_BEGINNING: Readonly<Record<string, string>> = { '': 'empty', '{': 'json', '<': 'html' }

const MAX_KEYS = 100

/** Reads what any call shows (its key, its size, how a refusal is written), then what its own endpoint shows. */
export function readCall(call: KnownCall, reading: Reading): void {
  const { endpoint, chat, place, status, isAccepted, reply, answer, answerText, record } = call
  const { recording, addEvidence } = reading
  if (endpoint === null) return readAttachmentLink(call, reading)
  readLimits(call, reading)
  readTypingCall(call)

  const key = call.headers.authorization ?? MASKED
  if (!key.endsWith(MASKED)) {
    if (endpoint !== 'chat') {
      if (isAccepted && recording.handoverKeys.size < MAX_KEYS) recording.handoverKeys.add(key)
    } else if (recording.handoverKeys.has(key) && (isAccepted || status === 403))
      addEvidence('keys.shared', [isAccepted ? 'on' : 'off'], place)
  }

  if (OWN_REFUSALS.includes(status) && answerText !== null) {
    const [first = ''] = answerText.trimStart()
    addEvidence('errors.body', [FORM_BY_BEGINNING[first] ?? 'text'], place)
  }

  // Only texts that are long in one unit and short in the other tell which unit the platform counts.
  if (endpoint === 'summarize' && call.isValid && chat?.userTexts != null) {
    const { count, points, units } = chat.userTexts
    const isTelling = count >= 2 && points <= 30 && units > 30
    if (isTelling && isAccepted) addEvidence('summarize.count', ['utf16'], place)
    else if (isTelling && [400, 409, 422].includes(status)) addEvidence('summarize.count', ['codepoints'], place)
  }

  if (!isAccepted) return
  if (endpoint === 'typing_start' || endpoint === 'typing_stop') {
    const isEmpty = isMap(answer) && Object.keys(answer).length === 0
    addEvidence('typing.response', [isEmpty ? 'empty' : 'event' in reply ? 'event' : 'another body'], place)
  }
  if (endpoint === 'availability') {
    const form = TIME_FORMS.find(([, pattern]) => pattern.test(String(reply.updated_at)))
    addEvidence('time.format', [form?.[0] ?? 'another form'], place)
  }
  if (call.messages.length === 0 && reply.chatmessage_id !== undefined)
    addEvidence('ids.message', [formOfId(reply.chatmessage_id)], place)
  if (record !== null) readTranscript(call, record, reading)
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** `uuid`, `hex24` or `hex32`. */
export function formOfId(id: unknown): string {
  const [digits] = /^([\da-f]{24}|[\da-f]{32})$/.exec(String(id)) ?? []
  return UUID.test(String(id)) ? 'uuid' : digits === undefined ? 'another form' : `hex${digits.length}`
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Reads both transcripts: that of the handover key, and that of the bot's key, which has further fields. */
function readTranscript(call: KnownCall, record: Fields, reading: Reading): void {
  const { chat, endpoint, messages, place } = call
  const { addEvidence } = reading
  if (endpoint === 'transcript') {
    const isMinimal = Object.keys(record).every(name => ['id', 'bot_id', 'messages'].includes(name))
    addEvidence('transcript.handover', [isMinimal ? 'minimal' : 'record'], place)
  } else {
    readRecord(call, record, reading)
    if (chat !== null) readMessagesBefore(chat, call, reading)
    if (chat !== null) readQueue(chat, messages, reading)
  }
  const ids = messages.flatMap(({ id }) => (id === undefined ? [] : [formOfId(id)]))
  for (const form of new Set(ids)) addEvidence('ids.message', [form], place)
  const exchangeIds = messages.flatMap(({ exchange_id: id }) => (typeof id === 'string' ? [formOfId(id)] : []))
  for (const form of new Set(exchangeIds)) addEvidence('ids.exchange', [form], place)
  if (chat === null) return
  for (const { id, from_bot: fromBot } of messages)
    if (typeof fromBot === 'boolean' && chat.sent.has(String(id)))
      addEvidence('transcript.agentFromBot', [fromBot ? 'on' : 'off'], place)
  // The answer to start names the notice that an agent enters.
  const notice = messages.find(({ id }) => id === chat.startMessageId)
  if (notice !== undefined)
    addEvidence('transcript.noticeExchange', [typeof notice.exchange_id === 'string' ? 'on' : 'off'], place)
  // Most answers of a bot are usersays in either way; the first message of a chat is not.
  for (const [index, { from_bot: fromBot, exchange_type: type }] of messages.entries()) {
    if (fromBot !== true || typeof type !== 'string') continue
    if (type !== 'usersays') addEvidence('transcript.exchangeType', ['by-kind'], place)
    else if (index === 0) addEvidence('transcript.exchangeType', ['usersays'], place)
  }
  // Buttons of an agent are as they were sent, and belong to no exchange.
  for (const { from_bot: fromBot, exchange_id: exchange, buttons } of messages) {
    const [button] = fromBot === true && typeof exchange === 'string' && Array.isArray(buttons) ? buttons : []
    if (isMap(button)) addEvidence('buttons.form', ['button_type' in button ? 'typed' : 'own'], place)
  }
  readTranslation(chat, call, reading)
}

const KNOWN_RECORD_FIELDS = Object.keys(shapeOf(ChatRecord))

/** Reads the fields of a chat beside its messages. */
function readRecord(call: KnownCall, record: Fields, { knobs, addEvidence }: Reading): void {
  const { chat, statuses, place, startMs, endMs } = call
  const [status, otherStatus] = statuses
  const state = textOrNull(record.state)
  if (state !== null && status !== undefined && otherStatus === undefined)
    addEvidence('transcript.state', [state], place, status)
  const source = textOrNull(record.source)
  if (source !== null && chat?.source != null) addEvidence('transcript.source', [source], place, chat.source)

  const { taken_over: takenOver, active } = record
  if (takenOver === true) addEvidence('transcript.takenOver', ['true'], place)
  else if (typeof takenOver === 'string') addEvidence('transcript.takenOver', ['time'], place)
  else if (takenOver === null && isOnly(statuses, 'agent')) addEvidence('transcript.takenOver', ['null'], place)

  // A knob has only texts; others are listed as unknown fields.
  const extra = Object.entries(record).filter(
    ([name, value]) => !KNOWN_RECORD_FIELDS.includes(name) && typeof value === 'string',
  )
  const [message] = call.messages
  if (message !== undefined)
    addEvidence('transcript.extra', ['message_format' in message ? 'on' : 'off'], place, 'client')
  const pairs = knobs['transcript.extra'].filter(item => item.includes('='))
  const listed = pairs.map(pair => pair.split(/=(.*)/s).slice(0, 2))
  for (const [name = '', value] of listed)
    addEvidence('transcript.extra', [name in record ? value : 'absent'], place, name)
  for (const [name, value] of extra)
    if (!listed.some(([listedName]) => listedName === name)) addEvidence('transcript.extra', [value], place, name)
  if (extra.length === 0 && listed.length === 0) addEvidence('transcript.extra', ['none'], place, '')

  // A message that came during the call may be later than the transcript.
  const sinceMs = chat?.lastMessageMs ?? Number.POSITIVE_INFINITY
  if (sinceMs >= startMs) return
  const idleMs = endMs - sinceMs
  if (active === false) addEvidence('chat.idleTimeout', range(0, idleMs), place)
  // Only while an agent has the chat does the recording show everything that happens in it.
  else if (active === true && isOnly(statuses, 'agent')) addEvidence('chat.idleTimeout', range(idleMs), place)
}

/** Reads which messages the user wrote while a request waited, when none of them came as an event. */
function readMessagesBefore(chat: ChatKnowledge, { messages, place }: KnownCall, { addEvidence }: Reading): void {
  if (chat.messagesBeforeRequest === null || chat.hasForwarded) return
  const until = messages.findIndex(({ id }) => id === chat.startMessageId)
  const waiting = messages.slice(chat.messagesBeforeRequest, Math.max(0, until))
  if (waiting.some(message => isByUser(chat, message))) addEvidence('request.forwardPending', ['off'], place)
}

/** So many events, the first of which the webhook answered slowly, have waited for each other. */
const MIN_QUEUE = 4

/** Compares events that have waited for each other with the order in which the user wrote them. */
function readQueue(chat: ChatKnowledge, messages: readonly Fields[], { addEvidence }: Reading): void {
  const { queued } = chat
  const positions = queued.map(({ text }) => messages.findLastIndex(({ message }) => isText(String(message), text)))
  const last = queued.at(-1)
  if (queued.length < MIN_QUEUE - 1 || last === undefined || positions.includes(-1)) return
  const isInOrder = positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0))
  addEvidence('webhook.order', [isInOrder ? 'chat' : 'shuffle'], last.place)
  chat.queued = []
}

const primary = (code: string) => code.toLowerCase().split(/[-_]/)[0] ?? ''

/** Whether a transcript has the text of the agent on a line of its own, below what the user saw. */
const isBoth = (message: string, sent: TextMark) =>
  message.at(-sent.length - 1) === '\n' && isText(message.slice(-sent.length), sent)

/** Compares the messages of agents in a transcript with the calls that sent them. */
function readTranslation(
  { sent, language, languageCodes: codes }: ChatKnowledge,
  { messages, place }: KnownCall,
  { knobs, recording, addEvidence }: Reading,
): void {
  for (const { id, message } of messages) {
    const text = sent.get(String(id))
    if (text === undefined || typeof message !== 'string') continue
    const isTranslated = !isText(message, text)
    if (isTranslated) {
      recording.hasTranslated = true
      addEvidence('transcript.text', [isBoth(message, text) ? 'both' : 'seen'], place)
    }
    const [first] = codes
    // An engine may leave a text as it is, so only a recording in which texts change shows that one was not translated.
    if (language === null || first === undefined || !recording.hasTranslated) continue
    if (codes.some(code => code.toLowerCase() === language.toLowerCase())) continue
    if (codes.some(code => primary(code) === primary(language)))
      addEvidence('translation.match', [isTranslated ? 'exact' : 'primary'], place)
    else if (codes.length === 1) {
      const reversed = `${primary(first)}=${primary(language)}`
      const isReversed = knobs['translation.aliases'].includes(reversed)
      const alias = isReversed ? reversed : `${primary(language)}=${primary(first)}`
      addEvidence('translation.aliases', [isTranslated ? 'off' : 'on'], place, alias)
    }
  }
}

/** A smaller body says nothing about the limit. */
const MIN_LARGE_BYTES = 16_384
const MAX_CALLS = 1000

function readLimits(call: KnownCall, { knobs, recording, addEvidence }: Reading): void {
  const { status, bytes, place, endMs, answerHeaders } = call
  if (status === 413) addEvidence('limits.body', range(1, bytes - 1), place)
  else if (bytes > MIN_LARGE_BYTES) addEvidence('limits.body', range(bytes), place)
  if (status !== 429) {
    recording.callTimes.push(endMs)
    if (recording.callTimes.length > MAX_CALLS) recording.callTimes.shift()
  } else if (answerHeaders === null) {
    // A journal has no headers of answers, and so no length of the window.
    if (knobs['limits.rate'] === null) addEvidence('limits.rate', ['a limit whose window is unknown'], place)
  } else {
    const seconds = Math.max(1, Number(answerHeaders['retry-after'] ?? 1) || 1)
    const calls = recording.callTimes.filter(time => time > endMs - seconds * 1000).length
    // Later refusals tell less, because their windows began before the recording shows it.
    recording.rate ??= `${calls}/${seconds}s`
    addEvidence('limits.rate', [recording.rate], place)
  }
}

/** Reads who may open the link of an attachment, and how long. */
function readAttachmentLink(call: KnownCall, { recording, addEvidence }: Reading): void {
  const { method, headers, status, place, endMs } = call
  const sentMs = method === 'GET' ? recording.attachments.get(pathOf(call.url)) : undefined
  if (sentMs === undefined) return
  const isOpen = status === 200
  if (headers.authorization === undefined && (isOpen || status === 401 || status === 403))
    addEvidence('attachments.auth', [isOpen ? 'off' : 'on'], place)
  if (isOpen) addEvidence('attachments.ttl', range(endMs - sentMs), place)
  else if (status === 404 || status === 410) addEvidence('attachments.ttl', range(0, endMs - sentMs), place)
}
