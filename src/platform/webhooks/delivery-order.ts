/** Decides when each event is sent: one after another per chat, delayed, or held until later events have passed. */

import { createRandom, type Random, randomFrom } from '../../base/runtime/random.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { Job, Schedule } from './job.ts'

export interface OrderPorts {
  readonly schedule: Schedule
  knobs(): Knobs
  seed(): number
  /** Sends the next attempt. `finish` is called after the last one. */
  send(job: Job): void
}

export interface DeliveryOrder {
  start(job: Job): void
  /** After so many milliseconds of the simulator's clock the job is sent, or takes its turn in its chat. */
  schedule(job: Job, delayMs: number, next: 'send' | 'turn'): void
  /** The next event of the chat is sent. Held events that are released by this one go first. */
  finish(job: Job): void
  /** Sends the events that these faults hold. */
  release(faults: readonly string[]): void
  /** The state of the random order. */
  randomState(): number
  /** Forgets all jobs. `random` is the state of a snapshot. */
  reset(random?: number): void
}

export function createDeliveryOrder(ports: OrderPorts): DeliveryOrder {
  const policy = () => ports.knobs()['webhook.order']
  let random: Random = createRandom(ports.seed(), 'delivery order')
  const held = createHeldEvents()
  const queues = createChatQueues(
    waiting => (policy() === 'shuffle' ? random.below(waiting) : 0),
    job => {
      job.atHead = true
      takeTurn(job)
    },
  )

  function takeTurn(job: Job): void {
    const order = job.faults?.order
    if (order?.kind === 'slow') schedule(job, order.ms, 'send')
    else ports.send(job)
  }

  function schedule(job: Job, delayMs: number, next: 'send' | 'turn'): void {
    const atMs = ports.schedule.after(delayMs, () => (next === 'send' ? ports.send(job) : takeTurn(job)))
    job.phase = { kind: 'scheduled', next, atMs }
  }

  function sendFirst(jobs: readonly Job[]): void {
    if (jobs.length === 0) return
    if (policy() === 'none') for (const job of jobs) takeTurn(job)
    else for (const chatId of new Set(jobs.map(job => job.chatId))) queues.addFirst(chatId, ofChat(jobs, chatId))
  }

  return {
    start(job) {
      const order = job.faults?.order
      if (order?.kind === 'delay') schedule(job, order.ms, 'turn')
      else if (order?.kind === 'hold') held.add(job, order.passing)
      else if (policy() === 'none') takeTurn(job)
      else queues.add(job)
    },
    schedule,
    finish(job) {
      sendFirst(held.passedBy(job))
      if (job.atHead) queues.next(job.chatId)
    },
    release: faults => sendFirst(held.release(faults)),
    randomState: () => random.state(),
    reset(state) {
      random = state === undefined ? createRandom(ports.seed(), 'delivery order') : randomFrom(state)
      held.clear()
      queues.clear()
    },
  }
}

const ofChat = (jobs: readonly Job[], chatId: string) => jobs.filter(job => job.chatId === chatId)

const WAITING = { kind: 'waiting' } as const

/** Queues events per chat. `pick` chooses which of so many runs next; `run` starts it, and `next` ends it. */
function createChatQueues(pick: (waiting: number) => number, run: (job: Job) => void) {
  const queues = new Map<string, ChatQueue>()

  /** The queue that was removed last. The next queue is the same object. */
  let unused: ChatQueue | null = null

  function begin(chatId: string): ChatQueue {
    const queue = unused ?? new ChatQueue()
    unused = null
    queues.set(chatId, queue)
    return queue
  }

  function end(chatId: string, queue: ChatQueue | undefined): void {
    queues.delete(chatId)
    unused = queue ?? null
  }

  return {
    add(job: Job): void {
      job.phase = WAITING
      const queue = queues.get(job.chatId)
      if (queue !== undefined) return queue.addLast(job)
      begin(job.chatId)
      run(job)
    },
    addFirst(chatId: string, jobs: readonly Job[]): void {
      for (const job of jobs) job.phase = WAITING
      const queue = queues.get(chatId)
      if (queue !== undefined) return queue.addFirst(jobs)
      const [first, ...rest] = jobs
      if (first === undefined) return
      begin(chatId).addFirst(rest)
      run(first)
    },
    next(chatId: string): void {
      const queue = queues.get(chatId)
      const job = queue?.length ? queue.take(pick(queue.length)) : undefined
      if (job === undefined) end(chatId, queue)
      else run(job)
    },
    clear: () => queues.clear(),
  }
}

/** The waiting jobs of one chat in order. The first one is taken without moving the others, which may be thousands. */
class ChatQueue {
  #jobs: (Job | undefined)[] = []
  #first = 0

  get length(): number {
    return this.#jobs.length - this.#first
  }

  addLast(job: Job): void {
    this.#jobs.push(job)
  }

  addFirst(jobs: readonly Job[]): void {
    this.#jobs.splice(0, this.#first, ...jobs)
    this.#first = 0
  }

  take(place: number): Job | undefined {
    const at = this.#first + place
    const job = this.#jobs[at]
    if (place > 0) this.#jobs.splice(at, 1)
    else this.#removeFirst()
    return job
  }

  #removeFirst(): void {
    this.#jobs[this.#first++] = undefined
    if (this.#first < this.length) return
    this.#jobs.splice(0, this.#first)
    this.#first = 0
  }
}

interface HeldEvent {
  readonly job: Job
  passing: number
}

const NONE: readonly Job[] = []

/** Holds events until later ones of their chat have passed, or until their fault is cleared. */
function createHeldEvents() {
  let held: HeldEvent[] = []

  function releaseIf(isReleased: (one: HeldEvent) => boolean): Job[] {
    const released = held.filter(isReleased)
    if (released.length === 0) return []
    held = held.filter(one => !released.includes(one))
    for (const { job } of released) job.faults?.release()
    return released.map(({ job }) => job)
  }

  return {
    add(job: Job, passing: number): void {
      job.phase = { kind: 'held' }
      held.push({ job, passing })
    },
    passedBy({ seq, chatId }: Job): readonly Job[] {
      if (held.length === 0) return NONE
      for (const one of held) if (one.job.chatId === chatId && one.job.seq < seq) one.passing--
      return releaseIf(({ passing }) => passing <= 0)
    },
    release: (names: readonly string[]) =>
      releaseIf(({ job }) => job.faults?.faults.some(name => names.includes(name)) ?? false),
    clear(): void {
      held = []
    },
  }
}
