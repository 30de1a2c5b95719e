/** Makes strictly increasing timestamps in microseconds, and writes them as ISO 8601. */

/** Makes strictly increasing timestamps in microseconds, so that times show the order of messages. */
export interface Timestamps {
  /** Whole microseconds since 1970. */
  next(): number
  /** The latest timestamp; 0 before the first. */
  readonly last: number
  /** Continues after `last`; with 0, from the clock alone. */
  reset(last?: number): void
}

export function createTimestamps(nowMs: () => number): Timestamps {
  let last = 0
  return {
    next() {
      last = Math.max(last + 1, nowMs() * 1000)
      return last
    },
    get last() {
      return last
    },
    reset(from = 0) {
      last = from
    },
  }
}

/** `000` to `999`: three digits at a time are cheaper than padding six. */
const THREE = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'))

let cachedSecond = -1
let cachedText = ''

/** `2024-01-01T09:00:00.000001Z`. Reuses the part up to the second from the last call. */
export function isoMicros(micros: number): string {
  const second = Math.floor(micros / 1_000_000)
  if (second !== cachedSecond) {
    cachedSecond = second
    cachedText = new Date(second * 1000).toISOString().slice(0, 20)
  }
  const rest = micros - second * 1_000_000
  return `${cachedText}${THREE[Math.floor(rest / 1000)]}${THREE[rest % 1000]}Z`
}
