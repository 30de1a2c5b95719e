/** Builds webhook requests (the JSON body, the headers, and the signature of exactly these bytes), and sends one attempt. */

import type { Activity } from '../../base/runtime/activity.ts'
import { elapsedMs, roundMs, wallTimer } from '../../base/runtime/clock.ts'
import { connectionFailure, TransportError, timedOut } from '../../base/runtime/connection-failure.ts'
import { latin1Text } from '../../base/runtime/encoding.ts'
import { type HashName, hmac } from '../../base/runtime/node.ts'
import {
  type HeaderLines,
  type Outgoing,
  type Received,
  type Transport,
  thrownText,
  type WireFaults,
} from '../../base/runtime/transport.ts'
import { decoded } from '../../base/text/url-text.ts'
import { EVENT_NAMES } from '../contract/event-names.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { DeliveryContent, DeliveryFailure } from '../journal/entry.ts'
import { type Journal, type OnInternalError, WAIT_UNTIL_FAILED, type WaitUntilFailure } from '../journal/journal.ts'

export interface RequestPorts {
  readonly userAgent: string
  knobs(): Knobs
  /** The key that signs events of this chat; without a chat, the key of the first bot. */
  signingKey(chatId: string | undefined): string
}

/** One event as text. */
export interface EncodedEvent {
  readonly chatId: string | undefined
  readonly deliveryId: string
  readonly event: string
  readonly body: string
}

export type Headers = Readonly<Record<string, string>>

export interface WebhookRequest extends EncodedEvent {
  /** Default: POST. */
  readonly method?: string
  /** The signature may cover the URL. */
  headers(url: string): HeaderLines
  /** How the bytes travel when a fault changes it; null for every valid request. */
  readonly wire: WireFaults | null
}

/** Signs when the headers are read. */
export const validRequest = (ports: RequestPorts, encoded: EncodedEvent): WebhookRequest => ({
  chatId: encoded.chatId,
  deliveryId: encoded.deliveryId,
  event: encoded.event,
  body: encoded.body,
  wire: null,
  headers(url) {
    const signature = signingHeaders(ports.signingKey(encoded.chatId), encoded.body, url, ports.knobs())
    return requestHeaders(ports, encoded, signature, url)
  },
})

/** The same request with other parts. */
export const withParts = (
  request: WebhookRequest,
  parts: Partial<Pick<WebhookRequest, 'method' | 'body' | 'headers' | 'wire'>>,
): WebhookRequest => ({
  chatId: request.chatId,
  deliveryId: request.deliveryId,
  event: request.event,
  body: request.body,
  headers: url => request.headers(url),
  wire: request.wire,
  ...(request.method !== undefined && { method: request.method }),
  ...parts,
})

export function requestHeaders(
  ports: RequestPorts,
  of: Pick<EncodedEvent, 'deliveryId'>,
  signature: Headers,
  url: string,
): Headers {
  const { 'webhook.idHeader': idHeader, 'webhook.basicAuth': basicAuth } = ports.knobs()
  const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': ports.userAgent }
  if (basicAuth === 'on') Object.assign(headers, basicAuthorization(url))
  Object.assign(headers, signature)
  if (idHeader !== 'off') headers[idHeader] = of.deliveryId
  return headers
}

/** The user and the password of a URL as a header; none for a URL without a user. */
function basicAuthorization(url: string): Headers {
  const { username, password } = new URL(url)
  if (username === '') return {}
  const text = `${decoded(username)}:${decoded(password)}`
  return { authorization: `Basic ${btoa(latin1Text(new TextEncoder().encode(text)))}` }
}

/** No HTTP client takes a URL with a user. */
function withoutUser(url: string): string {
  if (!url.includes('@')) return url
  return Object.assign(new URL(url), { username: '', password: '' }).href
}

const ALGORITHM_NAMES: Record<HashName, string> = { sha256: 'HMAC-SHA-256', sha1: 'HMAC-SHA-1', sha512: 'HMAC-SHA-512' }

export type SignatureKnobs = Pick<
  Knobs,
  | 'webhook.signature'
  | 'webhook.signatureHeader'
  | 'webhook.algorithmHeader'
  | 'webhook.algorithm'
  | 'webhook.signedContent'
>

/** The two signature headers (A4) of exactly this body; none when signing is off. */
export function signingHeaders(key: string, body: string, url: string, knobs: SignatureKnobs): Headers {
  const encoding = knobs['webhook.signature']
  if (encoding === 'off') return {}
  const algorithm = knobs['webhook.algorithm']
  const content = knobs['webhook.signedContent'] === 'body' ? body : url + body
  return {
    [knobs['webhook.signatureHeader']]: hmac(algorithm, key, content, encoding),
    [knobs['webhook.algorithmHeader']]: `${ALGORITHM_NAMES[algorithm]} (${encoding} encoded)`,
  }
}

