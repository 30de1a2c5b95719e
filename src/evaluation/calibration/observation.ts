/** Reads one value of a recording (an entry of a journal, an entry of a HAR file, or a plain exchange) as observations. */
import { isMap, jsonOr } from '../../base/objects.ts'
import { decoded } from '../../base/text/url-text.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import { ENDPOINT_ROUTES } from '../../platform/contract/endpoint-routes.ts'
import type { ApiContent, DeliveryContent, Entry } from '../../platform/journal/entry.ts'
import { readEntry, readEntryLine } from '../entry-reader.ts'

/** Where evidence is: `seq` of a journal, otherwise the number of the exchange in the file, from 1. */
export interface Place {
  readonly file: string
  readonly entry: number
}

export type Fields = Readonly<Record<string, unknown>>
type Headers = Readonly<Record<string, string>>

interface Exchange {
  readonly place: Place
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: Headers
  /** The bytes of the body as text; null when the recording has only its value. */
  readonly text: string | null
  readonly body: unknown
  /** 0 without an answer. */
  readonly status: number
  /** Null when the recording has none. */
  readonly answerHeaders: Headers | null
  readonly answerText: string | null
  readonly answer: unknown
  /** On the clock of the recording, in milliseconds. */
  readonly startMs: number
  readonly endMs: number
}

/** A call of the platform. */
export interface Call extends Exchange {
  readonly kind: 'call'
  /** Null for another path of the platform, such as that of an attachment. */
  readonly endpoint: EndpointId | null
  readonly chatId: string | null
  readonly version: string
  readonly hasCanonicalSlash: boolean
  readonly bytes: number
}

/** An event, when the platform sent it for the first time. */
export interface ObservedEvent {
  readonly kind: 'event'
  readonly place: Place
  readonly payload: Fields
  readonly chatId: string
  readonly startMs: number
}

/** One attempt to deliver an event. */
export interface Attempt
  extends Pick<Exchange, 'place' | 'url' | 'headers' | 'text' | 'status' | 'answerHeaders' | 'startMs' | 'endMs'> {
  readonly kind: 'attempt'
  readonly payload: Fields
  readonly chatId: string
  /** Of 1, 2, 3 ..., where the recording numbers them. */
  readonly number: number | null
  readonly hasTimedOut: boolean
  /** The sender closed the connection before the answer, for a reason that one attempt does not show. */
  readonly isGivenUp: boolean
}

export type Observation = Call | ObservedEvent | Attempt

/**
 * The observations of a value of a recording, or why it is left out. Null for a value that no recording contains. Throws
 * `ConfigError`, which names the position `at`, for an entry of a journal with a wrong field.
 */
export function observationsOf(value: unknown, place: Place, at: string): readonly Observation[] | string | null {
  if (!isMap(value)) return null
  const { type, kind, seq, request } = value
  if (type === 'entry' && isMap(value.entry)) return observationsOfEntry(readEntryLine(at, value).entry, place.file)
  if (value.v === 2) return 'neither a call nor an event'
  if (typeof kind === 'string' && seq !== undefined) return observationsOfEntry(readEntry(at, value), place.file)
  if (isMap(request)) return observationsOfExchange(value, request, place)
  return typeof value.method === 'string' || typeof value.url === 'string' ? 'without a method or a URL' : null
}

export function observationsOfEntry(entry: Entry, file: string): readonly Observation[] | string {
  const place = { file, entry: entry.seq }
  const endMs = millisecondsOf(entry.time)
  if (entry.kind === 'event') {
    const { payload, chat_id: chatId } = entry
    return [{ kind: 'event', place, payload, chatId, startMs: endMs }]
  }
  if (entry.kind === 'api') return observedCall(entry, place, endMs)
  return entry.kind === 'delivery' ? observedAttempt(entry, place, endMs) : 'neither a call nor an event'
}

