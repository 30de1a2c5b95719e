/** Reads the evidence for each assumption: one row for each that traffic can show, with what a person does to see it. */
import { isMap } from '../../base/objects.ts'
import { hmac } from '../../base/runtime/node.ts'
import { shapeOf } from '../../base/schemas/definitions.ts'
import type { AssumptionName, Behaviour } from '../../platform/contract/assumptions.ts'
import { formatKnob, type Knobs } from '../../platform/contract/knobs.ts'
import type { EmptyFields } from '../../platform/contract/optional-fields.ts'
import { ChatRecord } from '../../platform/contract/schemas.ts'
import { encodePayload } from '../../platform/webhooks/request.ts'
import {
  type ChatKnowledge,
  hashOf,
  isByUser,
  isOnly,
  isQueueFree,
  isRepeated,
  isText,
  markOf,
  type Status,
  type TextMark,
} from './chat-knowledge.ts'
import { type Fit, type Range, range } from './evidence.ts'
import type { Attempt, Call, ObservedEvent, Place } from './observation.ts'

/** What a recording shows beside its chats. */
export interface RecordingKnowledge {
  /** Bots that calls or events name. */
  readonly bots: Set<number>
  readonly availability: Map<string, string>
  /** When the latest change of an availability ended. */
  availabilityMs: number
  /** Bots of which a chat was taken over since their availability may have changed. */
  readonly startedBots: Set<string>
  /** Authorization headers with which handover calls were accepted. */
  readonly handoverKeys: Set<string>
  /** When each attachment link was sent, by its path. */
  readonly attachments: Map<string, number>
  /** The times of the latest calls that were not refused by a rate limit. */
  readonly callTimes: number[]
  rate: string | null
  /** Whether a text was changed by translation. */
  hasTranslated: boolean
  /** Times of which two that are alike are evidence, by their kind. */
  readonly times: Map<string, number[]>
}

export interface Reading {
  /** The knobs in force. */
  readonly knobs: Knobs
  readonly recording: RecordingKnowledge
  see(behaviour: Behaviour, fit: Fit, place: Place, part?: string): void
}

type Fields = Readonly<Record<string, unknown>>

/** A call with what was known when it began. */
export interface KnownCall extends Call {
  readonly chat: ChatKnowledge | null
  readonly statuses: readonly Status[]
  readonly request: Fields
  readonly reply: Fields
  readonly isAccepted: boolean
  readonly isRefused: boolean
  /** Whether the body has the form that the contract describes. */
  readonly isValid: boolean
  /** Names of fields of the body that the contract does not have. */
  readonly unknownFields: readonly string[]
  /** Optional fields of the body that are null or empty. */
  readonly leftOut: EmptyFields
  /** The record of a transcript; null for other answers. */
  readonly record: Fields | null
  readonly messages: readonly Fields[]
}

/** What a call shows about one behaviour: the value when it is accepted, and the values by the status of a refusal. */
export interface Question {
  readonly accepted?: unknown
  readonly refused: Readonly<Record<number, unknown>>
  readonly part?: string
  /** The call may not raise it, so that no answer is evidence. */
  readonly isUncertain?: true
}

/** What a person does to see a behaviour. */
export interface Experiment {
  /** In which chat: one of those of the ordinary bot, or of another kind. */
  readonly chat?: 'other language'
  /** What the chat has to be; null for any. */
  readonly begins: Status | null
  /** What the chat is afterwards; null for what it was. */
  readonly ends?: Status
  readonly text: string
}

export interface EvidenceReader {
  readonly question?: (call: KnownCall, reading: Reading) => Question | null
  readonly call?: (call: KnownCall, reading: Reading) => void
  readonly event?: (event: ObservedEvent, chat: ChatKnowledge, statuses: readonly Status[], reading: Reading) => void
  readonly attempt?: (attempt: Attempt, chat: ChatKnowledge, reading: Reading) => void
  readonly experiment?: Experiment
}

/** Values of an assumption without a knob. */
export const HOLDS = 'as assumed'
const OTHERWISE = 'otherwise'

const HOLDS_IF_ACCEPTED: Question = { accepted: HOLDS, refused: { 400: OTHERWISE, 409: OTHERWISE, 422: OTHERWISE } }
const ACCEPT_OR_409: Question = { accepted: 'accept', refused: { 409: '409' } }
const invalid = (accepted: unknown, refused: unknown): Question => ({
  accepted,
  refused: { 400: refused, 422: refused },
})

const word = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const formOf = (id: unknown): string => {
  const [digits] = /^([\da-f]{24}|[\da-f]{32})$/.exec(String(id)) ?? []
  return UUID.test(String(id)) ? 'uuid' : digits === undefined ? 'another form' : `hex${digits.length}`
}

const formOfId = (of: 'chat' | 'user'): EvidenceReader => ({
  event({ payload: { [of]: about }, place }, _chat, _statuses, { see }) {
    if (isMap(about)) see(`ids.${of}`, [formOf(about.id)], place)
  },
})

/** The lists of causes that `typing.clearOn` may be. */
const CLEAR_ON = [[], ['end'], ['message'], ['end', 'message']].map(causes => (causes.length === 0 ? 'off' : causes))
const clearsOn = (cause: string) => CLEAR_ON.filter(causes => causes.includes(cause))
const staysOn = (cause: string) => CLEAR_ON.filter(causes => !causes.includes(cause))

const TIME_FORMS = [
  ['epoch', /^\d+$/],
  ['iso', /^\d{4}-\d\d-\d\dT.*Z$/],
  ['offset', /^\d{4}-\d\d-\d\dT.*[+-]\d\d:\d\d$/],
] as const

/** Measured times are compared with this tolerance. */
const JITTER_MS = 500
/** A timer fires so much late. */
const TIMER_MS = 50

const measured = (ms: number) => range(Math.max(1, ms * 0.8 - JITTER_MS), ms * 1.05 + JITTER_MS)

