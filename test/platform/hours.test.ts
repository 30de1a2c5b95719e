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

it.each([
  [{ time_zone: 'Mars/Olympus', mon: '09:00-17:00' }, 'business_hours.time_zone'],
  [{ mon: '09:00-17:00' }, 'business_hours.time_zone'],
  [{ time_zone: 'UTC', monday: '09:00-17:00' }, 'business_hours.monday'],
  [{ time_zone: 'UTC', mon: '9-17' }, 'business_hours.mon'],
  [{ time_zone: 'UTC', mon: '09:00-24:30' }, 'business_hours.mon'],
  [{ time_zone: 'UTC', mon: 540 }, 'business_hours.mon'],
])('W6 hours that cannot be are refused by name: %j', async (businessHours, named) => {
  expect(() => createTestSimulator({ businessHours })).toThrow(named)
})
