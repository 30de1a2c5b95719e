/** Sends the attempts of one event, the first with its copies and then the retries, and journals the outcome of each. */

import { isWebhookEvent, WEBHOOK_EVENTS } from '../contract/events.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { DeliveryContent, DeliveryFailure } from '../journal/entry.ts'
import type { OnInternalError } from '../journal/internal-errors.ts'
import type { Journal } from '../journal/journal.ts'
import type { Activity } from '../runtime/activity.ts'
import { afterThisCall, elapsedMs, roundMs } from '../runtime/clock.ts'
import { connectionFailure, TransportError, timedOut } from '../runtime/connection-failure.ts'
import {
  type AnswerHandler,
  type HeaderLines,
  type Outgoing,
  type Received,
  sendWith,
  type Transport,
} from '../runtime/transport.ts'
import { faultyRequest } from './faulty-request.ts'
import { copyOf, type Job, type JobFaults, SENDING } from './job.ts'
import type { Headers, RequestPorts, WebhookRequest } from './request.ts'

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
  /** Sends the attempt that a snapshot interrupted, with the same number. Its copies are jobs of the snapshot. */
  resume(job: Job): void
}

/** Faults change the first attempt; a retry is a valid request. */
const faultsOf = ({ attempt, faults }: Job): JobFaults | null => (attempt === 1 ? faults : null)

export function createAttempts(ports: AttemptPorts): Attempts {
  function send(job: Job): void {
    resume(job)
    const faults = faultsOf(job)
    if (faults !== null && !job.copy) sendCopies(job, faults)
  }

  function resume(job: Job): void {
    job.phase = SENDING
    const faults = faultsOf(job)
    const request = faults === null ? job.request : faultyRequest(ports, job.request, faults.form)
    const conclude = job.copy ? concludeCopy : concludeAttempt
    const signal = ports.signal()
    sendRequest(ports, request, signal, {
      conclude: content => conclude(job, content),
      aborted() {},
      failed(error) {
        ports.onThrown('delivery', error)
        if (!signal.aborted) ports.finish(job)
      },
    })
  }

  function sendCopies(job: Job, { copies: { count, gapMs } }: JobFaults): void {
    for (let index = 1; index < count; index++) {
      const copy = copyOf(job)
      ports.begin(copy)
      if (gapMs > 0) ports.sendLater(copy, gapMs * index)
      else resume(copy)
    }
  }

  function concludeCopy(job: Job, content: AttemptContent): void {
    const attempt = Math.max(2, nextAttempt(ports.journal, job.request.deliveryId))
    ports.journal.append(Object.assign(content, { attempt, duplicate: true } as const, fieldsOf(job)), job.seq)
    ports.finish(job)
  }

  function concludeAttempt(job: Job, content: AttemptContent): void {
    const retryIn = content.outcome === 'failed' ? retryDelay(job) : null
    const retry = retryIn === null ? {} : { retry_in_ms: retryIn }
    ports.journal.append(Object.assign(content, { attempt: numberOf(job) }, fieldsOf(job), retry), job.seq)
    if (retryIn === null) return ports.finish(job)
    job.attempt++
    ports.sendLater(job, retryIn)
  }

  /** Null after the last attempt. */
  const retryDelay = ({ attempt }: Job): number | null => ports.knobs()['webhook.retry'][attempt - 1] ?? null

  /** A manual attempt may have taken the number. */
  const numberOf = ({ attempt, request }: Job): number =>
    attempt === 1 ? 1 : Math.max(attempt, nextAttempt(ports.journal, request.deliveryId))

  return { send, resume }
}

