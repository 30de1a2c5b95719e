/** Reads business hours into one row for each day, and writes such rows as the setting has them. */
import { isMap } from '../../../base/objects.ts'
import { readBusinessHours, WEEKDAYS, withinHours } from '../../../platform/rules/business-hours.ts'

/** The hours of a day as texts (`09:00`), which may be wrong while the user types. */
export interface DayHours {
  readonly day: string
  readonly isOpen: boolean
  readonly from: string
  readonly to: string
}

/** Monday first. */
const DAYS = [...WEEKDAYS.slice(1), ...WEEKDAYS.slice(0, 1)]

const clockTime = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

export interface WeekHours {
  readonly timeZone: string
  readonly days: readonly DayHours[]
}

/** The setting `business_hours`; null without hours. */
export function weekOf(written: unknown): WeekHours | null {
  const hours = isMap(written) ? readBusinessHours(written) : null
  if (hours === null || 'message' in hours) return null
  const days = DAYS.map(day => {
    const span = hours.week[WEEKDAYS.indexOf(day)] ?? null
    return { day, isOpen: span !== null, from: clockTime(span?.[0] ?? 540), to: clockTime(span?.[1] ?? 1020) }
  })
  return { timeZone: hours.timeZone, days }
}

/** Nine to five on workdays: a first value for a form. */
export const usualWeek = (timeZone: string): WeekHours => ({
  timeZone,
  days: DAYS.map((day, index) => ({ day, isOpen: index < 5, from: '09:00', to: '17:00' })),
})

/** Days with the same hours become a range: `{ time_zone, mon-fri: '09:00-17:00' }`. */
export function writtenWeek({ timeZone, days }: WeekHours): Record<string, string> {
  const written: Record<string, string> = { time_zone: timeZone }
  let first = 0
  for (const [index, day] of days.entries()) {
    if (spanOf(days[index + 1]) === spanOf(day)) continue
    const span = spanOf(day)
    const from = days[first]?.day ?? day.day
    if (span !== null) written[from === day.day ? from : `${from}-${day.day}`] = span
    first = index + 1
  }
  return written
}

const spanOf = (day: DayHours | undefined): string | null => (day?.isOpen ? `${day.from}-${day.to}` : null)

/** The day that a problem of the setting names: `business_hours.mon-fri` is about Monday to Friday. */
export const isAboutDay = (field: string, day: string, week: WeekHours): boolean => {
  const [, name = ''] = /^business_hours\.(.*)$/.exec(field) ?? []
  const [from = '', to = from] = name.split('-')
  const place = (one: string) => week.days.findIndex(({ day: other }) => other === one)
  return place(from) >= 0 && place(day) >= place(from) && place(day) <= place(to)
}

/** Whether a moment is within the hours; true without hours. */
export function isWithin(written: unknown, ms: number): boolean {
  const hours = isMap(written) ? readBusinessHours(written) : null
  return hours === null || 'message' in hours || withinHours(hours, ms)
}

/** `mon-fri 09:00-17:00, sat 10:00-14:00 (Europe/Oslo)` */
export function hoursText(written: unknown): string {
  if (!isMap(written)) return 'none: availability alone decides'
  const { time_zone, ...days } = written
  const spans = Object.entries(days).map(([day, span]) => `${day} ${span}`)
  return `${spans.join(', ') || 'closed all week'} (${time_zone})`
}
