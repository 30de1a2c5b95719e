/** Parses and formats durations (`500ms`, `5s`, `10m`, `12h`), parses sizes (`64mb`), and counts nouns. */

/** A text such as `500ms`, `5s`, `10m`, `12h`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h'}`

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** What `parseDuration` accepts, for JSON Schema. */
export const DURATION_PATTERN = '^\\s*\\d+(\\.\\d+)?(ms|s|m|h)\\s*$'

/** Whole milliseconds, or null when the text is not a duration with a unit or is finer than a millisecond. */
export function parseDuration(text: unknown): number | null {
  const match = typeof text === 'string' ? /^(\d+)(?:\.(\d+))?(ms|s|m|h)$/.exec(text.trim()) : null
  if (match === null) return null
  const [, whole, fraction = '', unit = 'ms'] = match
  const size = UNIT_MS[unit] ?? 1
  const ms = Number(whole) * size + (Number(fraction) * size) / 10 ** fraction.length
  return Number.isSafeInteger(ms) ? ms : null
}

/** The shortest exact way to write a number of milliseconds, which is rounded. */
export function formatDuration(duration: number): string {
  const ms = Math.round(duration)
  if (ms === 0) return '0s'
  const [unit, size] = Object.entries(UNIT_MS).find(([, size]) => ms % size === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
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
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
