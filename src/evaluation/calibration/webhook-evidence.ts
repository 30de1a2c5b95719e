/** Reads what the platform sends shows: events and their payloads, and each attempt to deliver one. */
import { isMap } from '../../base/objects.ts'
import { hmac } from '../../base/runtime/node.ts'
import type { Knobs } from '../../platform/contract/knobs.ts'
import { encodePayload } from '../../platform/webhooks/request.ts'
import { formOfId } from './call-evidence.ts'
import { JITTER_MS, MASKED, type Range, type Reading, range } from './evidence.ts'
import {
  type ChatKnowledge,
  hashOf,
  isOnly,
  isRepeated,
  markOf,
  type RecordingKnowledge,
  type Status,
} from './knowledge.ts'
import { type Attempt, type ObservedEvent, pathOf } from './observation.ts'
import { readTypingEvent } from './typing-evidence.ts'

const MAX_ATTACHMENTS = 1000

/** Reads what an event shows by its payload, and by coming at all. */
export function readEvent(
  event: ObservedEvent,
  chat: ChatKnowledge,
  statuses: readonly Status[],
  reading: Reading,
): void {
  const { payload, place, startMs } = event
  const { recording, addEvidence } = reading
  for (const name of ['chat', 'user'] as const) {
    const about = payload[name]
    if (isMap(about)) addEvidence(`ids.${name}`, [formOfId(about.id)], place)
  }
  readTypingEvent(event, chat, reading)

  // A call that takes the chat over at the same time, which the recording has later, makes these uncertain.
  const addLater = (name: 'request.repeat' | 'request.forwardPending', value: string) =>
    chat.deferred.push({ endMs: startMs, add: () => addEvidence(name, [value], place) })
  // After an event that was not accepted it may be a retry.
  const isNew = chat.attempt?.status === 200 && chat.attempt.hash === hashOf(payload)
  const isRequestAgain = isOnly(statuses, 'pending') || isOnly(statuses, 'agent')
  if (payload.event === 'REQUESTING TAKEOVER' && isNew && isRequestAgain) addLater('request.repeat', 'event')
  if (payload.event !== 'MESSAGE FROM USER') return
  if (isOnly(statuses, 'pending')) addLater('request.forwardPending', 'on')

  const { attachments } = payload
  if (Array.isArray(attachments)) {
    for (const file of attachments) if (isMap(file)) recording.attachments.set(pathOf(String(file.url)), startMs)
    if (attachments.length === 0) addEvidence('attachments.whenEmpty', ['empty'], place)
    // The oldest links are forgotten, so that the memory stays bounded.
    for (const path of recording.attachments.keys()) {
      if (recording.attachments.size <= MAX_ATTACHMENTS) break
      recording.attachments.delete(path)
    }
  } else if (attachments === undefined && chat.supportsAttachments === true && chat.wasFreeAtStart) {
    // Otherwise it may be an event from before the handover.
    if (startMs >= (chat.change?.endMs ?? 0)) addEvidence('attachments.whenEmpty', ['absent'], place)
  }
}

/** Reads how a request of the webhook is signed and written, and what followed the attempt before it. */
export function readAttempt(attempt: Attempt, chat: ChatKnowledge, reading: Reading): void {
  readSignature(attempt, reading)
  readIdHeader(attempt, reading)
  if (attempt.text !== null) {
    const forms = jsonForms(attempt.text, attempt.payload)
    reading.addEvidence('webhook.json', forms.length > 0 ? forms : ['another form'], attempt.place)
  }
  readTimeout(attempt, reading)
  if (chat.attempt === null) return
  readRedirect(attempt, chat, chat.attempt, reading)
  if (!isRepeated(chat, attempt.payload)) readOrder(attempt, chat, chat.attempt, reading)
  else if (!isRedirect(chat.attempt.status)) readRetry(attempt, chat, chat.attempt, reading)
}

