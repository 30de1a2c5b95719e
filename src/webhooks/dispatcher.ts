/**
 * Delivers webhook events: encodes each once, signs exactly those bytes, keeps the order of each chat, and journals
 * every attempt. Nobody waits for it: an operation appends its event and goes on.
 */
import type { Knobs } from '../contract/knobs.ts'
import type { DeliveryContent, EntryOf } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { Activity } from '../runtime/activity.ts'
import { type Clock, elapsedMs } from '../runtime/clock.ts'
import { createRandom } from '../runtime/random.ts'
import { CANCELLED, type Received, type Transport, TransportFailure } from '../runtime/transport.ts'
import { encodePayload } from './encode.ts'
import { createLanes } from './lanes.ts'
import { retryDelay, whyNotAcknowledged } from './policy.ts'
import { signatureHeaders } from './signature.ts'

export interface DispatcherPorts {
  readonly journal: Journal
  readonly clock: Clock
  readonly activity: Activity
  readonly seed: number
  readonly userAgent: string
  knobs(): Knobs
  target(): { url: string; transport: Transport } | null
  /** The key that signs events of this chat. */
  signingKey(chatId: string): string
}

export interface Dispatcher {
  enqueue(event: EntryOf<'event'>): void
  /** Drops what waits and cancels what is on its way; nothing of it is journaled any more. */
  reset(): void
}

interface Job {
  readonly event: EntryOf<'event'>
  readonly body: string
  attempt: number
}

type Outcome = Pick<DeliveryContent, 'outcome' | 'status' | 'response'> & { error?: string }

export function createDispatcher(ports: DispatcherPorts): Dispatcher {
  let cancel = new AbortController()
  let random = createRandom(ports.seed, 'delivery order')
  const pick = (waiting: readonly Job[]) =>
    ports.knobs()['webhook.order'] === 'shuffle' ? random.below(waiting.length) : 0
  const lanes = createLanes<Job>(pick, (job, done) => void attempt(job, done))

  async function attempt(job: Job, done: () => void): Promise<void> {
    const { signal } = cancel
    const ended = ports.activity.begin()
    const started = elapsedMs()
    const { url, headers, outcome } = await send(job, signal)
    if (!signal.aborted) conclude(job, { url, headers, outcome, durationMs: elapsedMs() - started }, done)
    ended()
  }

  async function send(
    job: Job,
    signal: AbortSignal,
  ): Promise<{ url: string | null; headers: Record<string, string>; outcome: Outcome }> {
    const target = ports.target()
    if (target === null) return { url: null, headers: {}, outcome: SKIPPED }
    const headers = headersFor(ports, job, target.url)
    const timeoutMs = ports.knobs()['webhook.timeout']
    try {
      const follow = ports.knobs()['webhook.redirect'] === 'follow'
      const hop = (url: string) => target.transport({ url, headers, body: job.body, timeoutMs, signal })
      const received = follow ? await followRedirects(hop, target.url) : await hop(target.url)
      return { url: target.url, headers, outcome: judge(job.event.event, received, ports.knobs()) }
    } catch (error) {
      return { url: target.url, headers, outcome: failed(error) }
    }
  }

  function conclude(
    job: Job,
    sent: { url: string | null; headers: Record<string, string>; outcome: Outcome; durationMs: number },
    done: () => void,
  ): void {
    const retryIn = sent.outcome.outcome === 'failed' ? retryDelay(ports.knobs(), job.attempt) : null
    ports.journal.append(
      {
        kind: 'delivery',
        chat_id: job.event.chat_id,
        delivery_id: job.event.delivery_id,
        event: job.event.event,
        attempt: job.attempt,
        url: sent.url,
        request: { headers: sent.headers, body: job.body },
        duration_ms: sent.durationMs,
        ...sent.outcome,
        ...(retryIn === null ? {} : { retry_in_ms: retryIn }),
      },
      job.event.seq,
    )
    if (retryIn === null) return done()
    retryLater(job, retryIn, done)
  }

  function retryLater(job: Job, delayMs: number, done: () => void): void {
    const { signal } = cancel
    const timer = ports.clock.after(delayMs, () => {
      signal.removeEventListener('abort', timer.cancel)
      job.attempt++
      void attempt(job, done)
    })
    signal.addEventListener('abort', timer.cancel, { once: true })
  }

  return {
    enqueue(event) {
      const job = { event, body: encodePayload(event.payload, ports.knobs()['webhook.json']), attempt: 1 }
      if (ports.knobs()['webhook.order'] === 'none') void attempt(job, () => {})
      else lanes.add(event.chat_id, job)
    },
    reset() {
      cancel.abort()
      cancel = new AbortController()
      random = createRandom(ports.seed, 'delivery order')
      lanes.clear()
    },
  }
}

const SKIPPED: Outcome = { outcome: 'skipped', status: null, response: null, error: 'no webhook URL is set' }

const failed = (error: unknown): Outcome => {
  const message = error instanceof TransportFailure ? error.message : String(error)
  return { outcome: 'failed', status: null, response: null, error: message || CANCELLED }
}

function judge(event: string, received: Received, knobs: Knobs): Outcome {
  const why = whyNotAcknowledged(event, received.status, knobs['webhook.redirect'])
  const { headers, body, truncated, status } = received
  const response = { headers, body, truncated }
  return why === null ? { outcome: 'delivered', status, response } : { outcome: 'failed', status, response, error: why }
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

function headersFor(ports: DispatcherPorts, job: Job, url: string): Record<string, string> {
  const knobs = ports.knobs()
  const idHeader = knobs['webhook.idHeader']
  return {
    'content-type': 'application/json',
    'user-agent': ports.userAgent,
    ...signatureHeaders(ports.signingKey(job.event.chat_id), job.body, url, knobs),
    ...(idHeader === 'off' ? {} : { [idHeader]: job.event.delivery_id }),
  }
}
