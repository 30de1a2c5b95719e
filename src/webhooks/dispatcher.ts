/**
 * Delivers webhook events: encodes each once, signs exactly those bytes, keeps the order of each chat, and journals
 * every attempt. Nobody waits for it: an operation appends its event and goes on.
 */
import type { EntryOf } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { Clock } from '../runtime/clock.ts'
import { createRandom } from '../runtime/random.ts'
import { attemptOnce, type Concluded, nextAttempt, type Parcel, type SendPorts } from './attempt.ts'
import { type ByHand, createByHand } from './by-hand.ts'
import { encodePayload } from './encode.ts'
import { type HeaderPorts, headersFor } from './headers.ts'
import { createLanes } from './lanes.ts'
import { retryDelay } from './policy.ts'

export interface DispatcherPorts extends SendPorts, HeaderPorts {
  readonly journal: Journal
  readonly clock: Clock
  readonly seed: number
}

export interface Dispatcher extends Pick<ByHand, 'trigger' | 'resend'> {
  enqueue(event: EntryOf<'event'>): void
  /** Drops what waits and cancels what is on its way; nothing of it is journaled any more. */
  reset(): void
}

interface Job extends Parcel {
  readonly seq: number
  attempt: number
}

export function createDispatcher(ports: DispatcherPorts): Dispatcher {
  let cancel = new AbortController()
  let random = createRandom(ports.seed, 'delivery order')
  const byHand = createByHand({ ...ports, signal: () => cancel.signal })
  const pick = (waiting: readonly Job[]) =>
    ports.knobs()['webhook.order'] === 'shuffle' ? random.below(waiting.length) : 0
  const lanes = createLanes<Job>(pick, attempt)

  function attempt(job: Job, done: () => void): void {
    void attemptOnce(ports, job, cancel.signal, content => conclude(job, content, done))
  }

  function conclude(job: Job, content: Concluded, done: () => void): void {
    const retryIn = content.outcome === 'failed' ? retryDelay(ports.knobs(), job.attempt) : null
    const again = retryIn === null ? {} : { retry_in_ms: retryIn }
    ports.journal.append({ ...content, attempt: numberOf(job), ...again }, job.seq)
    if (retryIn === null) return done()
    retryLater(job, retryIn, done)
  }

  /** Somebody may have sent it by hand in between. */
  const numberOf = ({ attempt, deliveryId }: Job): number =>
    attempt === 1 ? 1 : Math.max(attempt, nextAttempt(ports.journal, deliveryId))

  function retryLater(job: Job, delayMs: number, done: () => void): void {
    const { signal } = cancel
    const timer = ports.clock.after(delayMs, () => {
      signal.removeEventListener('abort', timer.cancel)
      job.attempt++
      attempt(job, done)
    })
    signal.addEventListener('abort', timer.cancel, { once: true })
  }

  function jobFor({ event, seq, chat_id, delivery_id, payload }: EntryOf<'event'>): Job {
    const body = encodePayload(payload, ports.knobs()['webhook.json'])
    const signed = { chatId: chat_id, deliveryId: delivery_id, body, sign: 'valid' } as const
    const headers = (url: string) => headersFor(ports, signed, url)
    return { chatId: chat_id, deliveryId: delivery_id, event, body, headers, seq, attempt: 1 }
  }

  return {
    trigger: byHand.trigger,
    resend: byHand.resend,
    enqueue(event) {
      const job = jobFor(event)
      if (ports.knobs()['webhook.order'] === 'none') attempt(job, () => {})
      else lanes.add(event.chat_id, job)
    },
    reset() {
      cancel.abort()
      cancel = new AbortController()
      random = createRandom(ports.seed, 'delivery order')
      lanes.clear()
      byHand.reset()
    },
  }
}
