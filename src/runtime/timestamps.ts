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

/** `00` to `59`. */
const TWO = THREE.slice(0, 60).map(digits => digits.slice(1))

const DAY_SECONDS = 86_400

let cachedDay = -1
let cachedDate = ''

/** `2024-01-01T`. Reuses the text of the last call, because a date takes longer to write than the time. */
function dateText(day: number): string {
  if (day !== cachedDay) {
    cachedDay = day
    cachedDate = new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 11)
  }
  return cachedDate
}

function timeText(second: number): string {
  const minute = Math.floor(second / 60)
  return `${TWO[Math.floor(minute / 60)]}:${TWO[minute % 60]}:${TWO[second % 60]}`
}

/** `2024-01-01T09:00:00.000001Z`. */
export function isoMicros(micros: number): string {
  const second = Math.floor(micros / 1_000_000)
  const day = Math.floor(second / DAY_SECONDS)
  const rest = micros - second * 1_000_000
  const fraction = `${THREE[Math.floor(rest / 1000)]}${THREE[rest % 1000]}`
  return `${dateText(day)}${timeText(second - day * DAY_SECONDS)}.${fraction}Z`
}
