/**
 * Delivers webhook events in the background: encodes each once, sends them one after another per chat, delayed or held by
 * faults, the first attempt with its copies and then the retries, and journals the outcome of each attempt.
 */
import { type Clock, createSchedule } from '../../base/runtime/clock.ts'
import { createAbort } from '../../base/runtime/node.ts'
import { createRandom, type Random, randomFrom } from '../../base/runtime/random.ts'
import { CONNECTION_EFFECTS } from '../faults/effects.ts'
import type { AppliedWebhookFaults, FaultRegistry } from '../faults/registry.ts'
import type { EventContent } from '../journal/entry.ts'
import { faultyRequest } from './faulty-request.ts'
import { createManualEvents, type ManualEvents } from './manual.ts'
import {
  type DeliveryMarks,
  deliveryEntry,
  type EncodedEvent,
  encodePayload,
  nextAttempt,
  type RequestPorts,
  type SendPorts,
  sendRequest,
  validRequest,
  type WebhookRequest,
} from './request.ts'

export interface DispatcherPorts extends SendPorts, RequestPorts {
  readonly clock: Clock
  seed(): number
  readonly faults: Pick<FaultRegistry, 'active' | 'takeWebhook'>
  /** False when the webhook is a function. */
  hasConnection(): boolean
  /** The bound of the deliveries in progress, in bytes. */
  readonly memoryLimit: number
}

export type DeliveryPhase =
  /** Behind another event of its chat. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sending' }
  /** At that time it is sent, or takes its turn among the events of its chat. */
  | { readonly kind: 'scheduled'; readonly next: 'send' | 'turn'; readonly atMs: number }
  /** Waits until later events of its chat have passed. */
  | { readonly kind: 'held' }

/** One event on its way to the webhook. */
export interface Job {
  /** The valid request, which a retry sends. */
  readonly request: WebhookRequest
  readonly chatId: string
  /** The number of its event in the journal. */
  readonly seq: number
  readonly faults: AppliedWebhookFaults | null
  /** A copy of the first attempt; later events do not wait for it. */
  readonly copy: boolean
  attempt: number
  /** Whether it is at the head of the queue of its chat, so that later events wait for it. */
  atHead: boolean
  phase: DeliveryPhase
  /** How many later events of its chat must still pass it while it is held. */
  passing: number
}

export interface Dispatcher extends Pick<ManualEvents, 'trigger' | 'resend'> {
  /** `seq` is that of the entry of the event. */
  enqueue(event: EventContent, seq: number): void
  /** Sends the events that these faults hold. */
  release(faults: readonly string[]): void
  /** Returns a delivery of the platform that is in progress; null for one that has ended or was sent manually. */
  find(deliveryId: string): Readonly<Job> | null
  /** The deliveries of the platform that are in progress, oldest event first. */
  inProgress(): readonly Readonly<Job>[]
  /** The events whose webhook function still works after its answer: one for each promise of `waitUntil`. */
  backgroundWork(): readonly EncodedEvent[]
  /** The time of the next retry, delayed event or copy: epoch milliseconds on the simulator's clock, or null. */
  nextDue(): number | null
  /** Drops waiting events and aborts requests; none of them is journaled. */
  reset(): void
  /** Events that are not delivered yet, as plain data. Manual events are left out, because their callers wait here. */
  capture(): CapturedDeliveries
  /** Restores captured events after a reset. The function it returns sends them, each with its next attempt at once. */
  restore(captured: CapturedDeliveries): () => void
}

export interface CapturedDeliveries {
  /** Oldest first. */
  readonly events: readonly CapturedEvent[]
  /** The state of the random order of `webhook.order`. */
  readonly random: number
  /** How many events were triggered manually. */
  readonly triggered: number
}

/** An event that is not delivered yet. Its request is built anew: the signature depends on the keys at the time of sending. */
export type CapturedEvent = Omit<EncodedEvent, 'chatId'> & Pick<Job, 'chatId' | 'seq' | 'attempt'>

/** The memory of a job beside its body, in bytes. */
const JOB_BYTES = 1024