type JsonForm = Knobs['webhook.json']

const unicodeEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** All forms are the same JSON value: they show whether a receiver verifies the raw bytes. */
const JSON_FORMS: Record<JsonForm, (payload: unknown) => string> = {
  compact: payload => JSON.stringify(payload),
  spaced: payload => spaced(payload),
  ascii: payload => JSON.stringify(payload).replace(/[\u0080-\uffff]/g, unicodeEscape),
  slashes: payload => JSON.stringify(payload).replaceAll('/', '\\/'),
  pretty: payload => JSON.stringify(payload, null, 2),
  newline: payload => `${JSON.stringify(payload)}\n`,
  reordered: payload => JSON.stringify(reversed(payload)),
}

/** The payload as JSON text. Each event is encoded once, so that all its attempts send the same bytes. */
export const encodePayload = (payload: unknown, form: JsonForm): string => JSON_FORMS[form](payload)

/** `{"a": 1, "b": [1, 2]}`: how Python and others write JSON. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}: ${spaced(field)}`).join(', ')}}`
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).reverse()
  return Object.fromEntries(fields.map(([key, field]) => [key, reversed(field)]))
}

export interface SendPorts {
  readonly journal: Journal
  readonly activity: Activity
  /** The events whose webhook function still works after its answer: one item for each promise of `waitUntil`. */
  readonly backgroundWork: Set<EncodedEvent>
  readonly onThrown: OnInternalError
  knobs(): Knobs
  /** Null without a webhook. */
  target(): { readonly url: string; readonly transport: Transport } | null
}

/** What was sent where, and how it ended. */
export interface Sent {
  readonly url: string | null
  readonly headers: HeaderLines
  readonly outcome: Pick<DeliveryContent, 'outcome' | 'status' | 'response' | 'failure'>
}

/** What one attempt belongs to. */
export interface Attempt {
  /** Aborts with the next reset. */
  readonly signal: AbortSignal
  /** `seq` of the entry that caused it. */
  readonly cause: number
}

/**
 * Calls `conclude` when the request has ended, after this call has returned, and not after a reset, which aborts `signal`.
 * The simulator is busy until then. Rejects with what `conclude` throws.
 */
export async function sendRequest(
  ports: SendPorts,
  request: WebhookRequest,
  attempt: Attempt,
  conclude: (sent: Sent, durationMs: number) => void,
): Promise<void> {
  const { signal } = attempt
  const ended = ports.activity.begin()
  const started = elapsedMs()
  try {
    const sent = await sentRequest(ports, request, attempt)
    if (!signal.aborted) conclude(sent, elapsedMs() - started)
  } finally {
    ended()
  }
}

async function sentRequest(ports: SendPorts, request: WebhookRequest, attempt: Attempt): Promise<Sent> {
  const { signal } = attempt
  const target = ports.target()
  if (target === null) {
    const outcome = { outcome: 'skipped', status: null, response: null, failure: { code: 'no_url' } } as const
    return { url: null, headers: {}, outcome }
  }
  const { url, transport } = target
  const failed = (failure: DeliveryFailure) => ({ outcome: 'failed', status: null, response: null, failure }) as const
  let headers: HeaderLines
  try {
    headers = request.headers(url)
  } catch (error) {
    ports.onThrown('delivery', error)
    return { url, headers: {}, outcome: failed({ code: 'internal_error' }) }
  }
  const knobs = ports.knobs()
  const { body, wire, method } = request
  const onBackgroundWork = (work: Promise<unknown>) => trackBackgroundWork(ports, request, attempt, work)
  const timeoutMs = knobs['webhook.timeout']
  const call = { headers, body, signal, wire, method, onBackgroundWork }
  const outgoing: Outgoing = { url: withoutUser(url), timeoutMs, ...call }
  try {
    const follows = knobs['webhook.redirect'] === 'follow'
    const received = follows ? await followRedirects(transport, outgoing) : await transport(outgoing)
    const { headers: responseHeaders, body: text, truncated, status } = received
    const response = { headers: responseHeaders, body: text, truncated }
    const failure = acknowledgementFailure(request.event, received, knobs)
    if (failure === null) return { url, headers, outcome: { outcome: 'delivered', status, response } }
    return { url, headers, outcome: { outcome: 'failed', status, response, failure } }
  } catch (error) {
    const host = URL.canParse(url) ? new URL(url).host : url
    return { url, headers, outcome: failed(connectionFailure(error, host)) }
  }
}

/** How long a function platform lets the work of `waitUntil` continue. */
const WAIT_UNTIL_MS = 30_000

