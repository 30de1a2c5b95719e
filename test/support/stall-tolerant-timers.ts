/**
 * Replaces timers and clocks by ones that stop while the process is blocked. A test that plays a scenario runs the
 * simulator, the intermediary and the agent in one process, and their limits are milliseconds. From
 * `useStallTolerantTimers()` to the end of the test, a pause of the machine counts as at most one step of 2 ms, so a slow
 * machine makes time slow instead of answers late. Other tests use the timers of Node.
 */
import { onTestFinished } from 'vitest'

/** The longest time that one step adds; small compared with every duration in a test. */
const STEP_MS = 2

const node = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setImmediate: globalThis.setImmediate,
  elapsed: performance.now.bind(performance),
  date: Date.now.bind(Date),
}

class PendingTimer {
  readonly at: number
  readonly run: () => void
  constructor(at: number, run: () => void) {
    this.at = at
    this.run = run
  }
  /** Part of the interface of Node timers; the end of the test cancels these timers. */
  ref = (): this => this
  unref = (): this => this
  hasRef = (): boolean => false
}

const timers = new Set<PendingTimer>()
let users = 0
/** Time at the last step, in ms. */
let passedMs = 0
/** The reading of Node's clock at the last step. */
let lastStepAt = 0
/** Difference between the date and `passedMs`. */
let epoch = 0
let ticking = false

let lastReading = 0

/** Returns strictly increasing readings, so that the order of calls is the order of times. */
function elapsed(): number {
  lastReading = Math.max(lastReading + 0.002, passedMs + Math.min(node.elapsed() - lastStepAt, STEP_MS))
  return lastReading
}

function earliestTimer(): PendingTimer | null {
  let first: PendingTimer | null = null
  for (const due of timers) if (first === null || due.at < first.at) first = due
  return first
}

/** Runs due timers one per macrotask, so that one timer's I/O starts before the next timer fires. */
async function fireDue(): Promise<void> {
  for (let due = earliestTimer(); due !== null && due.at <= passedMs; due = earliestTimer()) {
    timers.delete(due)
    queueMicrotask(due.run)
    await new Promise<void>(resolve => node.setImmediate(resolve))
  }
}

async function advanceWhileUsed(): Promise<void> {
  if (ticking) return
  ticking = true
  while (users > 0 || timers.size > 0) {
    await new Promise<void>(resolve => node.setTimeout(resolve, 1))
    passedMs = elapsed()
    lastStepAt = node.elapsed()
    await fireDue()
  }
  ticking = false
}

/** Uses stall-tolerant timers until the test ends. Child processes keep the timers of Node. */
export function useStallTolerantTimers(): void {
  if (users++ === 0) {
    passedMs = lastStepAt = node.elapsed()
    epoch = node.date() - passedMs
    void advanceWhileUsed()
  }
  onTestFinished(() => void users--)
}

/** Runs before any module of src stores a reference to a timer function. */
function replaceTimers(): void {
  const set = (run: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) => {
    if (users === 0) return node.setTimeout(run, delayMs, ...args)
    const due = new PendingTimer(elapsed() + Math.max(1, Number(delayMs) || 0), () => run(...args))
    timers.add(due)
    return due
  }
  const clear = (timer: unknown) =>
    void (timers.delete(timer as PendingTimer) || node.clearTimeout(timer as NodeJS.Timeout))
  Object.assign(globalThis, { setTimeout: Object.assign(set, node.setTimeout), clearTimeout: clear })
  performance.now = () => (users === 0 ? node.elapsed() : elapsed())
  Date.now = () => (users === 0 ? node.date() : Math.floor(epoch + elapsed()))
}

replaceTimers()