/** With the microseconds, which show that calls came one after the other. */
const millisecondsOf = (time: string) => Date.parse(time) + Number(/\.\d{3}(\d{1,3})Z$/.exec(time)?.[1] ?? 0) / 1000

function observedCall(entry: ApiContent, place: Place, endMs: number): readonly Observation[] | string {
  const { request, status, response, duration_ms: durationMs } = entry
  const isAltered = entry.faults !== undefined || (isMap(response) && 'handover_sim' in response)
  // The size of a body that is too large is evidence itself.
  if (request.truncated_from !== undefined && status !== 413) return 'cut off'
  const call = callOf({
    place,
    method: entry.method,
    url: entry.path,
    headers: lowerCase(request.headers),
    ...bodyOf(request.body),
    // The proxy shows a compressed body as what it contains; the platform got bytes that are no JSON.
    ...(entry.observed && isCompressed(request.headers) && { body: JSON.stringify(request.body) }),
    // A fault may have prevented the call or only its answer.
    status: isAltered ? 0 : status,
    answerHeaders: null,
    answerText: entry.observed ? textOf(response) : refusalIn(entry),
    answer: response,
    // Times are cut to milliseconds and durations are not: a call that follows another one must not seem to begin before it.
    startMs: endMs - Math.floor(durationMs),
    endMs,
  })
  if (call === null) return 'requests to other paths'
  // The content of a file says nothing.
  if (call.endpoint !== null && entry.response_truncated_from !== undefined) return 'cut off'
  if (status === 0 && !mayChange(call)) return 'without an answer'
  return isAltered && !mayChange(call) ? 'altered on purpose' : [{ ...call, bytes: request.bytes }]
}

const isCompressed = (headers: Fields) => (lowerCase(headers)['content-encoding'] ?? 'identity') !== 'identity'

/** A body of the form that a simulator says it has sent: its journal has the error that the body means. */
const REFUSALS: Headers = { json: '{}', empty: '', html: '<', text: '.' }
const refusalIn = ({ unspecified }: ApiContent): string | null => REFUSALS[String(unspecified['errors.body'])] ?? null

/** The text of a body that the journal has as a value. */
const textOf = (body: unknown): string => (body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body))

function observedAttempt(entry: DeliveryContent, place: Place, endMs: number): readonly Observation[] | string {
  const { request, response, failure, triggered, resent, probe, faults, duplicate } = entry
  if (triggered || resent || probe !== undefined || faults !== undefined || duplicate) return 'altered on purpose'
  if (request.truncated_from !== undefined) return 'cut off'
  const payload = jsonOr(request.body, null)
  const chatId = chatIdOf(payload)
  if (!isMap(payload) || chatId === null) return 'neither a call nor an event'
  if (entry.outcome === 'skipped') return 'without an answer'
  const attempt: Attempt = {
    ...{ kind: 'attempt', place, payload, chatId, url: entry.url ?? '', text: request.body },
    headers: lowerCase(request.headers),
    status: entry.status ?? 0,
    answerHeaders: response === null ? null : lowerCase(response.headers),
    number: entry.observed ? null : entry.attempt,
    hasTimedOut: failure?.code === 'timeout',
    isGivenUp: failure?.code === 'sender_closed',
    startMs: endMs - entry.duration_ms,
    endMs,
  }
  return [attempt]
}

