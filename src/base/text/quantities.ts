/** Parses and formats durations (`500ms`, `5s`, `10m`, `12h`), parses sizes (`64mb`), and counts nouns. */

/** A text such as `500ms`, `5s`, `10m`, `12h`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h'}`

const UNIT_MS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const
const UNITS = ['h', 'm', 's', 'ms'] as const

/** What `parseDuration` accepts, for JSON Schema. */
export const DURATION_PATTERN = '^\\s*\\d+(\\.\\d+)?(ms|s|m|h)\\s*$'

/** Whole milliseconds, or null when the text is not a duration with a unit or is finer than a millisecond. */
export function parseDuration(text: unknown): number | null {
  const match = typeof text === 'string' ? /^(\d+)(?:\.(\d+))?(ms|s|m|h)$/.exec(text.trim()) : null
  if (match === null) return null
  const [, whole, fraction = '', written] = match
  const size = UNIT_MS[UNITS.find(unit => unit === written) ?? 'ms']
  const ms = Number(whole) * size + (Number(fraction) * size) / 10 ** fraction.length
  return Number.isSafeInteger(ms) ? ms : null
}

/** The shortest exact way to write a number of milliseconds, which is rounded. */
export function formatDuration(duration: number): Duration {
  const ms = Math.round(duration)
  if (ms === 0) return '0s'
  const unit = UNITS.find(candidate => ms % UNIT_MS[candidate] === 0) ?? 'ms'
  return `${ms / UNIT_MS[unit]}${unit}`
}

const UNIT_BYTES: Readonly<Record<string, number>> = { kb: 1024, mb: 1_048_576, gb: 1_073_741_824 }

/** Bytes: a number, its digits, or a text such as `64mb`; null for anything else. */
export function parseBytes(size: unknown): number | null {
  if (typeof size !== 'string' && typeof size !== 'number') return null
  const match = /^(\d+)(kb|mb|gb)?$/.exec(String(size))
  if (match === null) return null
  const bytes = Number(match[1]) * (UNIT_BYTES[match[2] ?? ''] ?? 1)
  return Number.isSafeInteger(bytes) ? bytes : null
}

/** `1 step`, `2 steps` */
export const KB_EXPECTED = 'kilobytes from 0, such as 12, 12.5 or "12.5"'
const KB_TEXT = '^\\d{1,15}(\\.\\d{1,15})?$'
export const KB_SHAPE = {
  anyOf: [
    { type: 'number', minimum: 0 },
    { type: 'string', pattern: KB_TEXT },
  ],
}

/** The size of a file in whole kilobytes, rounded up; undefined for anything but a number or a text of digits, which both may have a fraction. */
export function parseKb(size: unknown): number | undefined {
  const value = typeof size === 'string' && new RegExp(KB_TEXT).test(size) ? Number(size) : size
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.ceil(value) : undefined
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
