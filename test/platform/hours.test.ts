import { describe, expect, it } from 'vitest'
import { lastMessage } from '../support/chats.ts'
import { createTestSimulator, setUp } from '../support/test-simulator.ts'

const OSLO = { time_zone: 'Europe/Oslo', 'mon-fri': '09:00-17:00', sat: '10:00-14:00' }

/** Whether a press at that moment reaches the webhook. */
async function openAt(start: string, businessHours: Record<string, unknown>): Promise<boolean> {
  const { sim, hook } = createTestSimulator({ clock: { mode: 'virtual', start }, businessHours })
  await (await sim.chat()).press('handover')
  return hook.events().length === 1
}

describe('business hours', () => {
  it.each([
    ['a minute before opening', '2024-01-08T07:59:59Z', false],
    ['at opening', '2024-01-08T08:00:00Z', true],
    ['in the last minute', '2024-01-08T15:59:59Z', true],
    ['at closing', '2024-01-08T16:00:00Z', false],
    ['on Saturday with its own hours', '2024-01-13T12:59:00Z', true],
    ['on Saturday after them', '2024-01-13T13:00:00Z', false],
    ['on Sunday, not named', '2024-01-14T12:00:00Z', false],
    ['when it is Monday in the zone but Sunday in UTC', '2024-01-07T23:30:00Z', false],
  ])('ST20 ST22 W6 %s (%s): open is %s', async (_, at, open) => {
    expect(await openAt(at, OSLO)).toBe(open)
  })

  it.each([
    ['winter time, Friday before the change', '2024-03-29T07:30:00Z', false],
    ['winter time, Friday before the change', '2024-03-29T08:00:00Z', true],
    ['summer time, Monday after the change', '2024-04-01T07:00:00Z', true],
    ['summer time, Monday after the change', '2024-04-01T15:00:00Z', false],
    ['winter time again in October', '2024-10-28T07:30:00Z', false],
  ])('ST22 daylight saving: %s (%s): open is %s', async (_, at, open) => {
    expect(await openAt(at, OSLO)).toBe(open)
  })

  const NIGHT = { time_zone: 'Europe/Oslo', sun: '02:00-04:00' }
  it.each([
    ['the hour that is skipped opens late', '2024-03-31T00:59:00Z', false],
    ['the clock jumps from 02:00 to 03:00', '2024-03-31T01:00:00Z', true],
    ['and closes an hour later', '2024-03-31T02:00:00Z', false],
    ['the hour that comes twice counts the first time', '2024-10-27T00:30:00Z', true],
    ['and the second time', '2024-10-27T01:30:00Z', true],
    ['and closes at 04:00', '2024-10-27T03:00:00Z', false],
  ])('ST22 daylight saving at night: %s (%s): open is %s', async (_, at, open) => {
    expect(await openAt(at, NIGHT)).toBe(open)
  })

  it('ST20 24:00 closes at the end of the day, 00:00 opens at its beginning', async () => {
    const hours = { time_zone: 'UTC', 'sat-sun': '00:00-24:00' }
    expect(await openAt('2024-01-06T00:00:00Z', hours)).toBe(true)
    expect(await openAt('2024-01-07T23:59:59Z', hours)).toBe(true)
    expect(await openAt('2024-01-08T00:00:00Z', hours)).toBe(false)
    expect(await openAt('2024-01-05T23:59:59Z', hours)).toBe(false)
  })

  it('ST20 a range of days may run over the weekend', async () => {
    const hours = { time_zone: 'UTC', 'fri-mon': '08:00-12:00' }
    expect(await openAt('2024-01-07T09:00:00Z', hours)).toBe(true)
    expect(await openAt('2024-01-09T09:00:00Z', hours)).toBe(false)
  })

  it('ST23 ST25 hours open and close as time passes; CLOSED stays closed within them', async () => {
    const clock = { mode: 'virtual', start: '2024-01-08T07:00:00Z' } as const
    const { sim, api, hook } = await setUp(undefined, { clock, businessHours: OSLO })
    const chat = await sim.chat()
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
    [{ time_zone: 'UTC', mon: '17:00-09:00' }, 'business_hours.mon'],
    [{ time_zone: 'UTC', mon: '9-17' }, 'business_hours.mon'],
    [{ time_zone: 'UTC', mon: '09:00-24:30' }, 'business_hours.mon'],
    [{ time_zone: 'UTC', mon: 540 }, 'business_hours.mon'],
  ])('W6 hours that cannot be are refused by name: %j', async (businessHours, named) => {
    expect(() => createTestSimulator({ businessHours })).toThrow(named)
  })
})
