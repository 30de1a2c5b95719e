/** One request to the webhook, and what came of it. */
import type { Knobs } from '../contract/knobs.ts'
import type { DeliveryContent } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { Activity } from '../runtime/activity.ts'
import { elapsedMs } from '../runtime/clock.ts'
import { connectionFailure } from '../runtime/connection-failure.ts'
import type { Received, Transport, Wire } from '../runtime/transport.ts'
import { acknowledgementFailure } from './policy.ts'

export interface SendPorts {
  readonly activity: Activity
  knobs(): Knobs
  target(): { url: string; transport: Transport } | null
}

type Headers = Readonly<Record<string, string>>

/** What is to be sent; its headers may depend on the address. */
export interface Parcel {
  readonly chatId: string | undefined
  readonly deliveryId: string
  readonly event: string
  readonly body: string
  headers(url: string): Headers
  /** Null: like any other request. */
  readonly wire: Wire | null
}

type Outcome = Pick<DeliveryContent, 'outcome' | 'status' | 'response' | 'failure'>

interface Sent {
  readonly url: string | null
  readonly headers: Headers
  readonly outcome: Outcome
}

/** What the journal says of it, but for its number. */
export type Concluded = Omit<DeliveryContent, 'attempt'>

/** `conclude` is not called for what a reset cut off. */
export async function attemptOnce(
  ports: SendPorts,
  parcel: Parcel,
  signal: AbortSignal,
  conclude: (content: Concluded) => void,
): Promise<void> {
  const ended = ports.activity.begin()
  const started = elapsedMs()
  const sent = await send(ports, parcel, signal)
  if (!signal.aborted) conclude(contentOf(parcel, sent, elapsedMs() - started))
  ended()
}

async function send(ports: SendPorts, parcel: Parcel, signal: AbortSignal): Promise<Sent> {
  const target = ports.target()
  if (target === null) return { url: null, headers: {}, outcome: SKIPPED }
  const headers = parcel.headers(target.url)
  const timeoutMs = ports.knobs()['webhook.timeout']
  try {
    const follow = ports.knobs()['webhook.redirect'] === 'follow'
    const request = { headers, body: parcel.body, timeoutMs, signal, ...(parcel.wire && { wire: parcel.wire }) }
    const hop = (url: string) => target.transport({ url, ...request })
    const received = follow ? await followRedirects(hop, target.url) : await hop(target.url)
    return { url: target.url, headers, outcome: outcomeOf(parcel.event, received, ports.knobs()) }
  } catch (error) {
    return { url: target.url, headers, outcome: failed(error, target.url) }
  }
}

const contentOf = (parcel: Parcel, { url, headers, outcome }: Sent, durationMs: number): Concluded => ({
  kind: 'delivery',
  ...(parcel.chatId === undefined ? {} : { chat_id: parcel.chatId }),
  delivery_id: parcel.deliveryId,
  event: parcel.event,
  url,
  request: { headers, body: parcel.body },
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

/** Only by knob: the same bytes and headers again at the address named. */
async function followRedirects(hop: (url: string) => Promise<Received>, from: string): Promise<Received> {
  let url = from
  for (let count = 0; ; count++) {
    const received = await hop(url)
    const { location } = received.headers
    const moved =
      received.status >= 300 && received.status < 400 && location !== undefined && URL.canParse(location, url)
    if (!moved || count === MAX_REDIRECTS) return received
    url = new URL(location, url).href
  }
}

/** Attempts by hand and retries of one delivery are numbered together. */
export function nextAttempt(journal: Journal, deliveryId: string): number {
  const numbers = journal
    .query({ kind: 'delivery' })
    .map(entry => entry as DeliveryContent)
    .filter(entry => entry.delivery_id === deliveryId)
    .map(entry => entry.attempt)
  return Math.max(0, ...numbers) + 1
}
