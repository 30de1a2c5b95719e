/** Reads weekly business hours, and says whether a time is within them. The page uses it as well. */
import type { BusinessHours } from './state.ts'

export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const formatterFor = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** Whether `atMs` falls within the hours, in their own time zone (daylight saving included). */
export function withinHours(hours: BusinessHours, atMs: number): boolean {
  const parts = Object.fromEntries(
    formatterFor(hours.timeZone)
      .formatToParts(atMs)
      .map(part => [part.type, part.value]),
  )
  const day = WEEKDAYS.indexOf((parts.weekday ?? '').slice(0, 3).toLowerCase())
  const span = hours.week[day]
  const minute = Number(parts.hour) * 60 + Number(parts.minute)
  return span !== null && span !== undefined && minute >= span[0] && minute < span[1]
}

function readSpan(text: string): readonly [number, number] | null {
  const match = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)$/.exec(text)
  if (!match) return null
  const [open, close] = [Number(match[1]) * 60 + Number(match[2]), Number(match[3]) * 60 + Number(match[4])]
  return open < close && close <= 1440 ? [open, close] : null
}

function readDays(text: string): number[] | null {
  const [from = -1, to = from, ...more] = text
    .toLowerCase()
    .split('-')
    .map(day => WEEKDAYS.indexOf(day))
  if (from === -1 || to === -1 || more.length > 0) return null
  return Array.from({ length: ((to - from + 7) % 7) + 1 }, (_, step) => (from + step) % 7)
}

const isTimeZone = (zone: unknown): zone is string => {
  try {
    return typeof zone === 'string' && zone !== '' && Boolean(formatterFor(zone))
  } catch {
    return false
  }
}

/** A problem with the setting, naming its key. */
export interface HoursProblem {
  readonly key: string
  readonly message: string
}

/** `{ time_zone: Europe/Oslo, mon-fri: "09:00-17:00", sat: "10:00-14:00" }`; a day not named is closed. */
export function readBusinessHours(raw: Readonly<Record<string, unknown>>): BusinessHours | HoursProblem {
  const { time_zone: zone, ...days } = raw
  if (!isTimeZone(zone)) {
    return { key: 'time_zone', message: `must be a time zone such as Europe/Oslo, got ${JSON.stringify(zone)}` }
  }
  const week: (readonly [number, number] | null)[] = Array(7).fill(null)
  for (const [key, value] of Object.entries(days)) {
    const named = readDays(key)
    if (named === null) return { key, message: 'is not a day or range of days such as mon, mon-fri, sat' }
    const span = typeof value === 'string' ? readSpan(value) : null
    if (span === null) return { key, message: `must be hours such as "09:00-17:00", got ${JSON.stringify(value)}` }
    for (const day of named) week[day] = span
  }
  return { timeZone: zone, written: raw, week }
}
