/** Assumption 28: by knob, so many calls per key and window on the simulator's clock, then 429 with Retry-After. */
import type { Rate } from '../contract/knob-kinds.ts'
import { Refusal } from '../platform/refusal.ts'

export interface RateLimit {
  /** Throws when the call is one too many; `retryAfter` is in whole seconds. */
  take(key: string, rate: Rate | null, nowMs: number): void
}

export class RateLimited extends Refusal {
  readonly retryAfter: number
  constructor(rate: Rate, waitMs: number) {
    super('rate_limited', `More than ${rate.calls} calls in ${rate.windowMs} ms.`)
    this.retryAfter = Math.max(1, Math.ceil(waitMs / 1000))
  }
}

/** A reset, seen as a new epoch, forgets the calls made before it. */
export function createRateLimit(epoch: () => number): RateLimit {
  let windows = new Map<string, { start: number; calls: number }>()
  let counting = epoch()
  return {
    take(key, rate, nowMs) {
      if (rate === null) return
      if (counting !== epoch()) windows = new Map()
      counting = epoch()
      const known = windows.get(key)
      const fresh = known === undefined || nowMs >= known.start + rate.windowMs
      const window = fresh ? { start: nowMs, calls: 0 } : known
      windows.set(key, window)
      if (++window.calls > rate.calls) throw new RateLimited(rate, window.start + rate.windowMs - nowMs)
    },
  }
}
