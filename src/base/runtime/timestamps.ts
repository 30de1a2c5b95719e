/** Makes strictly increasing timestamps in microseconds, and writes them as ISO 8601. */

/** Makes strictly increasing timestamps in microseconds, so that times show the order of messages. */
export interface Timestamps {
  /** Whole microseconds since 1970. */
  next(): number
  /** The latest timestamp; 0 before the first. */
  last(): number
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
    last: () => last,
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

/** The latest second that was written, because most times follow one in the same second. */
let latestSecond = -1
let latestText = ''

/** `2024-01-01T09:00:00.` */
function secondText(second: number): string {
  if (second !== latestSecond) {
    const minute = Math.floor(second / 60)
    const time = `${TWO[Math.floor(minute / 60) % 24]}:${TWO[minute % 60]}:${TWO[second % 60]}`
    latestText = `${dateText(Math.floor(second / DAY_SECONDS))}T${time}.`
    latestSecond = second
  }
  return latestText
}

let latestDay = -1
let latestDate = ''

/** `2024-01-01`. Kept, because a date takes longer to write than a time. */
function dateText(day: number): string {
  if (day !== latestDay) {
    latestDate = new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10)
    latestDay = day
  }
  return latestDate
}

/** `2024-01-01T09:00:00.000001Z`. Made of two texts, because V8 keeps the parts of a text that is put together. */
export function isoMicros(micros: number): string {
  const second = Math.floor(micros / 1_000_000)
  const rest = micros - second * 1_000_000
  const fraction = `${THREE[Math.floor(rest / 1000)]}${THREE[rest % 1000]}Z`
  return `${secondText(second)}${fraction}`
}
