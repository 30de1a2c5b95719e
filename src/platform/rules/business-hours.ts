/** Reads business hours, and says whether a time is within them, and when that changes. The page uses it as well. */
import { isMap } from '../../base/objects.ts'
import { LATEST_MS } from '../../base/runtime/clock.ts'
import { formatValue } from '../../base/schemas/explain-issues.ts'
import { didYouMean, nearest, nearestName } from '../../base/text/error-text.ts'

/** Business hours in a time zone. Days are counted from 1970-01-01, which is 0. */
export interface BusinessHours {
  /** The setting as the user wrote it. */
  readonly written: Readonly<Record<string, unknown>>
  /** By weekday, 0 = Sunday. */
  readonly week: readonly Day[]
  /** The days that differ from their weekday. */
  readonly dates: ReadonlyMap<number, Day>
  /** What a clock in the zone shows at a time: milliseconds from 1970-01-01 00:00 in the zone. */
  localMs(atMs: number): number
}

interface Day {
  /** The key of the setting that names it. */
  readonly key: string
  /** In the order of their beginnings. */
  readonly spans: readonly Span[]
}

/** Opening and closing in minutes from 00:00 of its day. It closes after minute 1440 when it goes past midnight. */
interface Span {
  readonly open: number
  readonly close: number
  readonly written: string
}

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 4

const MINUTE_MS = 60_000
const DAY_MINUTES = 1440
const DAY_MS = DAY_MINUTES * MINUTE_MS

const weekdayOf = (day: number): number => (((day + FIRST_WEEKDAY) % 7) + 7) % 7

const dayOf = ({ week, dates }: BusinessHours, day: number): Day | undefined => dates.get(day) ?? week[weekdayOf(day)]

const spansOf = (hours: BusinessHours, day: number): readonly Span[] => dayOf(hours, day)?.spans ?? []

/** Whether a clock in the zone shows a time within the hours at `atMs`: from the minute of opening, until that of closing. */
export function withinHours(hours: BusinessHours, atMs: number): boolean {
  const local = hours.localMs(atMs)
  const day = Math.floor(local / DAY_MS)
  const minute = (local - day * DAY_MS) / MINUTE_MS
  return (
    spansOf(hours, day).some(({ open, close }) => minute >= open && minute < close) ||
    spansOf(hours, day - 1).some(({ close }) => minute < close - DAY_MINUTES)
  )
}

/** How many minutes of a day are within the hours, as a clock shows them. */
function openMinutes(hours: BusinessHours, day: number): number {
  let minutes = 0
  for (const { open, close } of spansOf(hours, day)) minutes += Math.min(close, DAY_MINUTES) - open
  for (const { close } of spansOf(hours, day - 1)) minutes += Math.max(0, close - DAY_MINUTES)
  return minutes
}

/** The first time after `fromMs`, in milliseconds, at which `withinHours` differs; null when it stays the same. */
export function nextChange(hours: BusinessHours, fromMs: number): number | null {
  let at = Math.floor(fromMs)
  const isOpen = withinHours(hours, at)
  const lastDate = [...hours.dates.keys()].at(-1) ?? 0
  while (at < LATEST_MS) {
    const today = Math.floor(hours.localMs(at) / DAY_MS)
    // A day that is open or closed as a whole brings no change. Clocks that are set back may show yesterday again.
    let day = today - 1
    while (openMinutes(hours, day) === (isOpen ? DAY_MINUTES : 0)) {
      day++
      // The same week repeats.
      if (day > Math.max(today, lastDate) + 9) return null
    }
    // No zone is a day ahead of UTC.
    at = Math.max((day - 1) * DAY_MS, nextMoment(hours, at))
    if (withinHours(hours, at) !== isOpen) return at
  }
  return null
}

/** The first time after `atMs` at which the hours may change: a span begins or ends, a day ends, or the clocks are changed. */
function nextMoment(hours: BusinessHours, atMs: number): number {
  const local = hours.localMs(atMs)
  const today = Math.floor(local / DAY_MS)
  let next = (today + 1) * DAY_MS
  for (const day of [today - 1, today]) {
    for (const { open, close } of spansOf(hours, day)) {
      for (const minute of [open, close]) {
        const moment = day * DAY_MS + minute * MINUTE_MS
        if (moment > local && moment < next) next = moment
      }
    }
  }
  // Less than a day after it, clocks are changed at most once.
  const offset = local - atMs
  let [before, after] = [atMs, next - offset]
  if (hours.localMs(after) === next) return after
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (hours.localMs(middle) - middle === offset) before = middle
    else after = middle
  }
  return after
}

