/** Sends the attempts of one event, the first with its copies and then the retries, and journals the outcome of each. */

import type { Activity } from '../../base/runtime/activity.ts'
import { afterThisCall, elapsedMs, roundMs } from '../../base/runtime/clock.ts'
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
import type { DeliveryContent, DeliveryFailure } from '../journal/entry.ts'
import type { OnInternalError } from '../journal/internal-errors.ts'
import type { Journal } from '../journal/journal.ts'
import { faultyRequest } from './faulty-request.ts'
import { copyOf, type Job, type JobFaults, SENDING } from './job.ts'
import type { RequestPorts, WebhookRequest } from './request.ts'

type DeliveryOutcome = Pick<DeliveryContent, 'outcome' | 'status' | 'response' | 'failure'>

/** What was sent where, and what became of it. */
export interface Sent {
  readonly url: string | null
  readonly headers: HeaderLines
  readonly outcome: DeliveryOutcome
}

const NOT_SENT: Sent = {
  url: null,
  headers: {},
  outcome: { outcome: 'skipped', status: null, response: null, failure: { code: 'no_url' } },
}

/** What few entries say. */
export type DeliveryMarks = Pick<
  DeliveryContent,
  'triggered' | 'sign' | 'resent' | 'faults' | 'duplicate' | 'retry_in_ms'
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
  return {
    kind: 'delivery',
    ...(chatId !== undefined && { chat_id: chatId }),
    delivery_id: deliveryId,
    event,
    url,
    request: { headers: joined, body },
    duration_ms: roundMs(durationMs),
    ...outcome,
    attempt,
    ...marks,
  }
}

export interface AttemptPorts extends SendPorts, RequestPorts {
  readonly journal: Journal
  /** Aborts with the next reset. */
  signal(): AbortSignal
  /** Called for each copy before it is sent. */
  begin(copy: Job): void
  /** Sends the next attempt after so many milliseconds of the simulator's clock. */
  sendLater(job: Job, delayMs: number): void
  /** Called when no further attempt follows. */
  finish(job: Job): void
}

export interface Attempts {
  /** Sends the next attempt; the first one together with its copies. */
  send(job: Job): void
}

/** Faults change the first attempt; a retry is a valid request. */
const faultsOf = ({ attempt, faults }: Job): JobFaults | null => (attempt === 1 ? faults : null)

export function createAttempts(ports: AttemptPorts): Attempts {
  const end: AttemptEnd<Job> = {
    conclude({ of: job, request }, sent, durationMs) {
      const record = (attempt: number, marks?: DeliveryMarks) =>
        void ports.journal.append(deliveryEntry(request, sent, durationMs, attempt, marks), job.seq)
      if (job.copy) concludeCopy(job, record)
      else concludeAttempt(job, sent.outcome.outcome === 'failed', record)
    },
    aborted() {},
    failed({ of: job, signal }, error) {
      ports.onThrown('delivery', error)
      if (!signal.aborted) ports.finish(job)
    },
  }

  function send(job: Job): void {
    sendOnce(job)
    const faults = faultsOf(job)
    if (faults !== null && !job.copy) sendCopies(job, faults)
  }

  function sendOnce(job: Job): void {
    job.phase = SENDING
    const faults = faultsOf(job)
    const request = faults === null ? job.request : faultyRequest(ports, job.request, faults.form)
    new DeliveryAttempt(ports, request, ports.signal(), job, end).send()
  }

  function sendCopies(job: Job, { copies: { count, gapMs } }: JobFaults): void {
    for (let index = 1; index < count; index++) {
      const copy = copyOf(job)
      ports.begin(copy)
      if (gapMs > 0) ports.sendLater(copy, gapMs * index)
      else sendOnce(copy)
    }
  }

  function concludeCopy(job: Job, record: (attempt: number, marks: DeliveryMarks) => void): void {
    const attempt = Math.max(2, nextAttempt(ports.journal, job.request.deliveryId))
    record(attempt, { duplicate: true, ...marksOf(job) })
    ports.finish(job)
  }

  function concludeAttempt(
    job: Job,
    hasFailed: boolean,
    record: (attempt: number, marks?: DeliveryMarks) => void,
  ): void {
    const retryIn = hasFailed ? retryDelay(job) : null
    if (retryIn === null) record(numberOf(job), marksOf(job))
    else record(numberOf(job), { ...marksOf(job), retry_in_ms: retryIn })
    if (retryIn === null) return ports.finish(job)
    job.attempt++
    ports.sendLater(job, retryIn)
  }

  /** Null after the last attempt. */
  const retryDelay = ({ attempt }: Job): number | null => ports.knobs()['webhook.retry'][attempt - 1] ?? null

  /** A manual attempt may have taken the number. */
  const numberOf = ({ attempt, request }: Job): number =>
    attempt === 1 ? 1 : Math.max(attempt, nextAttempt(ports.journal, request.deliveryId))

  return { send }
}

function marksOf(job: Job): Pick<DeliveryMarks, 'faults' | 'sign'> | undefined {
  const applied = faultsOf(job)
  if (applied === null) return undefined
  const { faults, form } = applied
  return form.sign === 'valid' ? { faults } : { faults, sign: form.sign }
}

/** Retries and manual attempts of one delivery are numbered together. */
export function nextAttempt(journal: Journal, deliveryId: string): number {
  const attempts = journal.query({ kind: 'delivery' }).filter(entry => entry.delivery_id === deliveryId)
  return Math.max(0, ...attempts.map(({ attempt }) => attempt)) + 1
}

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

/** Sends one request, and describes its outcome. */
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
  #headers: HeaderLines = {}

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
    if (target === null) return afterThisCall(() => this.#settle(() => NOT_SENT.outcome))
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
