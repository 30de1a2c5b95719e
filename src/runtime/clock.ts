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
