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

export interface Clock {
  readonly mode: 'real' | 'virtual'
  /** Whether it moves only by `advance`: a virtual clock, and a real one that is paused. */
  isPaused(): boolean
  /** Epoch milliseconds. They never go back, also when the wall clock does, except with `rewind`. */
  now(): number
  /** The date for timestamps and business hours, in epoch milliseconds: the wall clock, or the time of a virtual clock. */
  wallMs(): number
  /** Runs once, `delayMs` from now on this clock. */
  after(delayMs: number, run: () => void): ClockTimer
  /** Due time of the nearest timer, or null. */
  nextDue(): number | null
  /** Moves a paused clock; `drain` finishes the work of one timer before the next one fires. */
  advance(byMs: number, drain: () => Promise<void>): Promise<void>
  /** Returns to the time of its start, or a real clock to that of the machine, which runs. */
  rewind(): void
}

/** The clock of the machine. After a pause it continues at the time at which it stood. */
export interface RealClock extends Clock {
  readonly mode: 'real'
  /** Stops, by default at its present time; timers wait. */
  pause(atMs?: number): void
  resume(): void
}

/** A clock that moves only by `advance`. `rewind` cancels all timers. */
export interface VirtualClock extends Clock {
  readonly mode: 'virtual'
  startMs(): number
  /** Moves to another start and moment, and cancels all timers. */
  set(startMs: number, nowMs: number): void
}

export const VIRTUAL_START_MS = Date.UTC(2024, 0, 1, 9)

/** The end of every clock: until then, microseconds since 1970 are exact numbers. */
export const LATEST_MS = Date.UTC(2255, 0, 1)

/** A time on a clock; it never lies after `LATEST_MS`. */
const timeAfter = (fromMs: number, delayMs: number): number => Math.min(fromMs + Math.max(0, delayMs), LATEST_MS)

/** The smallest number, or null without any. */
function earliest(times: Iterable<number>): number | null {
  let first: number | null = null
  for (const time of times) if (first === null || time < first) first = time
  return first
}

interface Due {
  at: number
  order: number
  readonly run: () => void
}

const soonest = (timers: ReadonlySet<Due>): Due | null => {
  let first: Due | null = null
  for (const due of timers) {
    if (first === null || due.at < first.at || (due.at === first.at && due.order < first.order)) first = due
  }
  return first
}

/** Receives what a timer or other work in the background threw: a bug of the simulator, which must not end the process. */
export type OnThrown = (error: unknown) => void

const rethrow: OnThrown = error => {
  throw error
}

function runGuarded(run: () => void, onThrown: OnThrown): void {
  try {
    run()
  } catch (error) {
    onThrown(error)
  }
}