export function createDispatcher(ports: DispatcherPorts): Dispatcher {
  const { journal, clock } = ports
  let cancel = createAbort()
  const signal = () => cancel.signal
  const active = new Set<Job>()
  let activeBytes = 0
  /** The jobs that wait behind the one at the head, by chat. */
  const queues = new Map<string, Job[]>()
  const held = new Set<Job>()
  let random: Random = createRandom(ports.seed(), 'delivery order')
  const schedule = createSchedule(clock)
  const manual = createManualEvents({ ...ports, schedule, signal })
  const sizeOf = ({ request }: Job) => JOB_BYTES + request.body.length
  const isOrdered = () => ports.knobs()['webhook.order'] !== 'none'

  function createJob(request: WebhookRequest, seq: number, faults: Job['faults'], attempt: number): Job {
    const chatId = request.chatId ?? ''
    const phase: DeliveryPhase = { kind: 'sending' }
    return { request, chatId, seq, faults, copy: false, attempt, atHead: false, phase, passing: 0 }
  }

  function add(job: Job): void {
    active.add(job)
    activeBytes += sizeOf(job)
  }

  function sendAt(job: Job, delayMs: number, next: 'send' | 'turn'): void {
    const atMs = schedule.after(delayMs, () => (next === 'send' ? send(job) : takeTurn(job)))
    job.phase = { kind: 'scheduled', next, atMs }
  }

  /** Begins with a new event. */
  function start(job: Job): void {
    const order = job.faults?.order
    if (order?.kind === 'delay') sendAt(job, order.ms, 'turn')
    else if (order?.kind === 'hold') {
      job.phase = { kind: 'held' }
      job.passing = order.passing
      held.add(job)
    } else takePlace(job)
  }

  /** Sends the job, or lets it wait behind the one at the head of its chat. */
  function takePlace(job: Job): void {
    if (!isOrdered()) return takeTurn(job)
    const queue = queues.get(job.chatId)
    if (queue === undefined) {
      queues.set(job.chatId, [])
      job.atHead = true
      takeTurn(job)
    } else {
      job.phase = { kind: 'waiting' }
      queue.push(job)
    }
  }

  function takeTurn(job: Job): void {
    const order = job.faults?.order
    if (order?.kind === 'slow') sendAt(job, order.ms, 'send')
    else send(job)
  }

  /** Sends the next attempt; the first one together with its copies. Faults change only the first. */
  function send(job: Job): void {
    const faults = job.attempt === 1 ? job.faults : null
    sendAttempt(job, faults)
    if (faults === null || job.copy) return
    const { count, gapMs } = faults.copies
    for (let index = 1; index < count; index++) {
      const copy: Job = { ...job, copy: true, atHead: false }
      add(copy)
      if (gapMs > 0) sendAt(copy, gapMs * index, 'send')
      else sendAttempt(copy, faults)
    }
  }

  async function sendAttempt(job: Job, faults: Job['faults']): Promise<void> {
    job.phase = { kind: 'sending' }
    const request = faults === null ? job.request : faultyRequest(ports, job.request, faults.form)
    const epoch = cancel.signal
    try {
      await sendRequest(ports, request, { signal: epoch, cause: job.seq }, (sent, durationMs) => {
        const marks: DeliveryMarks =
          faults === null
            ? {}
            : { faults: faults.faults, ...(faults.form.sign !== 'valid' && { sign: faults.form.sign }) }
        const attempt = (least: number) => Math.max(least, nextAttempt(journal, request.deliveryId))
        if (job.copy) {
          journal.append(deliveryEntry(request, sent, durationMs, attempt(2), { duplicate: true, ...marks }), job.seq)
          return finish(job)
        }
        // A manual attempt may have taken the number.
        const number = job.attempt === 1 ? 1 : attempt(job.attempt)
        const hasFailed = sent.outcome.outcome === 'failed'
        const retryIn = hasFailed ? ports.knobs()['webhook.retry'][job.attempt - 1] : undefined
        if (retryIn !== undefined) Object.assign(marks, { retry_in_ms: retryIn })
        journal.append(deliveryEntry(request, sent, durationMs, number, marks), job.seq)
        if (retryIn === undefined) return finish(job)
        job.attempt++
        sendAt(job, retryIn, 'send')
      })
    } catch (error) {
      ports.onThrown('delivery', error)
      if (!epoch.aborted) finish(job)
    }
  }

  /** No further attempt follows: the next event of the chat is sent. Held events that this one releases go first. */
  function finish(job: Job): void {
    if (active.delete(job)) activeBytes -= sizeOf(job)
    if (job.copy) return
    for (const heldJob of held) if (heldJob.chatId === job.chatId && heldJob.seq < job.seq) heldJob.passing--
    releaseIf(heldJob => heldJob.passing <= 0)
    if (!job.atHead) return
    const queue = queues.get(job.chatId)
    if (queue === undefined) return
    const place = ports.knobs()['webhook.order'] === 'shuffle' && queue.length > 0 ? random.below(queue.length) : 0
    const [next] = queue.splice(place, 1)
    if (next === undefined) queues.delete(job.chatId)
    else {
      next.atHead = true
      takeTurn(next)
    }
  }

  function releaseIf(isReleased: (job: Job) => boolean): void {
    const released = [...held].filter(isReleased)
    for (const job of released) {
      held.delete(job)
      job.faults?.release()
    }
    // In their order, before the events that wait.
    for (const job of released.reverse()) {
      const queue = isOrdered() ? queues.get(job.chatId) : undefined
      if (queue === undefined) continue
      job.phase = { kind: 'waiting' }
      queue.unshift(job)
    }
    for (const job of released.reverse()) if (job.phase.kind === 'held') takePlace(job)
  }

  return {
    trigger: manual.trigger,
    resend: manual.resend,
    enqueue(event, seq) {
      const { chat_id: chatId, delivery_id: deliveryId, event: name } = event
      const body = encodePayload(event.payload, ports.knobs()['webhook.json'])
      const request = validRequest(ports, { chatId, deliveryId, event: name, body })
      if (activeBytes + JOB_BYTES + body.length > ports.memoryLimit) {
        // The webhook does not keep up.
        const failure = { code: 'queue_full', limit_bytes: ports.memoryLimit } as const
        const outcome = { outcome: 'failed', status: null, response: null, failure } as const
        journal.append(deliveryEntry(request, { url: null, headers: {}, outcome }, 0, 1), seq)
        return
      }
      const faults = ports.faults.active.webhook ? ports.faults.takeWebhook({ event: name, chatId }) : null
      for (const hit of faults?.hits ?? []) {
        // A webhook that is a function has no connection to change.
        const left = ports.hasConnection() ? [] : CONNECTION_EFFECTS.filter(effect => hit.effect[effect] !== undefined)
        const notApplied = left.length === 0 ? {} : { not_applied: left }
        const entry = { kind: 'fault', chat_id: chatId, ...hit, event: name, delivery_id: deliveryId } as const
        journal.append({ ...entry, ...notApplied }, seq)
      }
      const job = createJob(request, seq, faults, 1)
      add(job)
      start(job)
    },
    release: names => releaseIf(job => job.faults?.faults.some(name => names.includes(name)) ?? false),
    find: deliveryId => [...active].find(({ copy, request }) => !copy && request.deliveryId === deliveryId) ?? null,
    inProgress: () => [...active].sort((a, b) => a.seq - b.seq),
    backgroundWork: () => [...ports.backgroundWork],
    nextDue: schedule.next,
    reset() {
      cancel.abort()
      cancel = createAbort()
      schedule.clear()
      queues.clear()
      held.clear()
      random = createRandom(ports.seed(), 'delivery order')
      active.clear()
      activeBytes = 0
      manual.reset()
    },
    capture() {
      const events: CapturedEvent[] = []
      for (const { copy, request, chatId, seq, attempt } of [...active].sort((a, b) => a.seq - b.seq)) {
        const { deliveryId, event, body } = request
        if (!copy) events.push({ chatId, deliveryId, event, body, seq, attempt })
      }
      return { events, random: random.state(), triggered: manual.count() }
    },
    restore({ events, random: state, triggered }) {
      random = randomFrom(state)
      manual.reset(triggered)
      const jobs = events.map(event => createJob(validRequest(ports, event), event.seq, null, event.attempt))
      for (const job of jobs) add(job)
      return () => {
        for (const job of jobs) start(job)
      }
    },
  }
}