/** Headers of HTTP and of gateways, which say nothing about the platform. */
const ORDINARY_HEADER =
  /^(host|content-\w+|user-agent|accept(-\w+)?|connection|date|via|forwarded|x-forwarded-\w+|x-real-ip|traceparent|tracestate|baggage|expect|transfer-encoding|keep-alive|cookie|cf-[\w-]+|cdn-loop|x-(amzn|amz|b3|cloud|envoy|request|correlation|trace|span|datadog|newrelic|azure|arr|ngrok|ms)[\w-]*|(x-)?(request|correlation|trace|span)-id|newrelic|elastic-apm-[\w-]+)$/

const BASE64 = /^(?:[A-Za-z\d+/]{27}=|[A-Za-z\d+/]{43}=|[A-Za-z\d+/]{86}==)$/
const HEX = /^(?:[\da-f]{40}|[\da-f]{64}|[\da-f]{128})$/
const MASKED = '***'

/** The two headers of the signature of an attempt, as far as they can be recognized. */
function signatureOf({ headers }: Attempt, knobs: Knobs) {
  const names = Object.keys(headers).filter(name => !ORDINARY_HEADER.test(name))
  const algorithmHeader =
    [knobs['webhook.algorithmHeader'].toLowerCase()].find(name => name in headers) ??
    names.find(name => /algorithm/.test(name) || /^hmac-/i.test(headers[name] ?? ''))
  const isDigest = (name: string) => [BASE64, HEX].some(form => form.test(headers[name] ?? ''))
  const header =
    [knobs['webhook.signatureHeader'].toLowerCase()].find(name => name in headers) ??
    names.find(name => name !== algorithmHeader && /hmac|signature/.test(name)) ??
    names.find(name => name !== algorithmHeader && (isDigest(name) || headers[name] === `${MASKED} (valid)`))
  const value = header === undefined ? '' : (headers[header] ?? '')
  const described = algorithmHeader === undefined ? '' : (headers[algorithmHeader] ?? '')
  return { header, algorithmHeader, value, described }
}

/** The header as the knob in force writes it, because recordings may change the case of names. */
const asInForce = (header: string, inForce: string) => (header === inForce.toLowerCase() ? inForce : header)

const ALGORITHMS: Readonly<Record<number, Knobs['webhook.algorithm']>> = { 20: 'sha1', 32: 'sha256', 64: 'sha512' }
const shaOf = (name: string) => Object.values(ALGORITHMS).find(one => one === name)

function readSignature(attempt: Attempt, { knobs, see }: Reading): void {
  const { place, headers, text, url } = attempt
  if (Object.keys(headers).length === 0) return
  const { header, algorithmHeader, value, described } = signatureOf(attempt, knobs)
  if (header === undefined) return see('webhook.signature', ['off'], place)
  see('webhook.signatureHeader', [asInForce(header, knobs['webhook.signatureHeader'])], place)
  if (algorithmHeader !== undefined)
    see('webhook.algorithmHeader', [asInForce(algorithmHeader, knobs['webhook.algorithmHeader'])], place)
  const isHex = HEX.test(value)
  const isKnownForm = isHex || BASE64.test(value)
  const bytes = isHex ? value.length / 2 : Math.floor((value.replace(/=+$/, '').length * 3) / 4)
  const encoding = isKnownForm ? (isHex ? 'hex' : 'base64') : /\b(hex|base64)\b/.exec(described)?.[1]
  const [, length = ''] = /sha-?(1|256|512)\b/i.exec(described) ?? []
  const algorithm = isKnownForm ? ALGORITHMS[bytes] : shaOf(`sha${length}`)
  if (encoding !== undefined) see('webhook.signature', [encoding], place)
  if (algorithm !== undefined) see('webhook.algorithm', [algorithm], place)
  // A proxy that has the key masks the signature and says whether it is that of the body.
  if (value === `${MASKED} (valid)`) see('webhook.signedContent', ['body'], place)
  if (!isKnownForm || text === null || algorithm === undefined) return
  const signs = (content: string) =>
    hmac(algorithm, knobs['keys.handover'], content, isHex ? 'hex' : 'base64') === value
  if (signs(text)) see('webhook.signedContent', ['body'], place)
  else if (signs(url + text)) see('webhook.signedContent', ['url-and-body'], place)
}

const JSON_FORMS = ['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline'] as const

/** The forms of JSON in which this text can have been written. */
function jsonForms({ text, payload }: Attempt): string[] {
  const forms: string[] = JSON_FORMS.filter(form => encodePayload(payload, form) === text)
  // The description writes `event` first.
  return Object.keys(payload)[0] === 'event' ? forms : forms.includes('compact') ? ['reordered'] : []
}

/** Three events one right after the other, behind one that the webhook answered slowly, have waited for each other. */
const QUEUE = 4
const MAX_QUEUED = 20
const SLOW_MS = 1000
const AT_ONCE_MS = 250
/** Recordings round times. */
const CLOCK_MS = 5

function readOrder(attempt: Attempt, chat: ChatKnowledge, { see }: Reading): void {
  const before = chat.attempt
  if (before === null || isRepeated(chat, attempt.payload)) return
  const text = String(attempt.payload.message)
  if (attempt.startMs < before.endMs - CLOCK_MS) see('webhook.order', ['none'], attempt.place)
  const waitedMs = attempt.startMs - before.endMs
  const isWaiting = waitedMs >= -CLOCK_MS && waitedMs <= AT_ONCE_MS
  const wasSlow = before.endMs - before.startMs >= SLOW_MS
  if (isWaiting && (wasSlow || chat.queued.length > 0))
    chat.queued = [...chat.queued, { text: markOf(text), place: attempt.place }].slice(-MAX_QUEUED)
  else chat.queued = []
}

/** Compares events that have waited for each other with the order in which the user wrote them. */
function readQueue(chat: ChatKnowledge, written: readonly string[], { see }: Reading): void {
  const { queued } = chat
  const texts = queued.map(({ text }) => written.findLastIndex(one => isText(one, text)))
  const last = queued.at(-1)
  if (queued.length < QUEUE - 1 || last === undefined || texts.includes(-1)) return
  const isInOrder = texts.every((at, index) => index === 0 || at > (texts[index - 1] ?? 0))
  see('webhook.order', [isInOrder ? 'chat' : 'shuffle'], last.place)
  chat.queued = []
}

