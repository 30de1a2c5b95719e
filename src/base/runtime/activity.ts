/** Tracks work in flight, and the resets of a simulator, which abort it. */

import { afterThisCall } from './clock.ts'
import { createAbort } from './node.ts'

/** Counts work in flight, so that callers can wait until there is none. */
export interface Activity {
  /** Counts one piece of work. The returned function ends it. */
  begin(): () => void
  /** As `begin`, without a function for each: `end` takes the returned number. */
  start(): number
  end(started: number): void
  isBusy(): boolean
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>
  /** Forgets all work that has started. */
  forget(): void
}

export function createActivity(): Activity {
  let running = 0
  let generation = 0
  let waiting: (() => void)[] = []

  function wakeIfIdle(): void {
    if (running > 0 || waiting.length === 0) return
    const ready = waiting
    waiting = []
    for (const resolve of ready) resolve()
  }

  function start(): number {
    running++
    return generation
  }
  function end(started: number): void {
    if (started !== generation) return
    running--
    wakeIfIdle()
  }

  return {
    begin() {
      const started = start()
      return () => end(started)
    },
    start,
    end,
    isBusy: () => running > 0,
    idle: () => (running === 0 ? Promise.resolve() : new Promise(resolve => waiting.push(resolve))),
    forget() {
      generation++
      running = 0
      wakeIfIdle()
    },
  }
}

/** Counts resets, so that work from before a reset can be recognized and aborted. */
export interface Epoch {
  /** Grows with every reset. */
  current(): number
  /** Aborts when this epoch ends. */
  signal(): AbortSignal
  /** Aborts with the epoch, and when the delays of answers are ended. */
  delaySignal(): AbortSignal
  /** Ends the delays of answers that are waiting now. */
  endDelays(): void
  next(): void
}

export function createEpoch(): Epoch {
  let count = 0
  let ending = createAbort()
  let delays = createAbort()
  function endDelays(): void {
    delays.abort()
    delays = createAbort()
  }
  return {
    current: () => count,
    signal: () => ending.signal,
    delaySignal: () => delays.signal,
    endDelays,
    next() {
      count++
      ending.abort()
      ending = createAbort()
      endDelays()
    },
  }
}

/** Limits how much work runs at a time. */
export interface Slots {
  /** Starts the work now, or in order when earlier work calls `release`. */
  take(start: () => void): void
  release(): void
}

export function createSlots(count: number): Slots {
  let free = count
  let waiting: (() => void)[] = []
  let next = 0

  function takeNext(): (() => void) | undefined {
    const start = waiting[next++]
    if (start !== undefined) return start
    waiting = []
    next = 0
    return undefined
  }

  return {
    take(start) {
      if (free === 0) return void waiting.push(start)
      free--
      start()
    },
    /** A microtask keeps the stack short when many waiting ones end at once. */
    release() {
      const start = takeNext()
      if (start === undefined) free++
      else afterThisCall(start)
    },
  }
}