/** Headers of HTTP and of gateways, which say nothing about the platform. */
const ORDINARY_HEADER =
  /^(host|content-\w+|user-agent|accept(-\w+)?|connection|date|via|forwarded|x-forwarded-\w+|x-real-ip|traceparent|tracestate|baggage|expect|transfer-encoding|keep-alive|cookie|cf-[\w-]+|cdn-loop|x-(amzn|amz|b3|cloud|envoy|request|correlation|trace|span|datadog|newrelic|azure|arr|ngrok|ms)[\w-]*|(x-)?(request|correlation|trace|span)-id|newrelic|elastic-apm-[\w-]+)$/

const BASE64 = /^(?:[A-Za-z\d+/]{27}=|[A-Za-z\d+/]{43}=|[A-Za-z\d+/]{86}==)$/
const HEX = /^(?:[\da-f]{40}|[\da-f]{64}|[\da-f]{128})$/

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

/** By the length of the digest in bytes. */
const ALGORITHMS: Readonly<Record<number, Knobs['webhook.algorithm']>> = { 20: 'sha1', 32: 'sha256', 64: 'sha512' }

function readSignature(attempt: Attempt, { knobs, addEvidence }: Reading): void {
  const { place, headers, text, url } = attempt
  if (Object.keys(headers).length === 0) return
  const { header, algorithmHeader, value, described } = signatureOf(attempt, knobs)
  if (header === undefined) return addEvidence('webhook.signature', ['off'], place)
  addEvidence('webhook.signatureHeader', [asInForce(header, knobs['webhook.signatureHeader'])], place)
  if (algorithmHeader !== undefined)
    addEvidence('webhook.algorithmHeader', [asInForce(algorithmHeader, knobs['webhook.algorithmHeader'])], place)
  const form = HEX.test(value) ? 'hex' : BASE64.test(value) ? 'base64' : null
  const encoding = form ?? /\b(hex|base64)\b/.exec(described)?.[1]
  const [, length = ''] = /sha-?(1|256|512)\b/i.exec(described) ?? []
  const algorithm =
    form === null
      ? Object.values(ALGORITHMS).find(name => name === `sha${length}`)
      : ALGORITHMS[Buffer.from(value, form).length]
  if (encoding !== undefined) addEvidence('webhook.signature', [encoding], place)
  if (algorithm !== undefined) addEvidence('webhook.algorithm', [algorithm], place)
  // A proxy that has the key masks the signature and says whether it is that of the body.
  if (value === `${MASKED} (valid)`) addEvidence('webhook.signedContent', ['body'], place)
  if (form === null || text === null || algorithm === undefined) return
  const signs = (content: string) => hmac(algorithm, knobs['keys.handover'], content, form) === value
  if (signs(text)) addEvidence('webhook.signedContent', ['body'], place)
  else if (signs(url + text)) addEvidence('webhook.signedContent', ['url-and-body'], place)
}

function readIdHeader({ headers, place }: Attempt, { knobs, addEvidence }: Reading): void {
  const signature = [knobs['webhook.signatureHeader'], knobs['webhook.algorithmHeader']].map(name => name.toLowerCase())
  const names = Object.keys(headers).filter(
    name => !ORDINARY_HEADER.test(name) && !signature.includes(name) && !/hmac|signature|algorithm/.test(name),
  )
  const inForce = knobs['webhook.idHeader']
  const header =
    names.find(name => name === inForce.toLowerCase()) ?? names.find(name => /(^|[-_])id$|idempotency-key$/.test(name))
  if (header !== undefined) addEvidence('webhook.idHeader', [asInForce(header, inForce)], place)
  // A header of a name that is not known may be the id.
  else if (names.length === 0 && Object.keys(headers).length > 0) addEvidence('webhook.idHeader', ['off'], place)
}

const JSON_FORMS = ['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline'] as const

/** The forms of JSON in which this text can have been written. */
function jsonForms(text: string, payload: Attempt['payload']): string[] {
  const forms: string[] = JSON_FORMS.filter(form => encodePayload(payload, form) === text)
  // The description writes `event` first.
  return Object.keys(payload)[0] === 'event' ? forms : forms.includes('compact') ? ['reordered'] : []
}