const LONG_TEXT = 10

/** Whether a time of this kind was seen before: one alone may have another cause, two that are alike have the same. */
function isAnother({ times }: RecordingKnowledge, kind: string, ms: number, { min, max }: Range): boolean {
  const alike = (times.get(kind) ?? []).filter(one => one >= min && one <= max)
  times.set(kind, [...alike, ms])
  return alike.length > 0
}

function readRetry(attempt: Attempt, chat: ChatKnowledge, { recording, see }: Reading): void {
  const before = chat.attempt
  if (before === null || !isRepeated(chat, attempt.payload) || isRedirect(before.status)) return
  const index = attempt.number === null ? chat.repetition + 1 : attempt.number - 1
  chat.repetition = index
  if (index < 1) return
  // A user may repeat a press or a short text, which gives the same bytes.
  if (attempt.number === null && String(attempt.payload.message ?? '').length < LONG_TEXT) return
  const delay = attempt.startMs - before.endMs
  const fit = measured(delay)
  // A user may also write the same text twice.
  if (attempt.number === null && !isAnother(recording, `retry ${index}`, delay, fit)) return
  see('webhook.retry', fit, attempt.place, String(index))
}

const isRedirect = (status: number) => status >= 300 && status < 400

function readRedirect(attempt: Attempt, chat: ChatKnowledge, { see }: Reading): void {
  const before = chat.attempt
  const location = before?.answerHeaders?.location
  if (before === null || location === undefined || location === MASKED || !isRedirect(before.status)) return
  const target = URL.canParse(location, before.url) ? new URL(location, before.url) : null
  // Only a recording of both addresses shows whether the platform followed.
  if (target === null || !URL.canParse(before.url) || target.origin !== new URL(before.url).origin) return
  const isFollowed = isRepeated(chat, attempt.payload) && attempt.url === target.href
  see('webhook.redirect', [isFollowed ? 'follow' : 'fail'], attempt.place)
}

function readTypingEvent(event: ObservedEvent, chat: ChatKnowledge, reading: Reading): void {
  const { payload, place, startMs } = event
  const { typing } = chat
  const { see } = reading
  // A typing_stop may have caused the event, whose call the recording has later.
  const defer = (name: Behaviour, fit: Fit) => chat.deferred.push({ endMs: startMs, see: () => see(name, fit, place) })
  const isTypingEvent = payload.event === 'AGENT TYPING START' || payload.event === 'AGENT TYPING STOP'
  if (isTypingEvent) {
    see('typing.webhook', ['echo'], place)
    chat.typingEventMs = startMs
  }
  if (typing === null) return
  if (payload.event === 'AGENT TYPING START') typing.isAnnounced = true
  else if (payload.event === 'AGENT TYPING STOP') {
    chat.typing = null
    const { earlier, fromMs } = typing
    if (startMs >= fromMs - JITTER_MS) {
      // The indicator was hidden by its end, so that no call before it has hidden it.
      for (const cause of typing.causes) defer('typing.clearOn', staysOn(cause))
      if (earlier !== null) defer('typing.again', [HOLDS])
    } else if (earlier !== null && startMs >= earlier.fromMs - JITTER_MS && startMs <= earlier.untilMs + JITTER_MS)
      defer('typing.again', [OTHERWISE])
  } else if (startMs > typing.untilMs + 2 * JITTER_MS) {
    chat.typing = null
    const [cause, another] = typing.causes
    if (typing.isAnnounced && cause !== undefined && another === undefined)
      see('typing.clearOn', clearsOn(cause), place)
  }
}

/** So many later events show that the event of a typing call does not come. */
const PASSED_OVER = 2

function readMissingTypingEvent(event: ObservedEvent, chat: ChatKnowledge, { see }: Reading): void {
  const awaited = chat.awaitedTyping
  if (awaited === null) return
  if (String(event.payload.event).startsWith('AGENT TYPING')) chat.awaitedTyping = null
  else if (event.startMs >= awaited.endMs && ++awaited.events === PASSED_OVER) {
    chat.awaitedTyping = null
    see('typing.webhook', ['off'], awaited.place)
  }
}

function readTypingCall(call: KnownCall): void {
  const { chat, endpoint, startMs, endMs, request, isAccepted, place } = call
  if (chat === null || !isAccepted) return
  // A recording may have the event before the call that caused it.
  const isAnnounced = chat.typingEventMs >= startMs
  // An event that was not accepted, or is not recorded, may hold up the next ones.
  if ((endpoint === 'typing_start' || endpoint === 'typing_stop') && !isAnnounced && isQueueFree(chat, startMs))
    chat.awaitedTyping ??= { place, endMs, events: 0 }
  if (endpoint === 'typing_stop') chat.typing = null
  if (endpoint !== 'typing_start') return
  const { timeout } = request
  const { typing } = chat
  if (typeof timeout !== 'number') chat.typing = null
  else {
    const [fromMs, untilMs] = [startMs + timeout, endMs + timeout]
    // Two ends shortly after each other do not show which of the two holds.
    const isEarlier = typing !== null && typing.untilMs > endMs && typing.untilMs < fromMs - 2 * JITTER_MS
    chat.typing = {
      sinceMs: endMs,
      fromMs,
      untilMs,
      earlier: isEarlier ? { fromMs: typing.fromMs, untilMs: typing.untilMs } : null,
      causes: new Set(),
      isAnnounced,
    }
  }
}

function readAttachmentLink(call: KnownCall, { recording, see }: Reading): void {
  const { endpoint, method, headers, status, place, endMs } = call
  const sentMs = endpoint === null && method === 'GET' ? recording.attachments.get(pathOf(call.url)) : undefined
  if (sentMs === undefined) return
  const isOpen = status === 200
  if (headers.authorization === undefined && (isOpen || status === 401 || status === 403))
    see('attachments.auth', [isOpen ? 'off' : 'on'], place)
  if (isOpen) see('attachments.ttl', range(endMs - sentMs), place)
  else if (status === 404 || status === 410) see('attachments.ttl', range(0, endMs - sentMs), place)
}

