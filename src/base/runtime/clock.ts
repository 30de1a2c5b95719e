/**
 * Reads and sets the time; no other file does. The clock of a simulator times the platform (typing, retries, waits,
 * timestamps) and may be virtual, or the clock of the machine. The wall clock times network timeouts and durations.
 */

export interface Timer {
  cancel(): void
}

/** A timer of a simulator's clock. Of two timers for the same moment, the one with the lower order fires first. */
export interface ClockTimer extends Timer {
  /** As `cancel` and a new timer: fires `delayMs` from now, with a new order. */
  move(delayMs: number): void
}

export const VIRTUAL_START_MS = Date.UTC(2024, 0, 1, 9)

/** The end of every clock: until then, microseconds since 1970 are exact numbers. */
export const LATEST_MS = Date.UTC(2255, 0, 1)

/** A time on a clock; it never lies after `LATEST_MS`. */
const timeAfter = (fromMs: number, delayMs: number): number => Math.min(fromMs + Math.max(0, delayMs), LATEST_MS)

/** Receives what a timer or other work in the background threw: a bug of the simulator, which must not end the process. */
export type OnThrown = (error: unknown) => void

/** Node's longest timer; longer waits take several timers. */
const MAX_TIMER_MS = 2_147_483_647

/** Taken before a test can replace them, because fake timers are meant for the code under test. */
const onWall = {
  setTimeout: setTimeout.bind(globalThis),
  clearTimeout: clearTimeout.bind(globalThis),
  now: performance.now.bind(performance),
  /** Browsers have no `setImmediate`. */
  setImmediate: globalThis.setImmediate?.bind(globalThis) ?? ((run: () => void) => setTimeout(run, 0)),
}

/** Milliseconds since some fixed moment, with fractions: for durations only. */
export const elapsedMs = (): number => onWall.now()

/** A duration as the journal and the control API have it, with microseconds. */
export const roundMs = (ms: number): number => Math.round(ms * 1000) / 1000

/** A timer on the wall, for network timeouts and latencies. */
export function wallTimer(delayMs: number, run: () => void): Timer {
  const handle = onWall.setTimeout(run, Math.min(delayMs, MAX_TIMER_MS))
  return { cancel: () => onWall.clearTimeout(handle) }
}

/** Runs a function after the current call. Test runners that replace timers also replace `queueMicrotask`, but not promises. */
export const afterThisCall = (run: () => void): void => void RESOLVED.then(run)

const RESOLVED = Promise.resolve()

/** Runs a function after the events that wait for the process. */
export const afterWaitingEvents = (run: () => void): void => void onWall.setImmediate(run)

/** Resolves after the events that wait for the process. Long work awaits it between its pieces, so that others continue. */
export const nextMacrotask = (): Promise<void> => new Promise(afterWaitingEvents)

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

/** Node's timers use another clock, which may be ahead of a clock by less than this. */
const EARLY_MS = 2

interface Due {
  at: number
  order: number
  readonly run: () => void
}

const byTime = (a: Due, b: Due): number => a.at - b.at || a.order - b.order

/**
 * The clock of a simulator, which runs with the machine or stands. A virtual clock always stands, and `rewind` cancels its
 * timers. A real one continues after a pause at the time at which it stood. A timer keeps its process alive until it fires;
 * closing or resetting the simulator cancels it. Timers that throw call `onThrown`; later timers fire as usual.
 */
export class Clock {
  readonly mode: 'real' | 'virtual'
  /** Where `rewind` returns to; of a virtual clock. */
  startMs: number
  readonly #onThrown: OnThrown
  readonly #timers = new Set<Due>()
  readonly #machineMs = createForwardTime()
  /** Where the clock stands; null while it runs. */
  #standsAt: number | null
  /** How far a clock that runs is ahead of the machine. */
  #aheadMs = 0
  /** How far `wallMs` is ahead of `now` while the clock stands. */
  #wallAheadMs = 0
  #orders = 0
  /** Counts the changes of the time that end an `advance`. */
  #jumps = 0
  #turn: Promise<void> = Promise.resolve()
  #handle: ReturnType<typeof setTimeout> | undefined
  /** When the timer of Node fires. */
  #armedFor = Number.POSITIVE_INFINITY

