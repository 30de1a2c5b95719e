/** Counts calls per key and window on the simulator's clock; past `limits.rate` it refuses with 429 and Retry-After. */
import type { Rate } from '../contract/knob-types.ts'
import { Refusal } from '../platform/refusal.ts'

export interface RateLimit {
  /** Counts one call; throws `RateLimited` when the limit is exceeded. */
  take(key: string, rate: Rate | null, nowMs: number): void
  readonly windows: ReadonlyMap<string, Window>
  /** Replaces all counted calls by `windows`. */
  reset(windows?: Iterable<readonly [key: string, window: Window]>): void
}

interface Window {
  readonly start: number
  calls: number
}

export class RateLimited extends Refusal {
  readonly retryAfter: number
  constructor(rate: Rate, waitMs: number) {
    super('rate_limited', `More than ${rate.calls} calls in ${rate.windowMs} ms.`)
    this.retryAfter = Math.max(1, Math.ceil(waitMs / 1000))
  }
}

export function createRateLimit(): RateLimit {
  let windows = new Map<string, Window>()
  return {
    take(key, rate, nowMs) {
      if (rate === null) return
      const current = windows.get(key)
      const fresh = current === undefined || nowMs >= current.start + rate.windowMs
      const window = fresh ? { start: nowMs, calls: 0 } : current
      windows.set(key, window)
      if (++window.calls > rate.calls) throw new RateLimited(rate, window.start + rate.windowMs - nowMs)
    },
    get windows() {
      return windows
    },
    reset(windowsKept = []) {
      windows = new Map(windowsKept)
    },
  }
}
