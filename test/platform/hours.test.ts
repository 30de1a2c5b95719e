import { expect, it } from 'vitest'
import { lastMessage } from '../support/chats.ts'
import { createTestSimulator, setUpChat } from '../support/test-simulator.ts'

const OSLO = { time_zone: 'Europe/Oslo', 'mon-fri': '09:00-17:00', sat: '10:00-14:00' }

/** Whether a press at that moment reaches the webhook. */
async function openAt(start: string, businessHours: Record<string, unknown>): Promise<boolean> {
  const { sim, hook } = createTestSimulator({ clock: { mode: 'virtual', start }, businessHours })
  await (await sim.chat()).press('handover')
  return hook.events().length === 1
}

const NIGHT = { time_zone: 'Europe/Oslo', sun: '02:00-04:00' }
const WEEKEND = { time_zone: 'UTC', 'sat-sun': '00:00-24:00' }
const LONG_WEEKEND = { time_zone: 'UTC', 'fri-mon': '08:00-12:00' }
const LUNCH = { time_zone: 'UTC', 'mon-fri': ['13:00-17:00', '09:00-12:00'], tue: null, wed: [] }
const NIGHTS = {
  time_zone: 'UTC',
  fri: '22:00-06:00',
  sat: ['06:00-08:00', '23:00-00:00'],
  '2024-01-12': 'closed',
  '2024-01-20': [],
}

it.each([
  ['a minute before opening', OSLO, '2024-01-08T07:59:59Z', false],
  ['at opening', OSLO, '2024-01-08T08:00:00Z', true],
  ['in the last minute', OSLO, '2024-01-08T15:59:59Z', true],
  ['at closing', OSLO, '2024-01-08T16:00:00Z', false],
  ['on Saturday with its own hours', OSLO, '2024-01-13T12:59:00Z', true],
  ['on Saturday after them', OSLO, '2024-01-13T13:00:00Z', false],
  ['on Sunday, not named', OSLO, '2024-01-14T12:00:00Z', false],
  ['when it is Monday in the zone but Sunday in UTC', OSLO, '2024-01-07T23:30:00Z', false],
  ['in winter time, Friday before the change', OSLO, '2024-03-29T07:30:00Z', false],
  ['in winter time, Friday before the change', OSLO, '2024-03-29T08:00:00Z', true],
  ['in summer time, Monday after the change', OSLO, '2024-04-01T07:00:00Z', true],
  ['in summer time, Monday after the change', OSLO, '2024-04-01T15:00:00Z', false],
  ['in winter time again in October', OSLO, '2024-10-28T07:30:00Z', false],
  ['in the hour that is skipped, which opens late', NIGHT, '2024-03-31T00:59:00Z', false],
  ['when the clock jumps from 02:00 to 03:00', NIGHT, '2024-03-31T01:00:00Z', true],
  ['when it closes an hour later', NIGHT, '2024-03-31T02:00:00Z', false],
  ['in the hour that comes twice, the first time', NIGHT, '2024-10-27T00:30:00Z', true],
  ['and the second time', NIGHT, '2024-10-27T01:30:00Z', true],
  ['and at 04:00', NIGHT, '2024-10-27T03:00:00Z', false],
  ['before 00:00', WEEKEND, '2024-01-05T23:59:59Z', false],
  ['at 00:00', WEEKEND, '2024-01-06T00:00:00Z', true],
  ['before 24:00', WEEKEND, '2024-01-07T23:59:59Z', true],
  ['at 24:00', WEEKEND, '2024-01-08T00:00:00Z', false],
  ['in a range of days over the weekend', LONG_WEEKEND, '2024-01-07T09:00:00Z', true],
  ['after a range of days over the weekend', LONG_WEEKEND, '2024-01-09T09:00:00Z', false],
  ['before lunch', LUNCH, '2024-01-08T11:59:59.999Z', true],
  ['at lunch', LUNCH, '2024-01-08T12:00:00Z', false],
  ['after lunch', LUNCH, '2024-01-08T13:00:00Z', true],
  ['on a day that is empty', LUNCH, '2024-01-09T10:00:00Z', false],
  ['on a day with no span', LUNCH, '2024-01-10T10:00:00Z', false],
  ['on the day before a night', NIGHTS, '2024-01-05T03:00:00Z', false],
  ['in a night', NIGHTS, '2024-01-05T23:59:59Z', true],
  ['in a night, past midnight', NIGHTS, '2024-01-06T05:59:59Z', true],
  ['when a night and a day meet', NIGHTS, '2024-01-06T06:00:00Z', true],
  ['after both', NIGHTS, '2024-01-06T08:00:00Z', false],
  ['until 00:00', NIGHTS, '2024-01-06T23:59:59Z', true],
  ['at 00:00', NIGHTS, '2024-01-07T00:00:00Z', false],
  ['on a date on which no night begins', NIGHTS, '2024-01-12T23:00:00Z', false],
  ['on the morning after it', NIGHTS, '2024-01-13T05:00:00Z', false],
  ['on a date that is closed, in the night of the day before', NIGHTS, '2024-01-20T05:59:00Z', true],
  ['on a date that is closed, after that night', NIGHTS, '2024-01-20T07:00:00Z', false],
])('ST20 ST22 W6 %s: %j at %s, open is %s', async (_, hours, at, open) => {
  expect(await openAt(at, hours)).toBe(open)
})