  constructor(mode: 'real' | 'virtual', startMs: number, onThrown: OnThrown) {
    this.mode = mode
    this.startMs = startMs
    this.#standsAt = mode === 'virtual' ? startMs : null
    this.#onThrown = onThrown
  }

  /** Epoch milliseconds. They never go back, also when the wall clock does, except with `rewind`. */
  readonly now = (): number => this.#standsAt ?? this.#machineMs() + this.#aheadMs

  /** The date for timestamps and business hours, in epoch milliseconds: the wall clock, or the time of a virtual clock. */
  readonly wallMs = (): number =>
    this.#standsAt === null ? Date.now() + this.#aheadMs : this.#standsAt + this.#wallAheadMs

  /** Whether it moves only by `advance`: a virtual clock, and a real one that is paused. */
  isPaused(): boolean {
    return this.#standsAt !== null
  }

  /** Runs once, `delayMs` from now on this clock. */
  after(delayMs: number, run: () => void): ClockTimer {
    const due: Due = { at: 0, order: 0, run }
    const move = (laterMs: number) => {
      due.at = timeAfter(this.now(), laterMs)
      due.order = this.#orders++
      this.#timers.add(due)
      // A timer that moved to a later time is found when the timer of Node fires.
      if (due.at < this.#armedFor) this.#arm(due.at)
    }
    move(delayMs)
    return {
      move,
      cancel: () => {
        this.#timers.delete(due)
        if (this.#timers.size === 0) this.#disarm()
      },
    }
  }

  /** Due time of the nearest timer, or null. */
  nextDue(): number | null {
    return this.#nearest()?.at ?? null
  }

  /** Moves a paused clock; `drain` finishes the work of one timer before the next one fires. Calls run one after the other. */
  advance(byMs: number, drain: () => Promise<void>): Promise<void> {
    const before = this.#jumps
    const moved = this.#turn.then(async () => {
      if (!this.isPaused()) return
      await drain()
      const until = timeAfter(this.now(), byMs)
      while (before === this.#jumps) {
        const due = this.#nearest()
        const isLast = due === null || due.at > until
        this.#standsAt = Math.max(this.now(), isLast ? until : due.at)
        if (isLast) return
        this.#fire(due)
        await drain()
      }
    })
    this.#turn = moved.catch(() => {})
    return moved
  }

  /** Stops a real clock, by default at its present time; timers wait. */
  pause(atMs?: number): void {
    if (this.isPaused() && atMs === undefined) return
    this.#wallAheadMs = this.wallMs() - this.now()
    this.#jump(atMs ?? this.now(), true)
  }

  /** Lets a paused real clock run from the time at which it stands. */
  resume(): void {
    if (this.#standsAt !== null) this.#jump(this.#standsAt, false)
  }

  /** Returns a virtual clock to its start, and a real one to the time of the machine, which runs. */
  rewind(): void {
    if (this.mode === 'virtual') this.set(this.startMs, this.startMs)
    else {
      this.#jump(this.#machineMs(), false)
      this.#aheadMs = 0
    }
  }

  /** Moves a virtual clock to another start and moment, and cancels all timers. */
  set(startMs: number, nowMs: number): void {
    this.startMs = startMs
    this.#timers.clear()
    this.#jump(nowMs, true)
  }

  /** Changes the time: an `advance` that is not finished stops, and each timer keeps the time that is left. */
  #jump(to: number, stands: boolean): void {
    this.#jumps++
    const byMs = to - this.now()
    for (const due of this.#timers) due.at += byMs
    this.#standsAt = stands ? to : null
    if (!stands) this.#aheadMs = to - this.#machineMs()
    this.#disarm()
    this.#armNearest()
  }

  #nearest(): Due | null {
    let first: Due | null = null
    for (const due of this.#timers) if (first === null || byTime(due, first) < 0) first = due
    return first
  }

  #fire(due: Due): void {
    this.#timers.delete(due)
    try {
      due.run()
    } catch (error) {
      this.#onThrown(error)
    }
  }

  #disarm(): void {
    clearTimeout(this.#handle)
    this.#armedFor = Number.POSITIVE_INFINITY
  }

