/**
 * Reads and sets the time; no other file does. The clock of a simulator times the platform (typing, retries, waits,
 * timestamps) and may be virtual. The wall clock times network timeouts and durations.
 */

export interface Timer {
  cancel(): void
}

/** A timer of a simulator's clock. Of two timers for the same moment, the one with the lower order fires first. */
export interface ClockTimer extends Timer {
  readonly order: number
}

export interface Clock {
  readonly mode: 'real' | 'virtual'
  /** Epoch milliseconds. */
  now(): number
  /** Runs once, `delayMs` from now on this clock. */
  after(delayMs: number, run: () => void): ClockTimer
  /** Due time of the nearest timer, or null. */
  nextDue(): number | null
}

export interface RealClock extends Clock {
  readonly mode: 'real'
}

/** A clock that moves only by `advance`; `drain` finishes the work of one timer before the next one fires. */
export interface VirtualClock extends Clock {
  readonly mode: 'virtual'
  advance(byMs: number, drain: () => Promise<void>): Promise<void>
  /** Returns to the start and cancels all timers. */
  rewind(): void
  readonly startMs: number
  /** Moves to another start and moment, and cancels all timers. */
  set(startMs: number, nowMs: number): void
}

export const VIRTUAL_START_MS = Date.UTC(2024, 0, 1, 9)

interface Due {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

const soonest = (timers: ReadonlySet<Due>): Due | null => {
  let first: Due | null = null
  for (const due of timers) {
    if (first === null || due.at < first.at || (due.at === first.at && due.order < first.order)) first = due
  }
  return first
}

export function createVirtualClock(initialMs = VIRTUAL_START_MS): VirtualClock {
  const timers = new Set<Due>()
  let startMs = initialMs
  let now = startMs
  let order = 0
  let rewinds = 0
  let turn: Promise<void> = Promise.resolve()

  /** An `advance` from before a reset does not move the clock after it. */
  async function move(byMs: number, drain: () => Promise<void>, before: number): Promise<void> {
    await drain()
    const until = now + byMs
    for (let due = soonest(timers); due !== null && due.at <= until && before === rewinds; due = soonest(timers)) {
      timers.delete(due)
      now = Math.max(now, due.at)
      due.run()
      await drain()
    }
    if (before === rewinds) now = Math.max(now, until)
  }

  function jump(to: number): void {
    rewinds++
    timers.clear()
    now = to
  }

  return {
    mode: 'virtual',
    now: () => now,
    after(delayMs, run) {
      const due = { at: now + Math.max(0, delayMs), order: order++, run }
      timers.add(due)
      return { order: due.order, cancel: () => void timers.delete(due) }
    },
    nextDue: () => soonest(timers)?.at ?? null,
    /** Advances at the same time run one after the other, so that their sum passes. */
    advance(byMs, drain) {
      const before = rewinds
      const moved = turn.then(() => move(byMs, drain, before))
      turn = moved.catch(() => {})
      return moved
    },
    rewind: () => jump(startMs),
    get startMs() {
      return startMs
    },
    set(start, at) {
      startMs = start
      jump(at)
    },
  }
}

/** Node's longest timer; longer waits take several timers. */
const LONGEST_MS = 2_147_483_647

/** A timer that is earlier than this means that the wall clock was set back. */
const EARLY_MS = 2

/** A timer keeps its process alive until it fires; closing or resetting the simulator cancels it. */
export function createRealClock(): RealClock {
  const pending = new Map<object, number>()
  let order = 0
  return {
    mode: 'real',
    now: () => Date.now(),
    after(delayMs, run) {
      const key = {}
      const at = Date.now() + Math.max(0, delayMs)
      pending.set(key, at)
      let handle: ReturnType<typeof setTimeout>
      const arm = () => {
        const left = at - Date.now()
        handle = setTimeout(left > LONGEST_MS ? arm : ring, Math.min(Math.max(0, left), LONGEST_MS))
      }
      // Node's timers use another clock, which may be slightly ahead of this one.
      const ring = () => {
        const left = at - Date.now()
        return left > 0 && left <= EARLY_MS ? arm() : fire()
      }
      const fire = () => {
        pending.delete(key)
        run()
      }
      arm()
      return {
        order: order++,
        cancel() {
          clearTimeout(handle)
          pending.delete(key)
        },
      }
    },
    nextDue: () => (pending.size === 0 ? null : Math.min(...pending.values())),
  }
}

/** Taken before a test can replace them, because fake timers are meant for the code under test. */
const onWall = {
  setTimeout: setTimeout.bind(globalThis),
  clearTimeout: clearTimeout.bind(globalThis),
  now: performance.now.bind(performance),
}

/** Milliseconds since some fixed moment, with fractions: for durations only. */
export const elapsedMs = (): number => onWall.now()

/** A timer on the wall, for network timeouts and latencies. */
export function wallTimer(delayMs: number, run: () => void): Timer {
  const handle = onWall.setTimeout(run, Math.min(delayMs, LONGEST_MS))
  return { cancel: () => onWall.clearTimeout(handle) }
}

/** A timer on the wall that does not keep its process alive. */
export function backgroundTimer(delayMs: number, run: () => void): Timer {
  const handle = onWall.setTimeout(run, delayMs)
  handle.unref?.()
  return { cancel: () => onWall.clearTimeout(handle) }
}

/** Resolves after `delayMs` on the wall, or at once when aborted. */
export function wallDelay(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const done = () => {
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = wallTimer(delayMs, done)
    signal?.addEventListener('abort', done)
  })
}

/** The current time of day in ISO 8601. */
export const wallTime = (): string => new Date().toISOString()

/** Makes strictly increasing timestamps in microseconds, so that times show the order of messages. */
export interface Timestamps {
  /** Whole microseconds since 1970. */
  next(): number
  /** The latest timestamp; 0 before the first. */
  readonly last: number
  /** Continues after `last`; with 0, from the clock alone. */
  reset(last?: number): void
}

export function createTimestamps(nowMs: () => number): Timestamps {
  let last = 0
  return {
    next() {
      last = Math.max(last + 1, nowMs() * 1000)
      return last
    },
    get last() {
      return last
    },
    reset(from = 0) {
      last = from
    },
  }
}

/** `000` to `999`: three digits at a time are cheaper than padding six. */
const THREE = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'))

let cachedSecond = -1
let cachedText = ''

/** `2024-01-01T09:00:00.000001Z`. Reuses the part up to the second from the last call. */
export function isoMicros(micros: number): string {
  const second = Math.floor(micros / 1_000_000)
  if (second !== cachedSecond) {
    cachedSecond = second
    cachedText = new Date(second * 1000).toISOString().slice(0, 20)
  }
  const rest = micros - second * 1_000_000
  return `${cachedText}${THREE[Math.floor(rest / 1000)]}${THREE[rest % 1000]}Z`
}

const PIECES = 10

/** Splits bytes into pieces and spreads them over a time on the wall. Yields the last piece at the end of the time. Yields nothing more when aborted. */
export async function* paced(bytes: Uint8Array, overMs: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const pieces = Math.max(1, Math.min(PIECES, bytes.length))
  for (let index = 0; index < pieces; index++) {
    await wallDelay(overMs / pieces, signal)
    if (signal.aborted) return
    yield bytes.subarray(pieceStart(index), pieceStart(index + 1))
  }
  function pieceStart(index: number): number {
    return Math.floor((bytes.length * index) / pieces)
  }
}