it('ST23 ST25 hours open and close as time passes; CLOSED stays closed within them', async () => {
  const clock = { mode: 'virtual', start: '2024-01-08T07:00:00Z' } as const
  const { sim, api, hook, chat } = await setUpChat({ clock, businessHours: OSLO })
  await chat.press('handover')
  expect(lastMessage(chat).text).toBe('Our team is not available right now. Please try again later.')
  await sim.clock.advance('1h')
  await chat.press('handover')
  expect(hook.events()).toHaveLength(1)
  await api.availability({ availability: 'CLOSED', reason: 'BUSINESS_HOURS' })
  await sim.clock.advance('24h')
  await chat.press('handover')
  expect(hook.events()).toHaveLength(1)
})

const DAY_KEYS = 'a day, a range of days or a date such as mon, mon-fri or 2026-12-24'
const SPANS = 'hours such as "09:00-17:00", a list of them, or closed'

it.each<[days: Record<string, unknown>, message: string]>([
  [
    { time_zone: 'Europe/Olso' },
    'time_zone must be the IANA name of a time zone such as Europe/Oslo, got the string "Europe/Olso"; did you mean Europe/Oslo?',
  ],
  [{ time_zone: 'new york' }, 'time_zone must be … did you mean America/New_York?'],
  [{ time_zone: 'Mars/Olympus' }, 'time_zone must be … got the string "Mars/Olympus".'],
  [{ time_zone: undefined }, 'time_zone is required: the IANA name of a time zone such as Europe/Oslo.'],
  [{ timezone: 'UTC' }, `timezone is not ${DAY_KEYS}; did you mean time_zone?`],
  [{ 'Monday-Friday': [] }, `Monday-Friday is not ${DAY_KEYS}; did you mean mon-fri?`],
  [{ holidays: [] }, `holidays is not ${DAY_KEYS}.`],
  [{ '2026-02-29': [] }, '2026-02-29 is not a date of the calendar; write a date as 2026-12-24.'],
  [{ '24.12.2026': [] }, '24.12.2026 is not a date of the calendar; write a date as 2026-12-24.'],
  [{ mon: '9-17' }, `mon must be ${SPANS}, got the string "9-17"; did you mean "09:00-17:00"?`],
  [
    { mon: ['09:00-12:00', '13.00 - 17.30'] },
    'mon[1] must be hours such as "09:00-17:00", … did you mean "13:00-17:30"?',
  ],
  [{ mon: '09:00-24:30' }, `mon must be ${SPANS}, got the string "09:00-24:30".`],
  [{ mon: '24:00-06:00' }, `mon must be ${SPANS}, got the string "24:00-06:00".`],
  [{ mon: 540 }, `mon must be ${SPANS}, got the number 540.`],
  [
    { mon: '09:00-09:00' },
    'mon "09:00-09:00" opens and closes in the same minute; write 00:00-24:00 for a whole day, or closed.',
  ],
  [
    { mon: ['12:00-14:00', '09:00-12:01'] },
    'mon has hours that overlap: "09:00-12:01" and "12:00-14:00"; end the one before the other begins.',
  ],
  [
    { sat: '22:00-06:00', sun: '05:59-09:00' },
    'sat has … "22:00-06:00" and "05:59-09:00" of the next day (sun); end …',
  ],
  [
    { 'mon-sun': ['05:00-09:00', '22:00-06:00'] },
    'mon-sun has … "22:00-06:00" and "05:00-09:00" of the next day (mon-sun); …',
  ],
  [
    { '2026-01-03': '04:00-05:00', fri: '22:00-06:00' },
    '2026-01-03 has … "04:00-05:00" and "22:00-06:00" of the day before (fri); …',
  ],
  [
    { fri: '05:00-09:00', '2026-01-01': '22:00-06:00' },
    '2026-01-01 has … "22:00-06:00" and "05:00-09:00" of the next day (fri); …',
  ],
  [{ '2026-01-02': '05:00-09:00', '2026-01-01': '22:00-06:00' }, '2026-01-01 has … of the next day (2026-01-02); …'],
])('W6 hours that cannot be are refused by name, with the fix: %j', (days, message) => {
  const businessHours = { time_zone: 'Europe/Oslo', ...days }
  const parts = `business_hours.${message}`.split('…').map(part => part.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  expect(() => createTestSimulator({ businessHours })).toThrow(new RegExp(`^${parts.join('.*')}$`))
})

it('W6 every problem of the hours is named at once, and nothing changes', async () => {
  const { sim } = createTestSimulator({ businessHours: OSLO })
  const change = sim.configure({ business_hours: { time_zone: 'UTC', mno: [], tue: '9-17' }, 'messages.open': 'Hi' })
  await expect(change).rejects.toMatchObject({
    problems: [{ name: 'business_hours.mno' }, { name: 'business_hours.tue' }],
  })
  expect(sim.config()).toMatchObject({ business_hours: OSLO, 'messages.open': 'by-language' })
})