function fieldsOf(job: Job): Pick<DeliveryContent, 'faults' | 'sign'> {
  const applied = faultsOf(job)
  if (applied === null) return {}
  const { faults, form } = applied
  return form.sign === 'valid' ? { faults } : { faults, sign: form.sign }
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

type Outcome = Pick<DeliveryContent, 'outcome' | 'status' | 'response' | 'failure'>

interface Sent {
  readonly url: string | null
  readonly headers: HeaderLines
  readonly outcome: Outcome
}

/** The journal entry of an attempt without its number. */
export type AttemptContent = Omit<DeliveryContent, 'attempt'>

/** How an attempt ended. One of `conclude` and `aborted` is called, and then `failed` when it has thrown. */
interface AttemptEnd {
  conclude(content: AttemptContent): void
  /** A reset has aborted the request. */
  aborted(): void
  /** After an error of the simulator. */
  failed(error: unknown): void
}

export function sendRequest(ports: SendPorts, request: WebhookRequest, signal: AbortSignal, end: AttemptEnd): void {
  const ended = ports.activity.begin()
  const started = elapsedMs()
  send(ports, request, signal, sentOf => {
    try {
      if (signal.aborted) end.aborted()
      else end.conclude(contentOf(request, sentOf(), elapsedMs() - started))
    } catch (error) {
      end.failed(error)
    } finally {
      ended()
    }
  })
}

/** `sentOf` may throw. */
type End = (sentOf: () => Sent) => void

function send(ports: SendPorts, request: WebhookRequest, signal: AbortSignal, end: End): void {
  const target = ports.target()
  if (target === null) return afterThisCall(() => end(() => ({ url: null, headers: {}, outcome: SKIPPED })))
  const { url } = target
  const headers = headersFor(ports, request, url)
  if (headers === null) return afterThisCall(() => end(() => ({ url, headers: {}, outcome: INTERNAL_ERROR })))
  receive(ports.knobs(), request, target, headers, signal, {
    received: answer => end(() => ({ url, headers, outcome: outcomeOf(request.event, answer, ports.knobs()) })),
    failed: error => end(() => ({ url, headers, outcome: failed(error, url) })),
  })
}

/** Null after an error of the simulator. */
function headersFor(ports: SendPorts, request: WebhookRequest, url: string): HeaderLines | null {
  try {
    return request.headers(url)
  } catch (error) {
    ports.onThrown('delivery', error)
    return null
  }
}

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
  followRedirects(post, url, timeoutMs).then(handler.received, handler.failed)
}

export const contentOf = (
  request: WebhookRequest,
  { url, headers, outcome }: Sent,
  durationMs: number,
): AttemptContent => ({
  kind: 'delivery',
  ...(request.chatId === undefined ? {} : { chat_id: request.chatId }),
  delivery_id: request.deliveryId,
  event: request.event,
  url,
  request: { headers: joinedLines(headers), body: request.body },
  duration_ms: roundMs(durationMs),
  ...outcome,
})

const isOneLine = (headers: HeaderLines): headers is Headers =>
  Object.values(headers).every(value => typeof value === 'string')

/** Joins several lines of one header as most servers do. */
const joinedLines = (headers: HeaderLines): Headers =>
  isOneLine(headers)
    ? headers
    : Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))

const SKIPPED: Outcome = { outcome: 'skipped', status: null, response: null, failure: { code: 'no_url' } }

const INTERNAL_ERROR: Outcome = {
  outcome: 'failed',
  status: null,
  response: null,
  failure: { code: 'internal_error' },
}

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

type Post = (url: string, withinMs: number) => Promise<Received>

/** Sends the same bytes and headers again to each `Location`. All answers together may take `timeoutMs`. */
async function followRedirects(post: Post, from: string, timeoutMs: number): Promise<Received> {
  const deadline = elapsedMs() + timeoutMs
  let url = from
  for (let count = 0; ; count++) {
    const received = await post(url, Math.max(1, deadline - elapsedMs())).catch(error => {
      throw isTimeout(error) ? timedOut(timeoutMs) : error
    })
    const { location } = received.headers
    const moved =
      received.status >= 300 && received.status < 400 && location !== undefined && URL.canParse(location, url)
    if (!moved || count === MAX_REDIRECTS) return received
    url = new URL(location, url).href
  }
}

const isTimeout = (error: unknown): boolean => error instanceof TransportError && error.failure.code === 'timeout'

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
  const attempts = journal.query({ kind: 'delivery' }).filter(entry => entry.delivery_id === deliveryId)
  return Math.max(0, ...attempts.map(({ attempt }) => attempt)) + 1
}