/** Timers that throw call `onThrown`; later timers fire as usual. */
export function createVirtualClock(initialMs = VIRTUAL_START_MS, onThrown: OnThrown = rethrow): VirtualClock {
  const timers = new Set<Due>()
  let startMs = initialMs
  let now = startMs
  let order = 0
  let rewinds = 0
  let turn: Promise<void> = Promise.resolve()

  /** An `advance` from before a reset does not move the clock after it. */
  async function move(byMs: number, drain: () => Promise<void>, before: number): Promise<void> {
    await drain()
    const until = timeAfter(now, byMs)
    for (let due = soonest(timers); due !== null && due.at <= until && before === rewinds; due = soonest(timers)) {
      timers.delete(due)
      now = Math.max(now, due.at)
      runGuarded(due.run, onThrown)
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
    isPaused: () => true,
    now: () => now,
    wallMs: () => now,
    after(delayMs, run) {
      const due = { at: timeAfter(now, delayMs), order: order++, run }
      timers.add(due)
      return {
        move(laterMs) {
          due.at = timeAfter(now, laterMs)
          due.order = order++
          timers.add(due)
        },
        cancel: () => void timers.delete(due),
      }
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
    startMs: () => startMs,
    set(start, at) {
      startMs = start
      jump(at)
    },
  }
}

/** Node's longest timer; longer waits take several timers. */
const LONGEST_MS = 2_147_483_647

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
  const handle = onWall.setTimeout(run, Math.min(delayMs, LONGEST_MS))
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

interface Pending {
  order: number
  readonly run: () => void
  at: number
  timer: Timer
}

/** How a clock stands: its own timers fire while it is moved. */
interface Pause {
  readonly clock: VirtualClock
  /** What `wallMs` is ahead of `now`. */
  readonly wallAheadMs: number
}

/**
 * A timer keeps its process alive until it fires; closing or resetting the simulator cancels it. Timers that throw call
 * `onThrown`.
 */
export function createRealClock(onThrown: OnThrown = rethrow): RealClock {
  const pending = new Set<Pending>()
  const machineMs = createForwardTime()
  let aheadMs = 0
  let pause: Pause | null = null
  let orders = 0

  const now = () => (pause === null ? machineMs() + aheadMs : pause.clock.now())
  const wallMs = () => (pause === null ? Date.now() + aheadMs : pause.clock.now() + pause.wallAheadMs)

  function start(due: Pending): Timer {
    const fire = () => {
      pending.delete(due)
      runGuarded(due.run, onThrown)
    }
    return pause === null ? machineTimer(due, now, fire) : pause.clock.after(due.at - now(), fire)
  }
  /** Keeps a timer that fires too early, because it is started again then. */
  function move(due: Pending, delayMs: number): void {
    const at = timeAfter(now(), delayMs)
    const isKept = pause === null && pending.has(due) && at >= due.at
    due.order = orders++
    due.at = at
    pending.add(due)
    if (isKept) return
    due.timer.cancel()
    due.timer = start(due)
  }
  function after(delayMs: number, run: () => void): ClockTimer {
    const due: Pending = { order: orders++, run, at: timeAfter(now(), delayMs), timer: NEVER }
    pending.add(due)
    due.timer = start(due)
    return {
      move: laterMs => move(due, laterMs),
      cancel() {
        due.timer.cancel()
        pending.delete(due)
      },
    }
  }
  /** Changes what drives the timers, each of which keeps the time that is left. */
  function drive(change: () => void): void {
    const before = now()
    for (const { timer } of pending) timer.cancel()
    change()
    for (const due of [...pending].sort((a, b) => a.at - b.at || a.order - b.order)) {
      due.at += now() - before
      due.timer = start(due)
    }
  }
  /** Continues at a time, or at that of the machine. An `advance` that is not finished stops. */
  function endPause(from: number | null): void {
    drive(() => {
      pause?.clock.rewind()
      pause = null
      aheadMs = from === null ? 0 : from - machineMs()
    })
  }

  return {
    mode: 'real',
    isPaused: () => pause !== null,
    now,
    wallMs,
    after,
    nextDue: () => earliest([...pending].map(({ at }) => at)),
    pause(atMs) {
      if (pause !== null && atMs === undefined) return
      const wallAheadMs = wallMs() - now()
      drive(() => {
        pause?.clock.rewind()
        pause = { clock: createVirtualClock(atMs ?? now(), onThrown), wallAheadMs }
      })
    },
    resume() {
      if (pause !== null) endPause(now())
    },
    advance: async (byMs, drain) => pause?.clock.advance(byMs, drain),
    rewind: () => endPause(null),
  }
}

const NEVER: Timer = { cancel() {} }

/** A timer of Node for a time on a clock that runs. The time may move to a later one meanwhile. */
function machineTimer(due: Pick<Pending, 'at'>, now: () => number, fire: () => void): Timer {
  let handle: ReturnType<typeof setTimeout>
  let armedFor = due.at
  const arm = () => {
    armedFor = due.at
    const left = armedFor - now()
    handle = setTimeout(left > LONGEST_MS ? arm : ring, Math.min(Math.max(0, left), LONGEST_MS))
  }
  const ring = () => {
    const left = armedFor - now()
    return due.at !== armedFor || (left > 0 && left <= EARLY_MS) ? arm() : fire()
  }
  arm()
  return { cancel: () => clearTimeout(handle) }
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

/** Makes strictly increasing timestamps in microseconds, so that times show the order of messages. */
export interface Timestamps {
  /** Whole microseconds since 1970. */
  next(): number
  /** As `next`, in ISO 8601. */
  nextText(): string
  /** The latest timestamp; 0 before the first. */
  last(): number
  /** Continues after `last`; with 0, from the clock alone. */
  reset(last?: number): void
}

export function createTimestamps(nowMs: () => number): Timestamps {
  let last = 0
  /** The second of the last text, and its beginning: to format a date takes longer than all else that an entry needs. */
  let second = -1
  let beginning = ''
  function next(): number {
    last = Math.max(last + 1, nowMs() * 1000)
    return last
  }
  return {
    next,
    nextText() {
      const micros = next()
      if (Math.floor(micros / 1e6) !== second) {
        second = Math.floor(micros / 1e6)
        beginning = new Date(second * 1000).toISOString().slice(0, -4)
      }
      return `${beginning}${String(1e6 + (micros % 1e6)).slice(1)}Z`
    },
    last: () => last,
    reset(from = 0) {
      last = from
    },
  }
}

/** `2024-01-01T09:00:00.000001Z`. */
export function isoMicros(micros: number): string {
  const text = new Date(Math.floor(micros / 1000)).toISOString()
  return `${text.slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`
}

/** Timers of a clock that are cancelled together. */
export interface Schedule {
  /** Returns the time at which it runs, in epoch milliseconds. */
  after(delayMs: number, run: () => void): number
  /** Epoch milliseconds of the nearest timer, or null. */
  next(): number | null
  clear(): void
}

export function createSchedule(clock: Clock): Schedule {
  const waiting = new Set<{ readonly atMs: number; readonly timer: ClockTimer }>()
  return {
    after(delayMs, run) {
      const timer = clock.after(delayMs, () => {
        waiting.delete(scheduled)
        run()
      })
      const scheduled = { atMs: timeAfter(clock.now(), delayMs), timer }
      waiting.add(scheduled)
      return scheduled.atMs
    },
    next: () => earliest([...waiting].map(({ atMs }) => atMs)),
    clear() {
      for (const { timer } of waiting) timer.cancel()
      waiting.clear()
    },
  }
}