const SLOW_MS = 1000
/** A timer fires so much late. */
const TIMER_MS = 50

function readTimeout(attempt: Attempt, { recording, addEvidence }: Reading): void {
  const { hasTimedOut, isGivenUp, startMs, endMs, place } = attempt
  const ms = endMs - startMs
  // The way to a proxy takes time that it does not see.
  const fit = range(ms * 0.9 - TIMER_MS, isGivenUp ? ms * 1.05 + TIMER_MS : ms + 1)
  if (hasTimedOut || (isGivenUp && isAnother(recording, 'timeout', ms, fit))) addEvidence('webhook.timeout', fit, place)
  else if (!isGivenUp && ms >= SLOW_MS) addEvidence('webhook.timeout', range(ms), place)
}

/** Whether a time of this kind was seen before: one alone may have another cause, two that are alike have the same. */
function isAnother({ times }: RecordingKnowledge, kind: string, ms: number, { min, max }: Range): boolean {
  const alike = (times.get(kind) ?? []).filter(time => time >= min && time <= max)
  times.set(kind, [...alike, ms])
  return alike.length > 0
}

type EarlierAttempt = NonNullable<ChatKnowledge['attempt']>

const isRedirect = (status: number) => status >= 300 && status < 400

function readRedirect(attempt: Attempt, chat: ChatKnowledge, before: EarlierAttempt, { addEvidence }: Reading): void {
  const location = before.answerHeaders?.location
  if (location === undefined || location === MASKED || !isRedirect(before.status)) return
  const target = URL.canParse(location, before.url) ? new URL(location, before.url) : null
  // Only a recording of both addresses shows whether the platform followed.
  if (target === null || !URL.canParse(before.url) || target.origin !== new URL(before.url).origin) return
  const isFollowed = isRepeated(chat, attempt.payload) && attempt.url === target.href
  addEvidence('webhook.redirect', [isFollowed ? 'follow' : 'fail'], attempt.place)
}

const MAX_QUEUED = 20
const AT_ONCE_MS = 250
/** Recordings round times. */
const CLOCK_MS = 5

/** Collects events that come one right after the other behind one that the webhook answered slowly: a transcript tells their order. */
function readOrder(attempt: Attempt, chat: ChatKnowledge, before: EarlierAttempt, { addEvidence }: Reading): void {
  const { startMs, payload, place } = attempt
  if (startMs < before.endMs - CLOCK_MS) addEvidence('webhook.order', ['none'], place)
  const waitedMs = startMs - before.endMs
  const isWaiting = waitedMs >= -CLOCK_MS && waitedMs <= AT_ONCE_MS
  const wasSlow = before.endMs - before.startMs >= SLOW_MS
  const hasWaited = isWaiting && (wasSlow || chat.queued.length > 0)
  chat.queued = hasWaited ? [...chat.queued, { text: markOf(String(payload.message)), place }].slice(-MAX_QUEUED) : []
}

/** A shorter text may be one that the user wrote twice. */
const MIN_TELLING_CHARS = 10

function readRetry(attempt: Attempt, chat: ChatKnowledge, before: EarlierAttempt, reading: Reading): void {
  const { number, startMs, payload, place } = attempt
  const index = number === null ? chat.repetition + 1 : number - 1
  chat.repetition = index
  if (index < 1) return
  const delayMs = startMs - before.endMs
  const fit = range(Math.max(1, delayMs * 0.8 - JITTER_MS), delayMs * 1.05 + JITTER_MS)
  // Without a number it may be a press or a text that the user repeated, which gives the same bytes.
  if (number === null) {
    if (String(payload.message ?? '').length < MIN_TELLING_CHARS) return
    if (!isAnother(reading.recording, `retry ${index}`, delayMs, fit)) return
  }
  reading.addEvidence('webhook.retry', fit, place, String(index))
}
