/**
 * Time that stands still while the machine does. A test that plays a scenario has the simulator, the intermediary and the
 * agent in one process, and they race each other in milliseconds. From `steadyTime()` to the end of the test their clocks
 * and timers move only as fast as this process gets to work: a pause of three seconds is one small step for all of them,
 * and a slow machine makes time slow instead of answers late. Outside such tests time is that of Node.
 */
import { onTestFinished } from 'vitest'

/** Small beside any duration a test speaks of. */
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
  /** As the timers of Node; the end of the test ends the wait for these. */
  ref = (): this => this
  unref = (): this => this
  hasRef = (): boolean => false
}

const timers = new Set<PendingTimer>()
let users = 0
/** What has passed up to the last step, and when Node's clock said so. */
let passedMs = 0
let lastStepAt = 0
/** What the date is ahead of that. */
let epoch = 0
let ticking = false

let lastReading = 0

/** Never twice the same, so that what comes first is also earlier. */
function elapsed(): number {
  lastReading = Math.max(lastReading + 0.002, passedMs + Math.min(node.elapsed() - lastStepAt, STEP_MS))
  return lastReading
}

function earliestTimer(): PendingTimer | null {
  let first: PendingTimer | null = null
  for (const due of timers) if (first === null || due.at < first.at) first = due
  return first
}

/** One at a time: what a timer sends is on its way before the next one fires. */
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

/** From now to the end of the test; for what happens in this process, since another process has the time of Node. */
export function useStallTolerantTimers(): void {
  if (users++ === 0) {
    passedMs = lastStepAt = node.elapsed()
    epoch = node.date() - passedMs
    void advanceWhileUsed()
  }
  onTestFinished(() => void users--)
}

/** In place before any module of ours keeps the timers it finds; by themselves they are those of Node. */
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