/** Reads an entry of HAR 1.2, and a plain exchange, which has the same parts: `{ request, response, time }`. */
function observationsOfExchange(value: Fields, request: Fields, place: Place): readonly Observation[] | string {
  const { url, method } = request
  if (typeof url !== 'string' || typeof method !== 'string' || method === '') return 'without a method or a URL'
  const response = isMap(value.response) ? value.response : {}
  const status = Number(response.status ?? 0)
  if (/^wss?:/i.test(url) || status === 101 || value._webSocketMessages !== undefined) return 'WebSocket'
  const isHar = value.startedDateTime !== undefined
  const startMs = Date.parse(String((isHar ? value.startedDateTime : value.time) ?? '')) || 0
  const answered = bodyOf(isMap(response.content) ? contentOf(response.content) : response.body)
  const exchange: Exchange = {
    ...{ place, method: method.toUpperCase(), url, status, startMs },
    headers: headersOf(request.headers),
    ...bodyOf(isMap(request.postData) ? request.postData.text : request.body),
    answerHeaders: headersOf(response.headers),
    answerText: answered.text ?? (answered.body === null ? '' : null),
    answer: answered.body,
    endMs: startMs + (Number(isHar ? value.time : value.duration_ms) || 0),
  }
  const call = callOf(exchange)
  if (call !== null) return status === 0 && !mayChange(call) ? 'without an answer' : [call]
  const { body: payload } = exchange
  const chatId = chatIdOf(payload)
  if (!isMap(payload) || typeof payload.event !== 'string' || chatId === null || exchange.method !== 'POST')
    return 'requests to other paths'
  const event = { place, payload, chatId, startMs }
  const hasTimedOut = value.timed_out === true
  return [
    { ...event, kind: 'event' },
    { ...exchange, ...event, kind: 'attempt', number: null, hasTimedOut, isGivenUp: false },
  ]
}

/** Without an answer it is unknown whether such a call has changed something. */
const mayChange = ({ endpoint }: Call) => endpoint === 'start' || endpoint === 'end' || endpoint === 'availability'

export const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]+/i, '').replace(/[?#].*$/s, '')

const PATH = /\/api\/(v\d+)\/(?:handover|takeover)\/(\w+)(\/?)$|\/api\/(v1)\/chats\/([^/]+)(\/?)$/
const FILE = /\/files\/[^?#]+$/

/** Null when the URL is none of the platform. */
function callOf(exchange: Exchange): Call | null {
  const path = exchange.url.replace(/[?#].*$/s, '')
  const [, version = '', name, slash, chats, id, chatSlash] = PATH.exec(path) ?? []
  const bytes = new TextEncoder().encode(exchange.text ?? JSON.stringify(exchange.body ?? '')).length
  const call = { ...exchange, kind: 'call', bytes, version, chatId: null, hasCanonicalSlash: true } as const
  if (chats !== undefined && id !== undefined)
    return { ...call, endpoint: 'chat', chatId: decoded(id), version: chats, hasCanonicalSlash: chatSlash === '' }
  const route = Object.values(ENDPOINT_ROUTES).find(
    ({ path: template }) => template.replace(/^.*\/handover\/|\/$/g, '') === name,
  )
  if (route !== undefined) {
    const hasCanonicalSlash = (slash === '/') === route.path.endsWith('/')
    return { ...call, endpoint: route.id, chatId: chatIdOf(exchange.body), hasCanonicalSlash }
  }
  return /\/api\/v\d+\//.test(path) || FILE.test(path) ? { ...call, endpoint: null, version: '' } : null
}

function chatIdOf(body: unknown): string | null {
  if (!isMap(body)) return null
  const id = isMap(body.chat) ? body.chat.id : body.chat_id
  return typeof id === 'string' && id !== '' ? id : null
}

/** A body as text and as value. */
function bodyOf(body: unknown): { readonly text: string | null; readonly body: unknown } {
  if (typeof body !== 'string') return { text: null, body: body ?? null }
  return { text: body, body: body === '' ? null : jsonOr(body.replace(/^\ufeff/, ''), body) }
}

const contentOf = ({ text, encoding }: Fields): unknown =>
  encoding === 'base64' && typeof text === 'string' ? Buffer.from(text, 'base64').toString() : (text ?? '')

/** A map of names to values, or a list of `{ name, value }` as in HAR. */
function headersOf(headers: unknown): Headers {
  if (!Array.isArray(headers)) return isMap(headers) ? lowerCase(headers) : {}
  const pairs = headers.flatMap(header => (isMap(header) ? [[String(header.name), header.value]] : []))
  return lowerCase(Object.fromEntries(pairs))
}

const lowerCase = (headers: Fields): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
