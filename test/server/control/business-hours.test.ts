/** Business hours through HTTP with a virtual clock: open or closed as the clocks of the zone show it, and when that changes. */
import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import { startTestServer } from '../../support/test-server.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
const WEEK = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

interface Written {
  readonly time_zone: string
  readonly [day: string]: string | readonly string[]
}

/** Answers from the text that Intl writes for a moment in the zone, compared with the texts of the setting. */
function createOracle({ time_zone, ...days }: Written) {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: time_zone, dateStyle: 'short', timeStyle: 'short' })
  const spansOn = (date: string): readonly string[] => {
    const weekday = WEEK[new Date(date).getUTCDay()] ?? ''
    const value = days[date] ?? days[weekday] ?? 'closed'
    return value === 'closed' ? [] : [value].flat()
  }
  return (atMs: number): boolean => {
    const [date = '', time = ''] = format.format(atMs).split(' ')
    const dayBefore = new Date(Date.parse(date) - DAY_MS).toISOString().slice(0, 10)
    const isOfToday = spansOn(date).some(span => {
      const [begin = '', end = ''] = span.split('-')
      return time >= begin && (time < end || end < begin)
    })
    const isOfYesterday = spansOn(dayBefore).some(span => {
      const [begin = '', end = ''] = span.split('-')
      return end < begin && time < end
    })
    return isOfToday || isOfYesterday
  }
}

/** Times in steps of five minutes: in all these zones, clocks are changed by as much. */
const STEP = 5
const timeText = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

/** Hours of one day: until `night`, they may only be those of the day before. */
const someDay = (night: number): fc.Arbitrary<string | readonly string[]> => {
  const minute = fc.oneof(
    fc.integer({ min: night / STEP, max: 1440 / STEP }).map(steps => steps * STEP),
    fc.constantFrom(60, 90, 105, 120, 135, 150, 180, 1380, 1410, 1440).filter(some => some >= night),
  )
  const daily = fc.uniqueArray(minute, { maxLength: 6 }).map(times => {
    const sorted = times.sort((a, b) => a - b)
    const pairs = sorted.flatMap((begin, index) => (index % 2 === 0 ? [[begin, sorted[index + 1]] as const] : []))
    return pairs.flatMap(([begin, end]) => {
      if (end !== undefined) return [`${timeText(begin)}-${timeText(end)}`]
      // The last one goes past midnight.
      return begin < 1440 && begin > night && night > 0 ? [`${timeText(begin)}-${timeText(night)}`] : []
    })
  })
  return fc.oneof({ weight: 6, arbitrary: daily }, { weight: 1, arbitrary: fc.constant('closed') })
}

const ZONES = [
  ...['Europe/Oslo', 'America/New_York', 'Australia/Lord_Howe', 'America/St_Johns', 'Pacific/Chatham', 'UTC'],
  // The clocks change at midnight, by two hours, or for a month.
  ...['America/Havana', 'Asia/Beirut', 'Antarctica/Troll', 'Africa/Casablanca', 'Pacific/Kiritimati', 'Asia/Kathmandu'],
]

const isoDate = (ms: number) => new Date(ms).toISOString().slice(0, 10)

const someCase = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    // Changes of summer time, and any time.
    start: fc.oneof(
      fc
        .constantFrom(
          ...[
            '2026-03-29',
            '2026-10-25',
            '2026-03-08',
            '2026-11-01',
            '2026-04-05',
            '2026-10-04',
            '2026-02-15',
            '2026-03-22',
          ],
        )
        .map(date => Date.parse(date)),
      fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2028-01-01') }),
    ),
    beforeMs: fc.integer({ min: 0, max: 2 * DAY_MS }),
    night: fc.constantFrom(0, 60, 125, 240, 480),
  })
  .chain(({ zone, start, beforeMs, night }) => {
    const startMs = start - beforeMs
    const day = someDay(night)
    const anyWeek = fc.record(Object.fromEntries(WEEK.map(name => [name, day])), { requiredKeys: [] })
    // The hours of a night would overlap with a whole day.
    const sameWeek = fc
      .constantFrom(...(night === 0 ? ['closed', '00:00-24:00'] : ['closed']))
      .map(value => Object.fromEntries(WEEK.map(name => [name, value])))
    const date = fc.oneof(fc.integer({ min: -2, max: 10 }), fc.integer({ min: 11, max: 18 }))
    return fc.record({
      startMs: fc.constant(startMs),
      week: fc.oneof({ weight: 4, arbitrary: anyWeek }, { weight: 1, arbitrary: sameWeek }),
      dates: fc.array(fc.tuple(date, day), { maxLength: 4 }),
      zone: fc.constant(zone),
    })
  })
  .map(({ startMs, week, dates, zone }) => ({
    startMs,
    written: {
      time_zone: zone,
      ...week,
      ...Object.fromEntries(dates.map(([after, day]) => [isoDate(startMs + after * DAY_MS), day])),
    } as Written,
  }))