const EXAMPLE = '{ time_zone: Europe/Oslo, mon-fri: "09:00-17:00" }'
const TIME = '([01]\\d|2[0-3]):[0-5]\\d'
const SPAN = `${TIME}-(${TIME}|24:00)`
/** In upper or lower case. */
const DAY_NAME = `(${WEEKDAYS.map(day => day.replace(/./g, char => `[${char.toUpperCase()}${char}]`)).join('|')})`
const spanShape = { type: 'string', pattern: `^${SPAN}$` }
const dayShape = { anyOf: [spanShape, { type: 'array', items: spanShape }, { enum: ['closed', null] }] }

/** The JSON Schema of the setting. `readBusinessHours` also refuses what a schema cannot say, such as spans that overlap. */
export const BUSINESS_HOURS_SHAPE = {
  type: ['object', 'null'],
  required: ['time_zone'],
  properties: { time_zone: { type: 'string', examples: ['Europe/Oslo'] } },
  patternProperties: {
    [`^${DAY_NAME}(-${DAY_NAME})?$`]: dayShape,
    '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$': dayShape,
  },
  additionalProperties: false,
  description: 'When handover requests are accepted, by weekday and by date; a day not named is closed',
}

/** A problem of the setting. */
export interface HoursProblem {
  /** The keys that lead to it, from the setting; none for the setting itself. */
  readonly path: readonly PropertyKey[]
  /** Whether the last key or its value is wrong. */
  readonly wrong: 'key' | 'value'
  /** A sentence without its subject, which is the name of the field, and without its end. */
  readonly message: string
}

export interface HoursProblems {
  readonly problems: readonly HoursProblem[]
}

/** Reads `{ time_zone: Europe/Oslo, mon-fri: "09:00-17:00", 2026-12-24: closed }`; a day not named is closed. */
export function readBusinessHours(written: unknown): BusinessHours | HoursProblems {
  const problems: HoursProblem[] = []
  const report = (path: readonly PropertyKey[], message: string, wrong: 'key' | 'value' = 'value') =>
    void problems.push({ path, wrong, message })
  if (!isMap(written)) {
    report([], `must be a map such as ${EXAMPLE}, got ${formatValue(written)}`)
    return { problems }
  }
  const { time_zone: zone, ...days } = written
  const localMs = clockIn(zone)
  if (localMs === null)
    report(
      ['time_zone'],
      zone === undefined
        ? 'is required: the IANA name of a time zone such as Europe/Oslo'
        : `must be the IANA name of a time zone such as Europe/Oslo, got ${formatValue(zone)}${zoneHint(zone)}`,
    )
  const week: Day[] = WEEKDAYS.map(key => ({ key, spans: [] }))
  const dates: [number, Day][] = []
  for (const [key, value] of Object.entries(days)) {
    const date = readDate(key)
    const weekdays = date === null ? readWeekdays(key) : []
    if (weekdays === null) {
      report([key], keyProblem(key), 'key')
      continue
    }
    const spans = readDay(key, value, report)
    const day = { key, spans: spans.sort((a, b) => a.open - b.open) }
    if (date !== null) dates.push([date, day])
    for (const weekday of weekdays) week[weekday] = day
  }
  if (localMs === null || problems.length > 0) return { problems }
  const hours = { written, week, dates: new Map(dates.sort(([a], [b]) => a - b)), localMs }
  for (const [key, message] of overlaps(hours)) report([key], message)
  return problems.length > 0 ? { problems } : hours
}

/** Makes the function `localMs` of a zone; null when there is no such zone. */
function clockIn(zone: unknown): BusinessHours['localMs'] | null {
  if (typeof zone !== 'string' || zone === '') return null
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
  } catch {
    return null
  }
  return atMs => {
    const shown: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(atMs)) shown[type] = Number(value)
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = shown
    return Date.UTC(year, month - 1, day, hour, minute, second) + (atMs % 1000)
  }
}

function zoneHint(zone: unknown): string {
  if (typeof zone !== 'string') return ''
  const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC']
  const place = zone.toLowerCase().replaceAll(' ', '_')
  const name = zones.find(known => known.toLowerCase().endsWith(`/${place}`)) ?? nearestName(zone, zones)
  return name === undefined ? '' : didYouMean(name)
}

