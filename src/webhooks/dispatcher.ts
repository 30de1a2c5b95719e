/**
 * Delivers webhook events: encodes each once, keeps the order of each chat, and knows what is under way.
 * Nobody waits for it: an operation appends its event and goes on.
 */
import type { Faults } from '../faults/registry.ts'
import type { EntryOf } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { Clock } from '../runtime/clock.ts'
import { createRandom, randomFrom } from '../runtime/random.ts'
import type { SendPorts } from './attempt.ts'
import { type ByHand, createByHand } from './by-hand.ts'
import { createDue } from './due.ts'
import { encodePayload } from './encode.ts'
import type { HeaderPorts } from './headers.ts'
import { type CapturedJob, captureJob, type DeliveryStage, type Job, jobFrom, SENDING } from './job.ts'
import { createKeptBack } from './kept-back.ts'
import { createLanes } from './lanes.ts'
import { sound } from './parcel.ts'
import { faultEntries } from './struck.ts'
import { createTries } from './tries.ts'

export interface DispatcherPorts extends SendPorts, HeaderPorts {
  readonly journal: Journal
  readonly clock: Clock
  seed(): number
  readonly faults: Pick<Faults, 'onWebhooks' | 'takeWebhook' | 'releaseOf'>
  /** False when the webhook is a function: then there is no connection anything could be done to. */
  hasWire(): boolean
}

export interface Dispatcher extends Pick<ByHand, 'trigger' | 'resend'> {
  enqueue(event: EntryOf<'event'>): void
  /** Sends what these faults keep back. */
  free(faults: readonly string[]): void
  /** An event of the platform that is on its way, whatever it is waiting for; null when it is there, or was sent by hand. */
  find(deliveryId: string): Readonly<Job> | null
  /** When the next retry, delayed event or copy goes out: epoch milliseconds on the simulator's clock, or null. */
  nextDue(): number | null
  /** Drops what waits and cancels what is on its way; nothing of it is journaled any more. */
  reset(): void
  /** What is under way, as plain data. Events by hand are not part of it: somebody waits for their answer here. */
  capture(): CapturedDeliveries
  /** After a reset: numbering and chance as they were. What is due goes on by itself, timer by timer. */
  restore(captured: CapturedDeliveries): RestoredDeliveries
}

export interface CapturedDeliveries {
  readonly jobs: readonly CapturedJob[]
  /** Where the random order of `webhook.order` stands. */
  readonly random: number
  /** How many events by hand there were. */
  readonly triggered: number
}

export interface RestoredDeliveries {
  /** Each arms one timer; to be called in the order of the timers there were. */
  readonly timers: readonly { readonly order: number; arm(): void }[]
  /** Sends again what was on its way, and takes up the lanes. */
  start(): void
}

