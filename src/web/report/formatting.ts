/** Formats numbers and times for the HTML report. */
import { formatMs } from '../../text/terminal-text.ts'

/** `+0.84`, `-0.02`, `+83.10`: seconds from the start of the scenario. */
export const offsetText = (ms: number): string => `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(2)}`

/** `31 ms`, `6.4 s`, `12 min 4 s`. */
export function duration(ms: number): string {
  if (ms < 60_000) return formatMs(ms)
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** `2024-01-01 09:00:01 UTC` from ISO 8601; anything else as it is. */
export const moment = (time: string): string =>
  /^\d{4}-\d\d-\d\dT[\d:]{8}[.\d]*Z$/.test(time) ? `${time.slice(0, 10)} ${time.slice(11, 19)} UTC` : time

/** `512 bytes`, `16 KB`, `1.2 MB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