/** `2026-12-24` as a day; null for anything else. */
function readDate(key: string): number | null {
  const ms = /^\d{4}-\d\d-\d\d$/.test(key) ? Date.parse(`${key}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(key) ? ms / DAY_MS : null
}

/** `sat` or `mon-fri` as weekdays; null for anything else. */
function readWeekdays(key: string): number[] | null {
  const [from = -1, to = from, ...more] = key
    .toLowerCase()
    .split('-')
    .map(day => WEEKDAYS.indexOf(day))
  if (from === -1 || to === -1 || more.length > 0) return null
  return Array.from({ length: ((to - from + 7) % 7) + 1 }, (_, step) => (from + step) % 7)
}

function keyProblem(key: string): string {
  if (/^\d+([-./]\d+){2}$/.test(key)) return 'is not a date of the calendar; write a date as 2026-12-24'
  // `monday-friday`
  const short = key.toLowerCase().replace(/([a-z]{3})[a-z]*/g, '$1')
  const hint = readWeekdays(short) === null ? nearest(key, [...WEEKDAYS, 'time_zone']) : didYouMean(short)
  return `is not a day, a range of days or a date such as mon, mon-fri or 2026-12-24${hint}`
}

const HOURS_OF_DAY = 'hours such as "09:00-17:00", a list of them, or closed'

function readDay(key: string, value: unknown, report: (path: readonly PropertyKey[], message: string) => void): Span[] {
  if (value === null || value === 'closed') return []
  const items = Array.isArray(value) ? value.map((item, index) => ({ item, path: [key, index] })) : null
  return (items ?? [{ item: value, path: [key] }]).flatMap(({ item, path }) => {
    const span = typeof item === 'string' ? readSpan(item) : null
    const expected = items === null ? HOURS_OF_DAY : 'hours such as "09:00-17:00"'
    if (span === null) report(path, `must be ${expected}, got ${formatValue(item)}${spanHint(item)}`)
    else if (span.close > span.open) return [span]
    else
      report(
        path,
        `"${span.written}" opens and closes in the same minute; write 00:00-24:00 for a whole day, or closed`,
      )
    return []
  })
}

/** An end before the beginning is one of the next day; null for a text that is no span. */
function readSpan(written: string): Span | null {
  if (!new RegExp(`^${SPAN}$`).test(written)) return null
  const [open = 0, end = 0] = written.split('-').map(time => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)))
  return { open, close: end < open ? end + DAY_MINUTES : end, written }
}

/** For `9-17`, `9:00-17:00` and `09.00 - 17.00`. */
function spanHint(item: unknown): string {
  const match =
    typeof item === 'string' ? /^\s*(\d\d?)(?:[:.](\d\d))?\s*[-–]\s*(\d\d?)(?:[:.](\d\d))?\s*$/.exec(item) : null
  if (match === null) return ''
  const [, open = '', openMinute = '00', close = '', closeMinute = '00'] = match
  const span = `${open.padStart(2, '0')}:${openMinute}-${close.padStart(2, '0')}:${closeMinute}`
  return readSpan(span) === null ? '' : didYouMean(`"${span}"`)
}

/** Each key whose hours overlap with others, with the message. */
function overlaps(hours: BusinessHours): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const overlap = (key: string, span: Span, other: Span, ofOther: string) => {
    const message = `has hours that overlap: "${span.written}" and "${other.written}"${ofOther}; end the one before the other begins`
    if (!found.has(key)) found.set(key, message)
  }
  for (const { key, spans } of [...hours.week, ...hours.dates.values()]) {
    for (const [index, span] of spans.entries()) {
      const before = spans[index - 1]
      if (before !== undefined && before.close > span.open) overlap(key, before, span, '')
    }
  }
  const neighbours = hours.week.map((day, weekday) => [day, hours.week[(weekday + 1) % 7]])
  for (const date of hours.dates.keys()) {
    for (const day of [date - 1, date]) neighbours.push([dayOf(hours, day), dayOf(hours, day + 1)])
  }
  for (const [today, tomorrow] of neighbours) {
    const [last, first] = [today?.spans.at(-1), tomorrow?.spans[0]]
    if (!today || !tomorrow || !last || !first || last.close - DAY_MINUTES <= first.open) continue
    // A date has to fit to its neighbours, which are right without it.
    if (readDate(today.key) === null && readDate(tomorrow.key) !== null)
      overlap(tomorrow.key, first, last, ` of the day before (${today.key})`)
    else overlap(today.key, last, first, ` of the next day (${tomorrow.key})`)
  }
  return found
}
