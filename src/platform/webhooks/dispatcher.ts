/** Delivers webhook events in the background: encodes each event once and knows all deliveries that have not ended. */

import type { Clock } from '../../base/runtime/clock.ts'
import { createAbort } from '../../base/runtime/node.ts'
import type { FaultRegistry } from '../faults/registry.ts'
import type { EventContent } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { createAttempts, deliveryEntry, type SendPorts } from './attempts.ts'
import { createDeliveryOrder } from './delivery-order.ts'
import { createSchedule, faultEntries, type Job, newJob } from './job.ts'
import { createManualEvents, type ManualEvents } from './manual.ts'
import { type EncodedEvent, encodePayload, type RequestPorts, validRequest, type WebhookRequest } from './request.ts'

export interface DispatcherPorts extends SendPorts, RequestPorts {
  readonly journal: Journal
  readonly clock: Clock
  seed(): number
  readonly faults: Pick<FaultRegistry, 'active' | 'takeWebhook'>
  /** False when the webhook is a function. */
  hasConnection(): boolean
  /** The bound of the deliveries in progress, in bytes. */
  readonly memoryLimit: number
}

export interface Dispatcher extends Pick<ManualEvents, 'trigger' | 'resend'> {
  /** `seq` is that of the entry of the event. */
  enqueue(event: EventContent, seq: number): void
  /** Sends the events that these faults hold. */
  release(faults: readonly string[]): void
  /** Returns a delivery of the platform that is in progress; null for one that has ended or was sent manually. */
  find(deliveryId: string): Readonly<Job> | null
  /** The deliveries of the platform that have not ended, oldest event first. */
  inProgress(): readonly Readonly<Job>[]
  /** The time of the next retry, delayed event or copy: epoch milliseconds on the simulator's clock, or null. */
  nextDue(): number | null
  /** Drops waiting events and aborts requests; none of them is journaled. */
  reset(): void
  /** Events that have not arrived, as plain data. Manual events are left out, because their callers wait here. */
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

/** An event that has not arrived. Its request is built anew: the signature depends on the keys at the time of sending. */
export type CapturedEvent = Omit<EncodedEvent, 'chatId'> & Pick<Job, 'chatId' | 'seq' | 'attempt'>

export function createDispatcher(ports: DispatcherPorts): Dispatcher {
  let cancel = createAbort()
  const signal = () => cancel.signal
  const active = createActiveJobs()
  const schedule = createSchedule(ports.clock)
  const manual = createManualEvents({ ...ports, schedule, signal })
  const order = createDeliveryOrder({ ...ports, schedule, send: job => attempts.send(job) })
  const attempts = createAttempts({
    ...ports,
    signal,
    begin: copy => active.add(copy),
    sendLater: (job, delayMs) => order.schedule(job, delayMs, 'send'),
    finish(job) {
      active.delete(job)
      if (!job.copy) order.finish(job)
    },
  })

  return {
    trigger: manual.trigger,
    resend: manual.resend,
    enqueue(event, seq) {
      const body = encodePayload(event.payload, ports.knobs()['webhook.json'])
      const { chat_id: chatId, delivery_id: deliveryId, event: name } = event
      const request = validRequest(ports, { chatId, deliveryId, event: name, body })
      if (active.size() + sizeOfRequest(request) > ports.memoryLimit) return refuse(ports, seq, request)
      const job = jobFor(ports, event, seq, request)
      active.add(job)
      order.start(job)
    },
    release: order.release,
    find: deliveryId => active.list().find(({ copy, request }) => !copy && request.deliveryId === deliveryId) ?? null,
    inProgress: () => active.list().sort((a, b) => a.seq - b.seq),
    nextDue: schedule.next,
    reset() {
      cancel.abort()
      cancel = createAbort()
      schedule.clear()
      order.reset()
      active.clear()
      manual.reset()
    },
    capture: () => ({
      events: active
        .list()
        .filter(({ copy }) => !copy)
        .sort((a, b) => a.seq - b.seq)
        .map(({ request, chatId, seq, attempt }) => {
          const { deliveryId, event, body } = request
          return { chatId, deliveryId, event, body, seq, attempt }
        }),
      random: order.randomState(),
      triggered: manual.count(),
    }),
    restore({ events, random, triggered }) {
      order.reset(random)
      manual.reset(triggered)
      const jobs = events.map(one => newJob(validRequest(ports, one), one.chatId, one.seq, null, one.attempt))
      for (const job of jobs) active.add(job)
      return () => {
        for (const job of jobs) order.start(job)
      }
    },
  }
}

/** The jobs that have not ended. */
interface ActiveJobs {
  add(job: Job): void
  delete(job: Job): void
  list(): Job[]
  /** The memory of all, in bytes. */
  size(): number
  clear(): void
}

function createActiveJobs(): ActiveJobs {
  const jobs = new Set<Job>()
  let size = 0
  return {
    add(job) {
      jobs.add(job)
      size += sizeOfRequest(job.request)
    },
    delete(job) {
      if (jobs.delete(job)) size -= sizeOfRequest(job.request)
    },
    list: () => [...jobs],
    size: () => size,
    clear() {
      jobs.clear()
      size = 0
    },
  }
}

/** The memory of a job beside its body. */
const JOB_BYTES = 1024
const sizeOfRequest = ({ body }: WebhookRequest): number => JOB_BYTES + body.length

/** Journals that an event is not sent, because the webhook does not keep up. */
function refuse({ journal, memoryLimit }: DispatcherPorts, seq: number, request: WebhookRequest): void {
  const failure = { code: 'queue_full', limit_bytes: memoryLimit } as const
  const outcome = { outcome: 'failed', status: null, response: null, failure } as const
  journal.append(deliveryEntry(request, { url: null, headers: {}, outcome }, 0, 1), seq)
}

/** Applies the faults of the event and journals them. */
function jobFor(ports: DispatcherPorts, event: EventContent, seq: number, request: WebhookRequest): Job {
  const faults = ports.faults.active.webhook
    ? ports.faults.takeWebhook({ event: event.event, chatId: event.chat_id })
    : null
  if (faults !== null)
    for (const hit of faultEntries(event, faults, ports.hasConnection())) ports.journal.append(hit, seq)
  return newJob(request, event.chat_id, seq, faults)
}