export function createDispatcher(ports: DispatcherPorts): Dispatcher {
  let cancel = new AbortController()
  let random = createRandom(ports.seed(), 'delivery order')
  const due = createDue(ports.clock)
  const byHand = createByHand({ ...ports, due, signal: () => cancel.signal })
  const keptBack = createKeptBack<Job>()
  const underWay = new Set<Job>()
  const inLanes = () => ports.knobs()['webhook.order'] !== 'none'
  const pick = (waiting: readonly Job[]) =>
    ports.knobs()['webhook.order'] === 'shuffle' ? random.below(waiting.length) : 0
  const lanes = createLanes<Job>(pick, job => {
    job.laned = true
    turn(job)
  })
  const tries = createTries({ ...ports, signal: () => cancel.signal, begin: job => underWay.add(job), later, over })

  function turn(job: Job): void {
    const order = job.faults?.order
    if (order?.kind === 'slow') later(job, order.ms, 'send')
    else tries.next(job)
  }

  function later(job: Job, delayMs: number, next: 'send' | 'turn'): void {
    const time = due.after(delayMs, () => (next === 'send' ? tries.next(job) : turn(job)))
    job.stage = { kind: 'due', next, ...time }
  }

  /** The lane goes on; whatever was kept back for this event goes before the rest of it. */
  function over(job: Job): void {
    underWay.delete(job)
    if (job.copy) return
    goFirst(keptBack.passedBy(job))
    if (job.laned) lanes.next(job.lane)
  }

  function goFirst(jobs: readonly Job[]): void {
    if (!inLanes()) for (const job of jobs) turn(job)
    else
      for (const lane of new Set(jobs.map(job => job.lane)))
        lanes.addFirst(lane, jobs.filter(job => job.lane === lane).map(queued))
  }

  function jobFor({ event, seq, chat_id, delivery_id, payload }: EntryOf<'event'>) {
    const body = encodePayload(payload, ports.knobs()['webhook.json'])
    const parcel = sound(ports, { chatId: chat_id, deliveryId: delivery_id, event, body })
    const faults = ports.faults.onWebhooks ? ports.faults.takeWebhook({ event, chatId: chat_id }) : null
    return { parcel, lane: chat_id, seq, faults, copy: false, attempt: 1, laned: false, stage: SENDING }
  }

  function start(job: Job): void {
    const order = job.faults?.order
    underWay.add(job)
    if (order?.kind === 'delay') later(job, order.ms, 'turn')
    else if (order?.kind === 'hold') keepBack(job, order.passing)
    else if (inLanes()) lanes.add(job.lane, queued(job))
    else turn(job)
  }

  function keepBack(job: Job, passing: number): void {
    job.stage = { kind: 'kept' }
    keptBack.keep(job, { faults: job.faults!.faults, passing, release: job.faults!.release })
  }

  /** Back on its way, as it was: what was being sent is sent once more, with the same number. */
  function takeUp(job: Job, { passing }: CapturedJob): void {
    if (job.laned) lanes.occupy(job.lane)
    if (job.stage.kind === 'kept') keepBack(job, passing)
    else if (job.stage.kind === 'waiting') lanes.add(job.lane, job)
    else if (job.stage.kind === 'sending') tries.again(job)
  }

  function takeUpAll(jobs: ReadonlyMap<Job, CapturedJob>): void {
    for (const [job, kept] of jobs) takeUp(job, kept)
  }

  function timersOf(jobs: Iterable<Job>): RestoredDeliveries['timers'] {
    return [...jobs].flatMap(job => {
      const { stage } = job
      if (stage.kind !== 'due') return []
      return [{ order: stage.order, arm: () => later(job, stage.atMs - ports.clock.now(), stage.next) }]
    })
  }

  return {
    trigger: byHand.trigger,
    resend: byHand.resend,
    enqueue(event) {
      const job = jobFor(event)
      if (job.faults !== null)
        for (const entry of faultEntries(event, job.faults, ports.hasWire())) ports.journal.append(entry, event.seq)
      start(job)
    },
    free: faults => goFirst(keptBack.free(faults)),
    find: deliveryId => [...underWay].find(({ copy, parcel }) => !copy && parcel.deliveryId === deliveryId) ?? null,
    nextDue: due.next,
    reset() {
      cancel.abort()
      cancel = new AbortController()
      random = createRandom(ports.seed(), 'delivery order')
      due.clear()
      keptBack.clear()
      lanes.clear()
      underWay.clear()
      byHand.reset()
    },
    capture() {
      const begun = [...underWay].filter(({ stage }) => stage.kind !== 'waiting')
      const jobs = [...begun.sort((a, b) => a.seq - b.seq), ...lanes.waiting()]
      return {
        jobs: jobs.map(job => captureJob(job, keptBack.passing(job))),
        random: random.state,
        triggered: byHand.count,
      }
    },
    restore(captured) {
      random = randomFrom(captured.random)
      byHand.reset(captured.triggered)
      const jobs = new Map(captured.jobs.map(one => [jobFrom(one, ports.faults, one => sound(ports, one)), one]))
      for (const job of jobs.keys()) underWay.add(job)
      return { timers: timersOf(jobs.keys()), start: () => takeUpAll(jobs) }
    },
  }
}

const queued = (job: Job): Job => Object.assign(job, { stage: { kind: 'waiting' } satisfies DeliveryStage })
