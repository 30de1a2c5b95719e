/** The clock of the machine as the clock of a simulator: it can be paused, and continues at the time at which it stood. */
import {
  type ClockTimer,
  createVirtualClock,
  earliest,
  LONGEST_MS,
  type OnThrown,
  type RealClock,
  rethrow,
  runGuarded,
  type Timer,
  timeAfter,
  type VirtualClock,
} from './clock.ts'

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
      order: () => due.order,
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
    nextDue: () => earliest(dueTimes(pending)),
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

function* dueTimes(pending: Iterable<Pending>): Generator<number> {
  for (const { at } of pending) yield at
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
