/** What is to be sent later, on the simulator's clock: retries, delays, copies. A reset forgets it all. */
import type { Clock, ClockTimer } from '../runtime/clock.ts'

/** When, and before which others that are due at the same moment. */
export interface DueTime {
  /** Epoch milliseconds. */
  readonly atMs: number
  readonly order: number
}

export interface Due {
  after(delayMs: number, run: () => void): DueTime
  /** Epoch milliseconds of the nearest, or null. */
  next(): number | null
  clear(): void
}

export function createDue(clock: Clock): Due {
  const waiting = new Map<object, { readonly atMs: number; readonly timer: ClockTimer }>()
  return {
    after(delayMs, run) {
      const key = {}
      const timer = clock.after(delayMs, () => {
        waiting.delete(key)
        run()
      })
      const atMs = clock.now() + delayMs
      waiting.set(key, { atMs, timer })
      return { atMs, order: timer.order }
    },
    next: () => (waiting.size === 0 ? null : Math.min(...[...waiting.values()].map(({ atMs }) => atMs))),
    clear() {
      for (const { timer } of waiting.values()) timer.cancel()
      waiting.clear()
    },
  }
}
