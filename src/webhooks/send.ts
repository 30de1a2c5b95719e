/** Sends one request to the webhook and describes its outcome for the journal. */
import { isWebhookEvent, WEBHOOK_EVENTS } from '../contract/events.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { DeliveryContent, DeliveryFailure } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { Activity } from '../runtime/activity.ts'
import { elapsedMs } from '../runtime/clock.ts'
import { connectionFailure } from '../runtime/connection-failure.ts'
import type { Received, Transport } from '../runtime/transport.ts'
import type { Headers, WebhookRequest } from './request.ts'

export interface SendPorts {
  readonly activity: Activity
  knobs(): Knobs
  target(): Target | null
}

interface Target {
  readonly url: string
  readonly transport: Transport
}

type Outcome = Pick<DeliveryContent, 'outcome' | 'status' | 'response' | 'failure'>

interface Sent {
  readonly url: string | null
  readonly headers: Headers
  readonly outcome: Outcome
}

/** The journal entry of an attempt without its number. */
export type AttemptContent = Omit<DeliveryContent, 'attempt'>

/** Calls `conclude` unless a reset has aborted the request. */
export async function sendRequest(
  ports: SendPorts,
  request: WebhookRequest,
  signal: AbortSignal,
  conclude: (content: AttemptContent) => void,
): Promise<void> {
  const ended = ports.activity.begin()
  const started = elapsedMs()
  const sent = await send(ports, request, signal)
  if (!signal.aborted) conclude(contentOf(request, sent, elapsedMs() - started))
  ended()
}

async function send(ports: SendPorts, request: WebhookRequest, signal: AbortSignal): Promise<Sent> {
  const target = ports.target()
  if (target === null) return { url: null, headers: {}, outcome: SKIPPED }
  const headers = request.headers(target.url)
  try {
    const received = await receive(ports.knobs(), request, { ...target, headers, signal })
    return { url: target.url, headers, outcome: outcomeOf(request.event, received, ports.knobs()) }
  } catch (error) {
    return { url: target.url, headers, outcome: failed(error, target.url) }
  }
}

interface Call extends Target {
  readonly headers: Headers
  readonly signal: AbortSignal
}

function receive(knobs: Knobs, { body, wire }: WebhookRequest, call: Call): Promise<Received> {
  const { url, transport, headers, signal } = call
  const outgoing = { headers, body, timeoutMs: knobs['webhook.timeout'], signal, ...(wire && { wire }) }
  const post = (to: string) => transport({ url: to, ...outgoing })
  return knobs['webhook.redirect'] === 'follow' ? followRedirects(post, url) : post(url)
}

const contentOf = (request: WebhookRequest, { url, headers, outcome }: Sent, durationMs: number): AttemptContent => ({
  kind: 'delivery',
  ...(request.chatId === undefined ? {} : { chat_id: request.chatId }),
  delivery_id: request.deliveryId,
  event: request.event,
  url,
  request: { headers, body: request.body },
  duration_ms: durationMs,
  ...outcome,
})

const SKIPPED: Outcome = { outcome: 'skipped', status: null, response: null, failure: { code: 'no_url' } }

const failed = (error: unknown, url: string): Outcome => {
  const failure = connectionFailure(error, URL.canParse(url) ? new URL(url).host : url)
  return { outcome: 'failed', status: null, response: null, failure }
}

function outcomeOf(event: string, received: Received, knobs: Knobs): Outcome {
  const failure = acknowledgementFailure(event, received.status, knobs)
  const { headers, body, truncated, status } = received
  const response = { headers, body, truncated }
  return failure === null
    ? { outcome: 'delivered', status, response }
    : { outcome: 'failed', status, response, failure }
}

const MAX_REDIRECTS = 5

/** Sends the same bytes and headers again to each `Location`. */
async function followRedirects(post: (url: string) => Promise<Received>, from: string): Promise<Received> {
  let url = from
  for (let count = 0; ; count++) {
    const received = await post(url)
    const { location } = received.headers
    const moved =
      received.status >= 300 && received.status < 400 && location !== undefined && URL.canParse(location, url)
    if (!moved || count === MAX_REDIRECTS) return received
    url = new URL(location, url).href
  }
}

/** Null when the answer acknowledges the event (WH2), else why it does not. */
function acknowledgementFailure(event: string, status: number, knobs: Knobs): DeliveryFailure | null {
  if (status >= 300 && status < 400)
    return { code: 'redirect', status, followed: knobs['webhook.redirect'] === 'follow' }
  if (status === 200 || !demands200(event)) return null
  return { code: 'not_acknowledged', status, event }
}

/** Unknown events, which a user sends manually, demand 200 like the two that matter. */
const demands200 = (event: string): boolean => !isWebhookEvent(event) || WEBHOOK_EVENTS[event].demands200

/** Retries and manual attempts of one delivery are numbered together. */
export function nextAttempt(journal: Journal, deliveryId: string): number {
  const deliveries = journal.query({ kind: 'delivery' })
  const numbers = deliveries.flatMap(entry =>
    entry.kind === 'delivery' && entry.delivery_id === deliveryId ? [entry.attempt] : [],
  )
  return Math.max(0, ...numbers) + 1
}