/** The simulator is busy until the work has ended, or took too long. Its failure is journaled, unless a reset came first. */
function trackBackgroundWork(
  { activity, journal, backgroundWork }: SendPorts,
  { chatId, deliveryId, event, body }: EncodedEvent,
  { signal, cause }: Attempt,
  work: Promise<unknown>,
): void {
  const item = { chatId, deliveryId, event, body }
  const ended = activity.begin()
  backgroundWork.add(item)
  function end(failure: WaitUntilFailure | null): void {
    if (!backgroundWork.delete(item)) return
    timer.cancel()
    signal.removeEventListener('abort', forget)
    if (failure !== null) {
      const chat = chatId === undefined ? {} : { chat_id: chatId }
      journal.append(
        { kind: 'note', ...chat, note: WAIT_UNTIL_FAILED, event, delivery_id: deliveryId, ...failure },
        cause,
      )
    }
    ended()
  }
  const forget = () => end(null)
  const timer = wallTimer(WAIT_UNTIL_MS, () => end({ code: 'unfinished', timeout_ms: WAIT_UNTIL_MS }))
  signal.addEventListener('abort', forget, { once: true })
  if (signal.aborted) forget()
  work.then(forget, error => end({ code: 'rejected', ...thrownText(error) }))
}

const MAX_REDIRECTS = 5

/** Sends the same bytes and headers again to each `Location`. All answers together may take the time limit. */
async function followRedirects(transport: Transport, outgoing: Outgoing): Promise<Received> {
  const { timeoutMs } = outgoing
  const deadline = elapsedMs() + timeoutMs
  let { url } = outgoing
  for (let count = 0; ; count++) {
    const leftMs = Math.max(1, deadline - elapsedMs())
    const received = await transport({ ...outgoing, url, timeoutMs: leftMs }).catch(error => {
      throw error instanceof TransportError && error.failure.code === 'timeout' ? timedOut(timeoutMs) : error
    })
    const { location } = received.headers
    const hasMoved = received.status >= 300 && received.status < 400
    if (!hasMoved || location === undefined || !isHttp(location) || count === MAX_REDIRECTS) return received
    url = new URL(location, url).href
  }
}

/** True for an address beside another one too, such as `/next`. */
const isHttp = (location: string): boolean =>
  URL.canParse(location, 'http://host') && /^https?:$/.test(new URL(location, 'http://host').protocol)

/** Null when the answer acknowledges the event (WH2), else why it does not. */
export function acknowledgementFailure(
  event: string,
  received: Pick<Received, 'status' | 'headers'>,
  knobs: Knobs,
): DeliveryFailure | null {
  const { status } = received
  const { location } = received.headers
  if (status >= 300 && status < 400) {
    const followed = knobs['webhook.redirect'] === 'follow'
    return { code: 'redirect', status, followed, ...(followed && location && !isHttp(location) && { location }) }
  }
  // Unknown events, which a user sends manually, demand 200 like the two that matter.
  const names: Readonly<Record<string, { readonly demands200: boolean }>> = EVENT_NAMES
  const demands200 = names[event]?.demands200 ?? true
  return status === 200 || !demands200 ? null : { code: 'not_acknowledged', status, event }
}

/** What few entries say. */
export type DeliveryMarks = Pick<
  DeliveryContent,
  'triggered' | 'sign' | 'resent' | 'probe' | 'faults' | 'duplicate' | 'retry_in_ms'
>

/** What the journal says about an attempt. */
export function deliveryEntry(
  { chatId, deliveryId, event, body }: WebhookRequest,
  { url, headers, outcome }: Sent,
  durationMs: number,
  attempt: number,
  marks: DeliveryMarks = {},
): DeliveryContent {
  // Joins several lines of one header as most servers do.
  const joined: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    joined[name] = typeof value === 'string' ? value : value.join(', ')
  const entry: { -readonly [Key in keyof DeliveryContent]: DeliveryContent[Key] } = {
    kind: 'delivery',
    delivery_id: deliveryId,
    event,
    url,
    request: { headers: joined, body },
    duration_ms: roundMs(durationMs),
    outcome: outcome.outcome,
    status: outcome.status,
    response: outcome.response,
    attempt,
  }
  if (chatId !== undefined) entry.chat_id = chatId
  if (outcome.failure !== undefined) entry.failure = outcome.failure
  return Object.assign(entry, marks)
}

/** Retries and manual attempts of one delivery are numbered together. */
export function nextAttempt(journal: Journal, deliveryId: string): number {
  let last = 0
  for (const { delivery_id, attempt } of journal.query({ kind: 'delivery' }))
    if (delivery_id === deliveryId) last = Math.max(last, attempt)
  return last + 1
}
