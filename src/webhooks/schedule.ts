/** Schedules retries, delayed events and copies on the simulator's clock, until a reset cancels them. */
import type { Clock, ClockTimer } from '../runtime/clock.ts'

export interface ScheduledTime {
  /** Epoch milliseconds. */
  readonly atMs: number
  /** Orders timers of the same moment. */
  readonly order: number
}

export interface Schedule {
  after(delayMs: number, run: () => void): ScheduledTime
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
      const scheduled = { atMs: clock.now() + delayMs, timer }
      waiting.add(scheduled)
      return { atMs: scheduled.atMs, order: timer.order }
    },
    next: () => (waiting.size === 0 ? null : Math.min(...[...waiting].map(({ atMs }) => atMs))),
    clear() {
      for (const { timer } of waiting) timer.cancel()
      waiting.clear()
    },
  }
}