/** After this time without a change the test stops comparing. */
const WATCHED_MS = 20 * DAY_MS

test('it is open when Intl says so, and the next change is the first moment at which that differs', async () => {
  const { server, control } = await startTestServer({ clock: 'virtual' })
  let changes = 0
  await fc.assert(
    fc.asyncProperty(someCase, async ({ startMs, written }) => {
      const isOpen = createOracle(written)
      const clock = { mode: 'virtual', start: new Date(startMs).toISOString() }
      const created = await control('POST', '/workspaces', { body: { clock, business_hours: written } })
      expect(created.body).toMatchObject({ url: server.url })
      const answer = await fetch(`${created.body.control}/state`)
      const { business_hours, availability } = (await answer.json()) as {
        business_hours: { open: boolean; next_change: string | null }
        availability: { open: boolean }[]
      }
      await control('DELETE', `/workspaces/${created.body.id}`)

      expect([business_hours.open, availability[0]?.open]).toEqual([isOpen(startMs), isOpen(startMs)])
      const nextMs = business_hours.next_change === null ? null : Date.parse(business_hours.next_change)
      const untilMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, startMs + WATCHED_MS)
      const firstStep = (Math.floor(startMs / (STEP * MINUTE_MS)) + 1) * STEP * MINUTE_MS
      for (let atMs = firstStep; atMs < untilMs; atMs += STEP * MINUTE_MS)
        if (isOpen(atMs) !== business_hours.open)
          expect.fail(`changes at ${new Date(atMs).toISOString()}, not at ${business_hours.next_change}`)
      if (nextMs === null) return
      changes++
      expect([isOpen(nextMs - 1), isOpen(nextMs)]).toEqual([business_hours.open, !business_hours.open])
    }),
    { numRuns: 120 },
  )
  expect(changes).toBeGreaterThan(60)
})

/** Hours around the change of summer time, and when handover opens and closes by turns, in UTC. It is closed at the start. */
const CHANGES: readonly [what: string, written: Written, start: string, changes: readonly string[]][] = [
  [
    'Oslo in spring, a span in the hour that does not exist',
    { time_zone: 'Europe/Oslo', 'sat-sun': ['22:00-01:30', '02:15-02:45', '03:30-04:00'] },
    '2026-03-28T20:59:00Z',
    ['28T21:00', '29T00:30', '29T01:30', '29T02:00', '29T20:00', '29T23:30'],
  ],
  [
    'Oslo in spring, a span that ends in it, and one that begins in it on a date',
    { time_zone: 'Europe/Oslo', sun: '01:00-02:15', '2026-03-29': ['01:00-02:15', '02:30-03:30'] },
    '2026-03-28T23:59:00Z',
    ['29T00:00', '29T01:30'],
  ],
  [
    'Oslo in autumn, spans in the hour that exists twice',
    { time_zone: 'Europe/Oslo', 'sat-sun': ['22:00-02:30', '02:45-04:00'] },
    '2026-10-24T19:59:00Z',
    ['24T20:00', '25T00:30', '25T00:45', '25T01:30', '25T01:45', '25T03:00', '25T21:00'],
  ],
  [
    'New York in spring, a night and a day that meet',
    { time_zone: 'America/New_York', sat: '22:00-06:00', sun: ['06:00-07:00', '08:00-24:00'] },
    '2026-03-08T02:59:00Z',
    ['08T03:00', '08T11:00', '08T12:00', '09T04:00'],
  ],
  [
    'Lord Howe Island in autumn, where half an hour exists twice',
    { time_zone: 'Australia/Lord_Howe', sun: ['01:00-01:40', '02:00-03:00'] },
    '2026-04-04T13:59:00Z',
    ['04T14:00', '04T14:40', '04T15:00', '04T15:10', '04T15:30', '04T16:30'],
  ],
  [
    'Lord Howe Island in spring, where half an hour does not exist',
    { time_zone: 'Australia/Lord_Howe', sun: ['01:00-02:10', '02:20-03:00'] },
    '2026-10-03T14:29:00Z',
    ['03T14:30', '03T16:00'],
  ],
]