  #armNearest(): void {
    const nearest = this.#nearest()
    if (nearest !== null) this.#arm(nearest.at)
  }

  /** Sets the timer of Node for a time on a clock that runs. */
  #arm(at: number): void {
    if (this.#standsAt !== null) return
    clearTimeout(this.#handle)
    const now = this.now()
    this.#armedFor = Math.min(at, now + MAX_TIMER_MS)
    this.#handle = setTimeout(() => this.#ring(), Math.max(0, this.#armedFor - now))
  }

  /** Fires what is due. Other timers may have moved since the timer of Node was set. */
  #ring(): void {
    const armedFor = this.#armedFor
    const left = armedFor - this.now()
    if (left > 0 && left <= EARLY_MS) return this.#arm(armedFor)
    this.#armedFor = Number.POSITIVE_INFINITY
    const until = Math.max(armedFor, this.now())
    const jumps = this.#jumps
    const ready = [...this.#timers].filter(({ at }) => at <= until).sort(byTime)
    try {
      for (const due of ready) if (jumps === this.#jumps && due.at <= until && this.#timers.has(due)) this.#fire(due)
    } finally {
      this.#armNearest()
    }
  }
}

export const createVirtualClock = (startMs = VIRTUAL_START_MS, onThrown: OnThrown = rethrow): Clock =>
  new Clock('virtual', startMs, onThrown)

export const createRealClock = (onThrown: OnThrown = rethrow): Clock => new Clock('real', 0, onThrown)

function rethrow(error: unknown): never {
  throw error
}

/**
 * Reads the wall clock so that time never goes back: a wall clock that is set back, by hand or by a time server, would
 * otherwise stop all timers for as long. The time that passes meanwhile is that of the monotonic clock.
 */
function createForwardTime(): () => number {
  let wall = Date.now()
  let monotonic = performance.now()
  let now = wall
  return () => {
    const [wallBefore, monotonicBefore] = [wall, monotonic]
    wall = Date.now()
    monotonic = performance.now()
    now += wall >= wallBefore ? wall - wallBefore : Math.max(0, Math.round(monotonic - monotonicBefore))
    return now
  }
}

export type Timestamps = ReturnType<typeof createTimestamps>

/** Makes strictly increasing timestamps in microseconds, so that times show the order of messages. */
export function createTimestamps(nowMs: () => number) {
  let last = 0
  /** The second of the last text, and its beginning: to format a date takes longer than all else that an entry needs. */
  let second = -1
  let beginning = ''
  /** Whole microseconds since 1970. */
  function next(): number {
    last = Math.max(last + 1, nowMs() * 1000)
    return last
  }
  return {
    next,
    /** As `next`, in ISO 8601. */
    nextText(): string {
      const micros = next()
      if (Math.floor(micros / 1e6) !== second) {
        second = Math.floor(micros / 1e6)
        beginning = new Date(second * 1000).toISOString().slice(0, -4)
      }
      return `${beginning}${String(1e6 + (micros % 1e6)).slice(1)}Z`
    },
    /** The latest timestamp; 0 before the first. */
    last: () => last,
    /** Continues after `from`; with 0, from the clock alone. */
    reset(from = 0): void {
      last = from
    },
  }
}

/** `2024-01-01T09:00:00.000001Z`. */
export function isoMicros(micros: number): string {
  const text = new Date(Math.floor(micros / 1000)).toISOString()
  return `${text.slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`
}

export type Schedule = ReturnType<typeof createSchedule>

/** Timers of a clock that are cancelled together. */
export function createSchedule(clock: Clock) {
  const waiting = new Set<{ readonly atMs: number; readonly timer: ClockTimer }>()
  return {
    /** Returns the time at which it runs, in epoch milliseconds. */
    after(delayMs: number, run: () => void): number {
      const timer = clock.after(delayMs, () => {
        waiting.delete(scheduled)
        run()
      })
      const scheduled = { atMs: timeAfter(clock.now(), delayMs), timer }
      waiting.add(scheduled)
      return scheduled.atMs
    },
    /** Epoch milliseconds of the nearest timer, or null. */
    next(): number | null {
      let first: number | null = null
      for (const { atMs } of waiting) if (first === null || atMs < first) first = atMs
      return first
    },
    clear(): void {
      for (const { timer } of waiting) timer.cancel()
      waiting.clear()
    },
  }
}
