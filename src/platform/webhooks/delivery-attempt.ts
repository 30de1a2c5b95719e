/** Sends one request to the webhook, and describes its outcome. */

import type { Activity } from '../../base/runtime/activity.ts'
import { afterThisCall, elapsedMs } from '../../base/runtime/clock.ts'
import { connectionFailure, TransportError, timedOut } from '../../base/runtime/connection-failure.ts'
import {
  type AnswerHandler,
  type HeaderLines,
  type Outgoing,
  type Received,
  sendWith,
  type Transport,
} from '../../base/runtime/transport.ts'
import { EVENT_NAMES, isWebhookEvent } from '../contract/event-names.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { DeliveryFailure } from '../journal/entry.ts'
import type { OnInternalError } from '../journal/internal-errors.ts'
import { type DeliveryOutcome, NO_HEADERS, NOT_SENT, type Sent } from './delivery-record.ts'
import type { WebhookRequest } from './request.ts'

export interface SendPorts {
  readonly activity: Activity
  readonly onThrown: OnInternalError
  knobs(): Knobs
  target(): Target | null
}

interface Target {
  readonly url: string
  readonly transport: Transport
}

/** Receives how attempts ended. One of `conclude` and `aborted` is called, and then `failed` when it has thrown. */
export interface AttemptEnd<Of> {
  conclude(attempt: DeliveryAttempt<Of>, sent: Sent, durationMs: number): void
  /** A reset has aborted the request. */
  aborted(attempt: DeliveryAttempt<Of>): void
  /** After an error of the simulator. */
  failed(attempt: DeliveryAttempt<Of>, error: unknown): void
}

/** One attempt is one object, because a delivery that makes several functions takes longer. */
export class DeliveryAttempt<Of> implements AnswerHandler {
  readonly request: WebhookRequest
  readonly signal: AbortSignal
  /** What the attempt belongs to. */
  readonly of: Of
  readonly #ports: SendPorts
  readonly #end: AttemptEnd<Of>
  readonly #activity: number
  readonly #started = elapsedMs()
  #url: string | null = null
  #headers: HeaderLines = NO_HEADERS

  constructor(ports: SendPorts, request: WebhookRequest, signal: AbortSignal, of: Of, end: AttemptEnd<Of>) {
    this.request = request
    this.signal = signal
    this.of = of
    this.#ports = ports
    this.#end = end
    this.#activity = ports.activity.start()
  }

  /** The attempt ends after this call has returned. */
  send(): void {
    const ports = this.#ports
    const target = ports.target()
    if (target === null) return afterThisCall(() => this.#settle(skipped))
    this.#url = target.url
    try {
      this.#headers = this.request.headers(target.url)
    } catch (error) {
      ports.onThrown('delivery', error)
      return afterThisCall(() => this.#settle(internalError))
    }
    receive(ports.knobs(), this.request, target, this.#headers, this.signal, this)
  }

  received(answer: Received): void {
    this.#settle(() => outcomeOf(this.request.event, answer, this.#ports.knobs()))
  }

  failed(error: unknown): void {
    this.#settle(() => failureOf(error, this.#url ?? ''))
  }

  #settle(outcome: () => DeliveryOutcome): void {
    try {
      if (this.signal.aborted) this.#end.aborted(this)
      else this.#end.conclude(this, this.#sent(outcome()), elapsedMs() - this.#started)
    } catch (error) {
      this.#end.failed(this, error)
    } finally {
      this.#ports.activity.end(this.#activity)
    }
  }

  #sent(outcome: DeliveryOutcome): Sent {
    return this.#url === null ? NOT_SENT : { url: this.#url, headers: this.#headers, outcome }
  }
}

const skipped = (): DeliveryOutcome => NOT_SENT.outcome

const internalError = (): DeliveryOutcome => ({
  outcome: 'failed',
  status: null,
  response: null,
  failure: { code: 'internal_error' },
})

function receive(
  knobs: Knobs,
  { body, wire, method }: WebhookRequest,
  { url, transport }: Target,
  headers: HeaderLines,
  signal: AbortSignal,
  handler: AnswerHandler,
): void {
  const timeoutMs = knobs['webhook.timeout']
  const outgoing: Outgoing = { url, timeoutMs, headers, body, signal, wire, method }
  if (knobs['webhook.redirect'] !== 'follow') return transport(outgoing, handler)
  const post: Post = (to, withinMs) => sendWith(transport, { ...outgoing, url: to, timeoutMs: withinMs })
  followRedirects(post, url, timeoutMs).then(
    answer => handler.received(answer),
    error => handler.failed(error),
  )
}

const failureOf = (error: unknown, url: string): DeliveryOutcome => {
  const failure = connectionFailure(error, URL.canParse(url) ? new URL(url).host : url)
  return { outcome: 'failed', status: null, response: null, failure }
}

function outcomeOf(event: string, received: Received, knobs: Knobs): DeliveryOutcome {
  const failure = acknowledgementFailure(event, received.status, knobs)
  const { headers, body, truncated, status } = received
  const response = { headers, body, truncated }
  return failure === null
    ? { outcome: 'delivered', status, response }
    : { outcome: 'failed', status, response, failure }
}

const MAX_REDIRECTS = 5

type Post = (url: string, withinMs: number) => Promise<Received>

/** Sends the same bytes and headers again to each `Location`. All answers together may take `timeoutMs`. */
async function followRedirects(post: Post, from: string, timeoutMs: number): Promise<Received> {
  const deadline = elapsedMs() + timeoutMs
  let url = from
  for (let count = 0; ; count++) {
    const received = await post(url, Math.max(1, deadline - elapsedMs())).catch(error => {
      throw error instanceof TransportError && error.failure.code === 'timeout' ? timedOut(timeoutMs) : error
    })
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
const demands200 = (event: string): boolean => !isWebhookEvent(event) || EVENT_NAMES[event].demands200