it.each(CHANGES)('%s: requests are accepted by turns', async (_, written, start, changes) => {
  const clock = { mode: 'virtual', start } as const
  const { server, control } = await startTestServer({ clock, businessHours: written })
  const press = async () => {
    const chat = await server.chat()
    await chat.press('handover')
    return chat.status
  }
  const advanceTo = (ms: number) => server.clock.advance(`${ms - server.clock.now()}ms`)
  for (const [index, change] of changes.entries()) {
    const changeMs = Date.parse(`${start.slice(0, 8)}${change}:00Z`)
    const isOpening = index % 2 === 0
    const { body } = await control('GET', '/state')
    expect(body.business_hours).toEqual({ open: !isOpening, next_change: `${start.slice(0, 8)}${change}:00.000000Z` })
    await advanceTo(changeMs - 1)
    expect(await press()).toBe(isOpening ? 'bot' : 'pending')
    await advanceTo(changeMs)
    expect(await press()).toBe(isOpening ? 'pending' : 'bot')
  }
})

it('an advance of a year is one step without timers, and ends at what the last day says', async () => {
  const clock = { mode: 'virtual', start: '2026-01-02T17:00:00Z' } as const
  const businessHours = {
    time_zone: 'Europe/Oslo',
    'mon-fri': ['09:00-12:00', '13:00-17:00'],
    '2027-01-04': '13:00-17:00',
  }
  const { control } = await startTestServer({ clock, businessHours })
  const before = (await control('GET', '/state')).body
  expect([before.clock.next_due, before.business_hours]).toEqual([
    null,
    { open: false, next_change: '2026-01-05T08:00:00.000000Z' },
  ])
  await control('POST', '/clock/advance', { body: { by: '8800h' } })
  const { body } = await control('GET', '/state')
  expect(body.clock.now).toBe('2027-01-04T09:00:00.000000Z')
  expect(body.business_hours).toEqual({ open: false, next_change: '2027-01-04T12:00:00.000000Z' })
  expect(body.journal.next_seq - before.journal.next_seq).toBe(1)
})

it.each<[what: string, days: Record<string, unknown>, change: string | null]>([
  ['open all week', { 'mon-sun': '00:00-24:00' }, null],
  ['closed all week', {}, null],
  ['closed all week, with a date many years later', { '2199-12-31': '10:00-11:00' }, '2199-12-31T10:00'],
  [
    'closed by dates for sixteen days',
    Object.fromEntries([['mon-sun', '10:00-11:00'], ...sixteenDays()]),
    '2024-01-17T10:00',
  ],
  ['nights that follow each other', { 'mon-sun': ['06:00-22:00', '22:00-06:00'] }, null],
])('the next change when it is %s', async (_, days, change) => {
  const { control } = await startTestServer({ clock: 'virtual', businessHours: { time_zone: 'UTC', ...days } })
  const { body } = await control('GET', '/state')
  expect(body.business_hours.next_change).toBe(change === null ? null : `${change}:00.000000Z`)
})

/** From the first day of the virtual clock. */
function sixteenDays(): [string, string][] {
  return Array.from({ length: 16 }, (_, day) => [isoDate(Date.UTC(2024, 0, 1 + day)), 'closed'])
}
