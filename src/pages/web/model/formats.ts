/** Formats offsets, moments and sizes for people. */
import { visible } from '../../../base/text/terminal-text.ts'
import type { EntryKind } from '../../../platform/journal/entry.ts'

/** `+0.84`, `-0.02`, `+83.10`: seconds from the start of the scenario. */
export const offsetText = (ms: number): string => `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(2)}`

/** `2024-01-01 09:00:01 UTC` from ISO 8601; anything else as it is. */
export const moment = (time: string): string =>
  /^\d{4}-\d\d-\d\dT[\d:]{8}[.\d]*Z$/.test(time) ? `${time.slice(0, 10)} ${time.slice(11, 19)} UTC` : visible(time)

/** `512 bytes`, `16 KB`, `1.2 MB`. */
export function byteSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

/** `09:00:01.250` from ISO 8601; anything else as it is. */
export const timeOfDay = (time: string): string =>
  /^\d{4}-\d\d-\d\dT[\d:]{8}[.\d]*Z$/.test(time) ? time.slice(11, 23).replace('Z', '') : time

/** How people call a kind of entries. */
export const kindName = (kind: EntryKind): string => (kind === 'api' ? 'call' : kind)
