/** Tests the virtual clock: it moves only by `advance`, fires in due order, and waits for work between timers. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createVirtualClock, VIRTUAL_START_MS } from '../../src/base/runtime/clock.ts'
import { world } from '../support/test-simulator.ts'

const idle = async () => {}

test('the clock starts at 2024-01-01 09:00 or the given time, and stands still', () => {
  expect(new Date(createVirtualClock().now()).toISOString()).toBe('2024-01-01T09:00:00.000Z')
  const clock = createVirtualClock(42)
  expect([clock.mode, clock.now(), clock.nextDue()]).toEqual(['virtual', 42, null])
  const { sim } = world({ clock: { mode: 'virtual', start: '2030-05-06T07:08:09Z' } })
  expect(sim.clock.now()).toBe(Date.UTC(2030, 4, 6, 7, 8, 9))
  expect(() => sim.clock.resume()).toThrow('never runs by itself')
  expect(() => world({ clock: { mode: 'virtual', start: 'tomorrow' } })).toThrow('clock.start must be a date')
})

test('a timer that moved fires at its new time, after those that were set for it before', async () => {
  const clock = createVirtualClock()
  const fired: string[] = []
  const moved = clock.after(10, () => fired.push(`moved at ${clock.now() - VIRTUAL_START_MS}`))
  clock.after(30, () => fired.push('set for 30'))
  moved.move(30)
  expect(clock.nextDue()).toBe(VIRTUAL_START_MS + 30)
  await clock.advance(60, async () => {})
  expect(fired).toEqual(['set for 30', 'moved at 30'])
})

test('timers set during an advance fire within it at their time', async () => {
  const clock = createVirtualClock(0)
  const times: number[] = []
  const again = () => {
    times.push(clock.now())
    if (times.length < 5) clock.after(10, again)
  }
  clock.after(10, again)
  await clock.advance(35, idle)
  expect([times, clock.now()]).toEqual([[10, 20, 30], 35])
  await clock.advance(100, idle)
  expect(times).toEqual([10, 20, 30, 40, 50])
})

test('a cancelled timer does not fire, nor does one cancelled by another that is due with it', async () => {
  const clock = createVirtualClock(0)
  const fired: string[] = []
  const first = clock.after(10, () => fired.push('first'))
  clock.after(20, () => second.cancel())
  const second = clock.after(20, () => fired.push('second'))
  first.cancel()
  first.cancel()
  await clock.advance(50, idle)
  expect(fired).toEqual([])
})

test('work started before and by each timer ends before the next one fires', async () => {
  const clock = createVirtualClock(0)
  const log: string[] = []
  let pending: Promise<void>[] = [Promise.resolve().then(() => void log.push('work of before'))]
  for (const name of ['a', 'b']) {
    clock.after(10, () => {
      log.push(name)
      pending = [Promise.resolve().then(() => void log.push(`work of ${name}`))]
    })
  }
  await clock.advance(10, async () => void (await Promise.all(pending)))
  expect(log).toEqual(['work of before', 'a', 'work of a', 'b', 'work of b'])
})

test('for any timers and advances, each fires once, in order, at its time', async () => {
  const delays = fc.array(fc.nat({ max: 500 }), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(delays, fc.array(fc.nat({ max: 300 }), { maxLength: 6 }), async (timers, steps) => {
      const clock = createVirtualClock(0)
      const fired: [number, number][] = []
      for (const [index, delay] of timers.entries()) {
        clock.after(delay, () => {
          expect(clock.now()).toBe(delay)
          fired.push([delay, index])
        })
      }
      for (const step of steps) await clock.advance(step, idle)
      const end = steps.reduce((sum, step) => sum + step, 0)
      const due = timers.map((delay, index): [number, number] => [delay, index]).filter(([delay]) => delay <= end)
      const expected = due.sort((a, b) => a[0] - b[0] || a[1] - b[1])
      expect(fired).toEqual(steps.length === 0 ? [] : expected)
      expect(clock.now()).toBe(end)
    }),
  )
})

test.each(['10', '', '-5s', 'soon'])('advance() of a simulator refuses %j', async by => {
  await expect(world().sim.clock.advance(by as never)).rejects.toThrow('by must be a duration such as 10m')
})