export const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]+/i, '').replace(/[?#].*$/s, '')

function readAttachments(
  { payload, place, startMs }: ObservedEvent,
  chat: ChatKnowledge,
  { recording, see }: Reading,
): void {
  if (payload.event !== 'MESSAGE FROM USER') return
  const { attachments } = payload
  if (Array.isArray(attachments)) {
    for (const one of attachments) if (isMap(one)) recording.attachments.set(pathOf(String(one.url)), startMs)
    if (attachments.length === 0) see('attachments.whenEmpty', ['empty'], place)
    // The oldest links are forgotten, so that the memory stays bounded.
    for (const path of recording.attachments.keys()) {
      if (recording.attachments.size <= MAX_ATTACHMENTS) break
      recording.attachments.delete(path)
    }
  } else if (attachments === undefined && chat.supportsAttachments === true && chat.wasFreeAtStart) {
    // Otherwise it may be an event from before the handover.
    if (startMs >= (chat.change?.endMs ?? 0)) see('attachments.whenEmpty', ['absent'], place)
  }
}

const MAX_ATTACHMENTS = 1000

const primary = (code: string) => code.toLowerCase().split(/[-_]/)[0] ?? ''

/** Whether a transcript has the text of the agent on a line of its own, below what the user saw. */
const isBoth = (message: string, sent: TextMark) =>
  message.at(-sent.length - 1) === '\n' && isText(message.slice(-sent.length), sent)

/** Compares the messages of agents in a transcript with the calls that sent them. */
function readTranslation(
  { chat, messages, place, knobs }: KnownCall & { knobs: Knobs },
  { recording, see }: Reading,
): void {
  for (const { id, message } of messages) {
    const sent = chat?.sent.get(String(id))
    if (sent === undefined || typeof message !== 'string' || chat === null) continue
    const isTranslated = !isText(message, sent)
    if (isTranslated) {
      recording.hasTranslated = true
      see('transcript.text', [isBoth(message, sent) ? 'both' : 'seen'], place)
    }
    const { language, languageCodes: codes } = chat
    const [first] = codes
    // An engine may leave a text as it is, so only a recording in which texts change shows that one was not translated.
    if (language === null || first === undefined || !recording.hasTranslated) continue
    if (codes.some(code => code.toLowerCase() === language.toLowerCase())) continue
    if (codes.some(code => primary(code) === primary(language)))
      see('translation.match', [isTranslated ? 'exact' : 'primary'], place)
    else if (codes.length === 1) {
      const pair = `${primary(language)}=${primary(first)}`
      const isListed = knobs['translation.aliases'].includes(`${primary(first)}=${primary(language)}`)
      see(
        'translation.aliases',
        [isTranslated ? 'off' : 'on'],
        place,
        isListed ? `${primary(first)}=${primary(language)}` : pair,
      )
    }
  }
}

/** Reads which messages the user wrote while a request waited, when none of them came as an event. */
function readForwarding({ chat, messages, endpoint, place }: KnownCall, { see }: Reading): void {
  if (chat === null || endpoint !== 'chat' || chat.messagesBeforeRequest === null || chat.hasForwarded) return
  const until = messages.findIndex(({ id }) => id === chat.startMessageId)
  const waiting = messages.slice(chat.messagesBeforeRequest, Math.max(0, until))
  if (waiting.some(one => isByUser(chat, one))) see('request.forwardPending', ['off'], place)
}

const KNOWN_RECORD_FIELDS = Object.keys(shapeOf(ChatRecord))

/** Further fields of a record. A knob has only texts; others are listed as unknown fields. */
function readExtraFields({ record, place, endpoint }: KnownCall, { knobs, see }: Reading): void {
  if (record === null || endpoint !== 'chat') return
  const extra = Object.entries(record).filter(
    ([name, value]) => !KNOWN_RECORD_FIELDS.includes(name) && typeof value === 'string',
  )
  const listed = knobs['transcript.extra'].map(pair => pair.split(/=(.*)/s).slice(0, 2))
  for (const [name = '', value] of listed) see('transcript.extra', [name in record ? value : 'absent'], place, name)
  for (const [name, value] of extra)
    if (!listed.some(([one]) => one === name)) see('transcript.extra', [value], place, name)
  if (extra.length === 0 && listed.length === 0) see('transcript.extra', ['none'], place, '')
}

function readLimits(call: KnownCall, { knobs, recording, see }: Reading): void {
  const { status, bytes, place, endMs, endpoint, answerHeaders } = call
  if (endpoint === null || status === 0 || status >= 500) return
  if (status === 413) see('limits.body', range(1, bytes - 1), place)
  else if (bytes > LARGE_BYTES) see('limits.body', range(bytes), place)
  if (status !== 429) {
    recording.callTimes.push(endMs)
    if (recording.callTimes.length > MAX_CALLS) recording.callTimes.shift()
  } else {
    const seconds = Math.max(1, Number(answerHeaders?.['retry-after'] ?? 1) || 1)
    // A journal has no headers of answers, and so no length of the window.
    if (answerHeaders === null && knobs['limits.rate'] !== null) return
    if (answerHeaders === null) return see('limits.rate', ['a limit whose window is unknown'], place)
    const calls = recording.callTimes.filter(time => time > endMs - seconds * 1000).length
    // Later refusals tell less, because their windows began before the recording shows it.
    recording.rate ??= `${calls}/${seconds}s`
    see('limits.rate', [recording.rate], place)
  }
}

const LARGE_BYTES = 16_384
const MAX_CALLS = 1000

/** So deep a body is refused. */
const MAX_NESTING = 200
const nestingOf = (value: unknown): number => {
  let depth = 0
  for (let level: unknown[] = [value]; level.length > 0 && depth <= MAX_NESTING; depth++)
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  return depth
}

/** A question of calls to chats in these states. When the chat may also be in another one, no answer is certain. */
function inState(call: KnownCall, statuses: readonly Status[], question: Question): Question | null {
  if (call.chatId === null) return null
  if (isOnly(call.statuses, ...statuses)) return question
  return call.statuses.some(one => statuses.includes(one)) ? { refused: question.refused, isUncertain: true } : null
}

/** The refusals whose bodies the platform writes, and no gateway before it. */
const OWN_REFUSALS = [400, 404, 409, 415, 422]
const FORM_BY_BEGINNING: Readonly<Record<string, string>> = { '': 'empty', '{': 'json', '<': 'html' }

/** One row for each assumption that ordinary traffic shows, or that shows when it is provoked. */
export const EVIDENCE_READERS: Readonly<Partial<Record<AssumptionName, EvidenceReader>>> = {
  'webhook.signature': { attempt: (attempt, _chat, reading) => readSignature(attempt, reading) },
  'webhook.json': {
    attempt(attempt, _chat, { see }) {
      const forms = attempt.text === null ? [] : jsonForms(attempt)
      if (attempt.text !== null) see('webhook.json', forms.length > 0 ? forms : ['another form'], attempt.place)
    },
  },
  'webhook.retry': {
    attempt: readRetry,
    experiment: {
      begins: 'agent',
      text: 'Let the webhook answer 500 to two messages of the user with different sentences, one after the other, and wait for some minutes after each.',
    },
  },
  'webhook.timeout': {
    attempt({ hasTimedOut, isGivenUp, startMs, endMs, place }, _chat, { recording, see }) {
      const ms = endMs - startMs
      // The way to a proxy takes time that it does not see.
      const fit = range(ms * 0.9 - TIMER_MS, isGivenUp ? ms * 1.05 + TIMER_MS : ms + 1)
      if (hasTimedOut || (isGivenUp && isAnother(recording, 'timeout', ms, fit))) see('webhook.timeout', fit, place)
      else if (!isGivenUp && ms >= SLOW_MS) see('webhook.timeout', range(ms), place)
    },
    experiment: {
      begins: 'agent',
      text: 'Let the webhook answer two messages of the user after two minutes each, one after the other.',
    },
  },
  'webhook.redirect': {
    attempt: readRedirect,
    experiment: {
      begins: 'agent',
      text: 'Let the webhook answer a message of the user with 307 and the Location of another path of the recorded address; then write once more.',
    },
  },
  'webhook.order': {
    attempt: readOrder,
    call({ chat, messages, endpoint }, reading) {
      if (chat !== null && endpoint === 'chat')
        readQueue(
          chat,
          messages.map(({ message }) => String(message)),
          reading,
        )
    },
    experiment: {
      begins: 'agent',
      text: 'Let the webhook answer a message of the user after 5 s, and meanwhile write five messages with different texts; then read the transcript.',
    },
  },
  'webhook.idHeader': {
    attempt({ headers, place }, _chat, { knobs, see }) {
      const signature = [knobs['webhook.signatureHeader'], knobs['webhook.algorithmHeader']].map(name =>
        name.toLowerCase(),
      )
      const names = Object.keys(headers).filter(
        name => !ORDINARY_HEADER.test(name) && !signature.includes(name) && !/hmac|signature|algorithm/.test(name),
      )
      const inForce = knobs['webhook.idHeader']
      const header =
        names.find(name => name === inForce.toLowerCase()) ??
        names.find(name => /(^|[-_])id$|idempotency-key$/.test(name))
      if (header !== undefined) see('webhook.idHeader', [asInForce(header, inForce)], place)
      // A header of a name that is not known may be the id.
      else if (names.length === 0 && Object.keys(headers).length > 0) see('webhook.idHeader', ['off'], place)
    },
  },
  'typing.webhook': {
    call: readTypingCall,
    event(event, chat, _statuses, reading) {
      readMissingTypingEvent(event, chat, reading)
      readTypingEvent(event, chat, reading)
    },
  },
  'typing.response': {
    call({ endpoint, isAccepted, answer, place }, { see }) {
      if (!isAccepted || (endpoint !== 'typing_start' && endpoint !== 'typing_stop')) return
      const isEmpty = isMap(answer) && Object.keys(answer).length === 0
      see('typing.response', [isEmpty ? 'empty' : isMap(answer) && 'event' in answer ? 'event' : 'another body'], place)
    },
  },
  'typing.again': {
    experiment: {
      begins: 'agent',
      text: 'Show the typing indicator for 5 s (timeout 5000), and after 2 s for 10 s more; wait until it is hidden.',
    },
  },
  'typing.timeout': {
    question: ({ endpoint, request }) =>
      endpoint === 'typing_start' && Number.isInteger(request.timeout) && Number(request.timeout) <= 0
        ? invalid(OTHERWISE, HOLDS)
        : null,
    experiment: { begins: 'agent', text: 'Call typing_start with a timeout of 0.' },
  },
  'typing.clearOn': {
    experiment: {
      begins: 'agent',
      ends: 'pending',
      text: 'Show the typing indicator for 5 s and send a message meanwhile; wait 10 s, and let the user write. Show it again for 5 s, and end the handover meanwhile; wait 10 s, and ask for an agent.',
    },
  },
  'typing.idle': {
    question: call =>
      call.endpoint === 'typing_start' || call.endpoint === 'typing_stop'
        ? inState(call, ['bot', 'pending'], HOLDS_IF_ACCEPTED)
        : null,
    experiment: { begins: 'bot', text: 'Call typing_stop.' },
  },
  'errors.body': {
    call({ isRefused, status, endpoint, answerText, place }, { see }) {
      if (!isRefused || endpoint === null || !OWN_REFUSALS.includes(status) || answerText === null) return
      const [first = ''] = answerText.trimStart()
      see('errors.body', [FORM_BY_BEGINNING[first] ?? 'text'], place)
    },
    experiment: { begins: null, text: 'Call start without a chat_id.' },
  },
  'errors.validation': {
    question: ({ isValid, endpoint, body }) =>
      endpoint !== null && endpoint !== 'chat' && isMap(body) && !isValid
        ? { refused: { 400: '400', 422: '422' } }
        : null,
    experiment: { begins: null, text: 'Call start without a chat_id.' },
  },
  'errors.idMismatch': {
    question({ chat, request }, { recording }) {
      const { bot_id: bot } = request
      const isOther = typeof bot === 'number' && chat !== null && chat.botId !== null && chat.botId !== bot
      return isOther && recording.bots.has(bot) ? { refused: { 404: '404', 400: '400', 403: '403' } } : null
    },
    experiment: {
      begins: null,
      text: 'Call transcript with the id of this chat and the bot_id of another bot of yours, whose traffic is in the recording.',
    },
  },
  'summarize.errorStatus': {
    question: ({ endpoint, isValid }) =>
      endpoint === 'summarize' && isValid ? { refused: { 400: '400', 409: '409', 422: '422' } } : null,
    experiment: { begins: null, text: 'Call summarize in a chat in which the user has written at most one message.' },
  },
  'summarize.count': {
    call({ chat, endpoint, isAccepted, status, place, isValid }, { see }) {
      const { count, points, units } = chat?.userTexts ?? { count: 0, points: 0, units: 0 }
      if (endpoint !== 'summarize' || !isValid || count < 2 || points > 30 || units <= 30) return
      if (isAccepted) see('summarize.count', ['utf16'], place)
      else if ([400, 409, 422].includes(status)) see('summarize.count', ['codepoints'], place)
    },
    experiment: {
      begins: null,
      text: 'In a new chat, write two messages of ten emoji each; read the transcript, and call summarize.',
    },
  },
  'availability.otherQueues': {
    question: ({ endpoint, request }) =>
      endpoint === 'availability' && typeof request.queue === 'string' && request.queue !== 'DEFAULT'
        ? invalid('accept', 'reject')
        : null,
    experiment: { begins: null, text: 'Call availability with OPEN and the queue SECOND.' },
  },
  'availability.missingQueue': {
    question: ({ endpoint, request, isValid }) =>
      endpoint === 'availability' && isValid && request.queue === undefined ? HOLDS_IF_ACCEPTED : null,
    experiment: { begins: null, text: 'Call availability with OPEN and a reason, without a queue.' },
  },
  'availability.missingReason': {
    question: ({ endpoint, request, isValid }) =>
      endpoint === 'availability' && isValid && request.reason === undefined ? HOLDS_IF_ACCEPTED : null,
    experiment: { begins: null, text: 'Call availability with OPEN and the queue DEFAULT, without a reason.' },
  },
  'availability.closedBlocksStart': {
    question({ endpoint, chat, startMs }, { recording }) {
      const bot = String(chat?.botId)
      const isUncertain = { refused: { 409: 'on' }, isUncertain: true } as const
      const availability = recording.availability.get(bot)
      if (endpoint !== 'start') return null
      if (startMs < recording.availabilityMs) return isUncertain
      if (availability === 'OPEN') return null
      if (availability === 'CLOSED') return { accepted: 'off', refused: { 409: 'on' } }
      return recording.startedBots.has(bot) ? null : isUncertain
    },
    experiment: {
      begins: 'pending',
      ends: 'agent',
      text: 'Set availability to CLOSED, take the chat over, and set it to OPEN again. If it is refused, take the chat over now.',
    },
  },
  'time.format': {
    call({ endpoint, isAccepted, reply, place }, { see }) {
      if (endpoint !== 'availability' || !isAccepted) return
      const form = TIME_FORMS.find(([, pattern]) => pattern.test(String(reply.updated_at)))
      see('time.format', [form?.[0] ?? 'another form'], place)
    },
  },
  'keys.shared': {
    call({ endpoint, headers, isAccepted, status, place }, { recording, see }) {
      const key = headers.authorization ?? MASKED
      if (key.endsWith(MASKED)) return
      if (endpoint !== 'chat') {
        if (isAccepted && endpoint !== null && recording.handoverKeys.size < 100) recording.handoverKeys.add(key)
      } else if (recording.handoverKeys.has(key) && (isAccepted || status === 403))
        see('keys.shared', [isAccepted ? 'on' : 'off'], place)
    },
    experiment: {
      begins: null,
      text: 'Read the transcript (GET api/v1/chats/...) with the handover key. The recording must show keys: HAR or exchanges.',
    },
  },
  'request.repeat': {
    event({ payload, place, startMs }, chat, statuses, { see }) {
      // After an event that was not accepted it may be a retry.
      const isNew = chat.attempt?.status === 200 && chat.attempt.hash === hashOf(payload)
      const isRepeat = isOnly(statuses, 'pending') || isOnly(statuses, 'agent')
      if (payload.event === 'REQUESTING TAKEOVER' && isNew && isRepeat)
        chat.deferred.push({ endMs: startMs, see: () => see('request.repeat', ['event'], place) })
    },
    experiment: { begins: 'pending', text: 'Press the button that asks for an agent once more.' },
  },
  'request.forwardPending': {
    call: readForwarding,
    event({ payload, place, startMs }, chat, statuses, { see }) {
      if (payload.event === 'MESSAGE FROM USER' && isOnly(statuses, 'pending'))
        chat.deferred.push({ endMs: startMs, see: () => see('request.forwardPending', ['on'], place) })
    },
    experiment: {
      begins: 'pending',
      ends: 'agent',
      text: 'Call transcript, write as the user, take the chat over, and read the transcript (GET api/v1/chats/...).',
    },
  },
  'start.unrequested': {
    question: call => (call.endpoint === 'start' ? inState(call, ['bot'], ACCEPT_OR_409) : null),
    experiment: {
      begins: 'bot',
      ends: 'agent',
      text: 'Take the chat over without a request. If it is refused, ask for an agent and take it over.',
    },
  },
  'start.again': {
    question: call => (call.endpoint === 'start' ? inState(call, ['agent'], ACCEPT_OR_409) : null),
    experiment: { begins: 'agent', text: 'Take the same chat over once more.' },
  },
  'end.idle': {
    question: call => (call.endpoint === 'end' ? inState(call, ['bot', 'pending'], ACCEPT_OR_409) : null),
    experiment: { begins: 'bot', text: 'End the handover once more.' },
  },
  'message.requiresTakeover': {
    question: call =>
      call.endpoint === 'message'
        ? inState(call, ['bot', 'pending'], { accepted: 'off', refused: { 409: 'on' } })
        : null,
    experiment: { begins: 'bot', text: 'Send a message to the user.' },
  },
  'message.allowEmpty': {
    question: ({ endpoint, request }) =>
      endpoint === 'message' && request.message === '' ? invalid('on', 'off') : null,
    experiment: { begins: 'agent', text: 'Send an empty message.' },
  },
  'strict.sender': {
    question({ endpoint, request }) {
      const sender = isMap(request.sender) ? request.sender : {}
      const isWhole = sender.name !== undefined && sender.avatar !== undefined
      return endpoint === 'message' && !isWhole ? invalid('off', 'on') : null
    },
    experiment: { begins: 'agent', text: 'Send a message without a sender.' },
  },
  'buttons.schema': {
    question: ({ endpoint, request }) =>
      endpoint === 'message' && Array.isArray(request.buttons) && request.buttons.some(one => isMap(one) && !one.label)
        ? invalid('any', 'strict')
        : null,
    experiment: { begins: 'agent', text: 'Send a message with a button that has only a url.' },
  },
  'limits.body': {
    call: readLimits,
    experiment: { begins: 'agent', text: 'Send messages of 100 kB, 1 MB, 2 MB, 4 MB ... until one is refused.' },
  },
  'limits.nesting': {
    question: ({ body, bytes }) =>
      bytes > MAX_NESTING && nestingOf(body) > MAX_NESTING ? { accepted: OTHERWISE, refused: { 400: HOLDS } } : null,
    experiment: {
      begins: 'agent',
      text: 'Send a message with a button whose field `more` is an array nested 300 levels deep.',
    },
  },
  'limits.rate': {
    experiment: {
      begins: 'agent',
      text: 'Call typing_stop as often as you can, until it is refused with 429; at most for a minute.',
    },
  },
  'attachments.auth': {
    call: readAttachmentLink,
    experiment: {
      begins: 'agent',
      text: 'Take the chat over with supports_attachment, let the user send a file, and open its link without a key, through the recording.',
    },
  },
  'attachments.ttl': {
    experiment: { begins: 'agent', text: 'Open the link of an old attachment, through the recording.' },
  },
  'attachments.whenEmpty': {
    event: (event, chat, _statuses, reading) => readAttachments(event, chat, reading),
  },
  'translation.match': {
    call: (call, reading) => readTranslation({ ...call, knobs: reading.knobs }, reading),
    experiment: {
      chat: 'other language',
      begins: null,
      ends: 'agent',
      text: 'Take the chat over with the language_codes [fr], send a message, and read the transcript (GET api/v1/chats/...). Then again with a code of the language of the chat and another region, such as en-NZ for en.',
    },
  },
  'transcript.text': {
    experiment: {
      chat: 'other language',
      begins: null,
      ends: 'agent',
      text: 'Take the chat over with the language_codes [fr], send a message, and read the transcript (GET api/v1/chats/...).',
    },
  },
  'transcript.state': {
    call({ record, endpoint, statuses, place }, { see }) {
      const [status, other] = statuses
      const state = word(record?.state)
      if (endpoint === 'chat' && state !== null && status !== undefined && other === undefined)
        see('transcript.state', [state], place, status)
    },
  },
  'transcript.source': {
    call({ record, endpoint, chat, place }, { see }) {
      const source = word(record?.source)
      if (endpoint === 'chat' && source !== null && chat?.source != null)
        see('transcript.source', [source], place, chat.source)
    },
  },
  'transcript.takenOver': {
    call(call, { see }) {
      const value = call.endpoint === 'chat' ? call.record?.taken_over : undefined
      if (value === true) see('transcript.takenOver', ['true'], call.place)
      else if (typeof value === 'string') see('transcript.takenOver', ['time'], call.place)
      else if (value === null && isOnly(call.statuses, 'agent')) see('transcript.takenOver', ['null'], call.place)
    },
  },
  'transcript.extra': { call: readExtraFields },
  'transcript.handover': {
    call({ record, endpoint, place }, { see }) {
      if (record === null || endpoint !== 'transcript') return
      const isMinimal = Object.keys(record).every(name => ['id', 'bot_id', 'messages'].includes(name))
      see('transcript.handover', [isMinimal ? 'minimal' : 'record'], place)
    },
  },
  'transcript.agentFromBot': {
    call({ chat, messages, place }, { see }) {
      for (const { id, from_bot: fromBot } of messages)
        if (typeof fromBot === 'boolean' && chat?.sent.has(String(id)))
          see('transcript.agentFromBot', [fromBot ? 'on' : 'off'], place)
    },
  },
  'transcript.noticeExchange': {
    call({ chat, messages, place }, { see }) {
      // The answer to start names the notice that an agent enters.
      const notice = messages.find(({ id }) => id === chat?.startMessageId)
      if (notice !== undefined)
        see('transcript.noticeExchange', [typeof notice.exchange_id === 'string' ? 'on' : 'off'], place)
    },
  },
  'ids.chat': formOfId('chat'),
  'ids.message': {
    call({ isAccepted, reply, messages, place }, { see }) {
      const ids = messages.length > 0 ? messages.map(({ id }) => id) : isAccepted ? [reply.chatmessage_id] : []
      for (const form of new Set(ids.filter(id => id !== undefined).map(formOf))) see('ids.message', [form], place)
    },
  },
  'ids.user': formOfId('user'),
  'ids.exchange': {
    call({ messages, place }, { see }) {
      const ids = messages.map(({ exchange_id: id }) => id).filter(id => typeof id === 'string')
      for (const form of new Set(ids.map(formOf))) see('ids.exchange', [form], place)
    },
  },
  'api.trailingSlash': {
    question: ({ hasCanonicalSlash }) =>
      hasCanonicalSlash
        ? null
        : {
            accepted: 'accept',
            refused: { 404: 'strict', 301: 'redirect', 302: 'redirect', 307: 'redirect', 308: 'redirect' },
          },
    experiment: { begins: 'agent', text: 'Call typing_stop/ (with a slash at the end).' },
  },
  'api.byteOrderMark': {
    question: ({ text }) => (text?.startsWith('\ufeff') ? { accepted: HOLDS, refused: { 400: OTHERWISE } } : null),
    experiment: {
      begins: 'agent',
      text: 'Call typing_stop with a byte order mark before the body. The recording must have bytes: HAR or exchanges.',
    },
  },
  'api.contentEncoding': {
    question: ({ headers, body }) =>
      (headers['content-encoding'] ?? 'identity') !== 'identity' && typeof body === 'string'
        ? { accepted: OTHERWISE, refused: { 400: HOLDS } }
        : null,
    experiment: {
      begins: 'agent',
      text: 'Call typing_stop with a body compressed by gzip, and Content-Encoding: gzip.',
    },
  },
  'api.contentType': {
    question: ({ endpoint, headers, request }) =>
      endpoint !== null &&
      endpoint !== 'chat' &&
      Object.keys(headers).length > 0 &&
      Object.keys(request).length > 0 &&
      !/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')
        ? { accepted: 'accept', refused: { 415: '415' } }
        : null,
    experiment: { begins: 'agent', text: 'Call typing_stop with Content-Type: text/plain.' },
  },
  'api.unknownFields': {
    question: ({ unknownFields }) => (unknownFields.length > 0 ? invalid('accept', '400') : null),
    experiment: { begins: 'agent', text: 'Call typing_stop with a further field in the body, such as "note": 1.' },
  },
  'api.nulls': {
    question: ({ leftOut }) => (leftOut.nulls.length > 0 ? invalid('accept', '400') : null),
    experiment: { begins: 'agent', text: 'Call typing_start with "timeout": null.' },
  },
  'api.emptyFields': {
    question: ({ leftOut }) => (leftOut.empty.length > 0 ? invalid('accept', '400') : null),
    experiment: { begins: 'agent', text: 'Call message with "buttons": [].' },
  },
  'api.versions': {
    question: ({ endpoint, version }) =>
      endpoint !== null && endpoint !== 'chat' && version !== 'v2'
        ? { accepted: 'on', refused: { 404: 'off' }, part: version }
        : null,
    experiment: { begins: 'agent', text: 'Call api/v3/handover/typing_stop.' },
  },
  'chat.idleTimeout': {
    experiment: {
      begins: 'agent',
      text: 'Leave the chat alone for a day, then read the transcript (GET api/v1/chats/...).',
    },
    call({ chat, record, endpoint, startMs, endMs, statuses, place }, { see }) {
      const sinceMs = chat?.lastMessageMs ?? Number.POSITIVE_INFINITY
      // A message that came during the call may be later than the transcript.
      if (record === null || endpoint !== 'chat' || sinceMs >= startMs) return
      const idleMs = endMs - sinceMs
      if (record.active === false) see('chat.idleTimeout', range(0, idleMs), place)
      // Only while an agent has the chat does the recording show everything that happens in it.
      else if (record.active === true && isOnly(statuses, 'agent')) see('chat.idleTimeout', range(idleMs), place)
    },
  },
}

/** A knob with several parts: what the knob in force says about one, and the knob that says the values of these parts. */
interface Parts {
  readonly inForce: (knobs: Knobs, part: string) => unknown
  readonly combined: (knobs: Knobs, values: ReadonlyMap<string, unknown>) => unknown
}

const pairIn = (pairs: readonly string[], part: string) =>
  pairs.find(pair => pair.startsWith(`${part}=`))?.slice(part.length + 1)

/** A list of `part=value`; `absent` is the value of a part that the list does not have. */
const pairs = (
  name: 'transcript.state' | 'transcript.source' | 'transcript.extra',
  absent: (part: string) => string,
): Parts => ({
  inForce: (knobs, part) => pairIn(knobs[name], part) ?? absent(part),
  combined(knobs, values) {
    const merged = new Map(
      knobs[name].map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    )
    for (const [part, value] of values) value === absent(part) ? merged.delete(part) : merged.set(part, String(value))
    const list = [...merged].filter(([part]) => part !== '').map(([part, value]) => `${part}=${value}`)
    return list.length === 0 ? 'off' : list
  },
})

/** A list of words; a part is one of them. */
const words = (name: 'api.versions' | 'translation.aliases'): Parts => ({
  inForce: (knobs, part) => (knobs[name].includes(part) ? 'on' : 'off'),
  combined(knobs, values) {
    const kept = knobs[name].filter(one => values.get(one) !== 'off')
    const added = [...values].flatMap(([part, value]) => (value === 'on' && !kept.includes(part) ? [part] : []))
    return kept.length + added.length === 0 ? 'off' : [...kept, ...added]
  },
})

export const PARTS: Readonly<Partial<Record<Behaviour, Parts>>> = {
  'transcript.state': pairs('transcript.state', () => 'chatting'),
  'transcript.source': pairs('transcript.source', part => part),
  'transcript.extra': pairs('transcript.extra', part => (part === '' ? 'none' : 'absent')),
  'api.versions': words('api.versions'),
  'translation.aliases': words('translation.aliases'),
  'webhook.retry': {
    inForce: (knobs, part) => knobs['webhook.retry'][Number(part) - 1] ?? Number.POSITIVE_INFINITY,
    combined(knobs, values) {
      const delays = [...knobs['webhook.retry']]
      for (const [part, value] of [...values].sort()) delays[Number(part) - 1] = Number(value)
      return formatKnob('webhook.retry', delays.filter(Number.isFinite))
    },
  },
}
