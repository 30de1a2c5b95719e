/** Tracks work in flight, orders it per chat, and counts the resets of a simulator, which abort it. */

import { createAbort } from './node.ts'

export type Activity = ReturnType<typeof createActivity>

/** Counts work in flight, so that callers can wait until there is none. */
export function createActivity() {
  let running = 0
  let generation = 0
  let waiting: (() => void)[] = []

  function wakeIfIdle(): void {
    if (running > 0 || waiting.length === 0) return
    const ready = waiting
    waiting = []
    for (const resolve of ready) resolve()
  }

  return {
    /** Counts one piece of work. The returned function ends it. */
    begin(): () => void {
      const started = generation
      running++
      return () => {
        if (started !== generation) return
        running--
        wakeIfIdle()
      }
    },
    isBusy: () => running > 0,
    /** Resolves when nothing is in flight. */
    idle: (): Promise<void> => (running === 0 ? Promise.resolve() : new Promise(resolve => waiting.push(resolve))),
    /** Forgets all work that has started. */
    forget(): void {
      generation++
      running = 0
      wakeIfIdle()
    },
  }
}

/** Counts resets, so that work from before a reset can be recognized and aborted. */
export class Epoch {
  /** Grows with every reset. */
  count = 0
  #ending = createAbort()
  #delays = createAbort()

  /** Aborts when this epoch ends. */
  readonly signal = (): AbortSignal => this.#ending.signal

  /** Aborts with the epoch, and when the delays of answers are ended. */
  delaySignal(): AbortSignal {
    return this.#delays.signal
  }

  /** Ends the delays of answers that are waiting now. */
  endDelays(): void {
    this.#delays.abort()
    this.#delays = createAbort()
  }

  next(): void {
    this.count++
    this.#ending.abort()
    this.#ending = createAbort()
    this.endDelays()
  }
}

/** Limits how much work runs at a time. */
export function createSlots(count: number) {
  let free = count
  const waiting: (() => void)[] = []
  return {
    /** Resolves when the work may start; `release` ends it. */
    take: (): Promise<void> =>
      free > 0 ? Promise.resolve(void free--) : new Promise(resolve => void waiting.push(resolve)),
    release(): void {
      const next = waiting.shift()
      if (next === undefined) free++
      else next()
    },
  }
}

/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/** Calls `next` with the value, now or when its promise resolves. */
export const andThen = <T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> =>
  value instanceof Promise ? value.then(next) : next(value)

export type InOrder = <T>(chatId: string, run: () => Awaitable<T>) => Awaitable<T>

export type ChatQueues = ReturnType<typeof createChatQueues>

export function createChatQueues() {
  const last = new Map<string, Promise<unknown>>()
  return {
    /** Runs one piece of work per chat at a time; different chats do not wait for each other. */
    inOrder<T>(chatId: string, run: () => Awaitable<T>): Awaitable<T> {
      const before = last.get(chatId)
      const result = before === undefined ? run() : before.then(run, run)
      if (!(result instanceof Promise)) return result
      last.set(chatId, result)
      const leave = () => void (last.get(chatId) === result && last.delete(chatId))
      result.then(leave, leave)
      return result
    },
    /** Lets new work start without waiting for earlier work. */
    clear: (): void => last.clear(),
  }
}
