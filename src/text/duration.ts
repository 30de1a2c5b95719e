/** Parses and formats durations with a unit: `500ms`, `5s`, `10m`, `12h`. */
const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
type Unit = keyof typeof UNIT_MS

/** Whole milliseconds, or null when the text is not a duration with a unit or is finer than a millisecond. */
export function parseDuration(text: unknown): number | null {
  const match = typeof text === 'string' ? /^(\d+)(?:\.(\d+))?(ms|s|m|h)$/.exec(text.trim()) : null
  if (match === null) return null
  const [, whole, fraction = '', unit] = match
  const size = UNIT_MS[unit as Unit]
  const ms = Number(whole) * size + (Number(fraction) * size) / 10 ** fraction.length
  return Number.isSafeInteger(ms) ? ms : null
}

/** The shortest exact way to write a number of milliseconds. */
export function formatDuration(ms: number): string {
  for (const unit of ['h', 'm', 's'] as const) {
    if (ms !== 0 && ms % UNIT_MS[unit] === 0) return `${ms / UNIT_MS[unit]}${unit}`
  }
  return ms === 0 ? '0s' : `${ms}ms`
}
