/** Tests the real clock and the wall clock: long timers, and delays that can be aborted. */
import { expect, onTestFinished, test } from 'vitest'
import { createRealClock, type Timer, wallDelay, wallTimer } from '../../src/base/runtime/clock.ts'
import { post, takenOver, world } from '../support/test-simulator.ts'

const LONGEST_MS = 2_147_483_647
const cancelled = (timer: Timer) => onTestFinished(() => timer.cancel())

/** Resolves with the order in which two timers fired, once the second has. */
const firing = (start: (fire: (name: string) => void) => void): Promise<string[]> =>
  new Promise(resolve => {
    const fired: string[] = []
    start(name => {
      fired.push(name)
      if (name === 'last') resolve(fired)
    })
  })

test('timers fire in due order and not before their time', async () => {
  const clock = createRealClock()
  const began = clock.now()
  const fired = await firing(fire => {
    clock.after(30, () => fire('last'))
    clock.after(1, () => fire('cancelled')).cancel()
    clock.after(5, () => fire('first'))
    clock.after(-10, () => fire('at once'))
    expect(clock.nextDue()).toBeLessThanOrEqual(clock.now() + 5)
  })
  expect(fired).toEqual(['at once', 'first', 'last'])
  expect(clock.now() - began).toBeGreaterThanOrEqual(30)
  expect(clock.nextDue()).toBeNull()
})

test('no timer fires early on its clock, for any rounding of Node', async () => {
  const clock = createRealClock()
  const early: number[] = []
  const one = (delayMs: number) =>
    new Promise<void>(resolve => {
      const due = clock.now() + delayMs
      clock.after(delayMs, () => {
        if (clock.now() < due) early.push(due - clock.now())
        resolve()
      })
    })
  for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 40 }, (_, n) => one(1 + (n % 7))))
  expect(early).toEqual([])
})

test('a timer that moved fires once, at its last time: later, earlier, or on a clock that was paused meanwhile', async () => {
  const clock = createRealClock()
  const fired = await firing(fire => {
    clock.after(20, () => fire('later')).move(120)
    clock.after(60_000, () => fire('earlier')).move(40)
    const paused = clock.after(60, () => fire('paused'))
    expect(clock.nextDue()).toBeLessThanOrEqual(clock.now() + 40)
    clock.after(80, () => fire('between'))
    clock.pause()
    paused.move(160)
    clock.resume()
    clock.after(240, () => fire('last'))
  })
  expect(fired).toEqual(['earlier', 'between', 'later', 'paused', 'last'])
  expect(clock.nextDue()).toBeNull()
})

test('a timer longer than the longest of Node does not fire at once', async () => {
  const clock = createRealClock()
  const warnings: string[] = []
  const onWarning = (warning: Error) => warnings.push(warning.name)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  const fired = await firing(fire => {
    cancelled(clock.after(LONGEST_MS + 1000, () => fire('in 25 days')))
    cancelled(clock.after(10 * LONGEST_MS, () => fire('in 250 days')))
    cancelled(wallTimer(3 * LONGEST_MS, () => fire('in 75 days')))
    expect(clock.nextDue()! - clock.now()).toBeGreaterThan(LONGEST_MS)
    clock.after(20, () => fire('last'))
  })
  expect(fired).toEqual(['last'])
  expect(warnings).toEqual([])
})

test('a delay ends at once when its signal is or becomes aborted', async () => {
  const stop = new AbortController()
  const delayed = wallDelay(60_000, stop.signal)
  stop.abort()
  await delayed
  await wallDelay(60_000, stop.signal)
  await wallDelay(1)
})

test('the timers of the platform use the real clock', async () => {
  const { sim, events, arrived } = world({ clock: 'real' })
  const chat = await takenOver(sim)
  const began = sim.clock.now()
  await post(sim, 'typing_start', chat, { timeout: 40 })
  expect(chat.typing).toBe(true)
  await arrived(2)
  expect(events()).toEqual(['AGENT TYPING START', 'AGENT TYPING STOP'])
  expect(chat.typing).toBe(false)
  expect(sim.clock.now() - began).toBeGreaterThanOrEqual(40)
})

test('settled() waits for work in flight and due timers, not for later timers', async () => {
  const { sim } = world({ clock: 'real' })
  const chat = await takenOver(sim)
  await post(sim, 'typing_start', chat, { timeout: 3_600_000 })
  await sim.settled()
  expect(sim.deliveries).toHaveLength(1)
  expect(chat.typing).toBe(true)
})

test('a wall clock that is set back stops neither typing nor idle timers, and shows in timestamps', async () => {
  const { sim } = world({ clock: 'real', knobs: { 'chat.idleTimeout': '80ms' } })
  const chat = await takenOver(sim)
  await post(sim, 'typing_start', chat, { timeout: 40 })
  const now = Date.now
  Date.now = () => now() - 3_600_000
  onTestFinished(() => {
    Date.now = now
  })
  const before = sim.clock.now()
  await sim.journal.waitFor(entry => entry.kind === 'note' && entry.note === 'typing_hidden', { withinMs: 60_000 })
  await sim.journal.waitFor(entry => entry.kind === 'note' && entry.note === 'chat_ended', { withinMs: 60_000 })
  expect(sim.clock.now()).toBeGreaterThanOrEqual(before)
  expect(chat.typing).toBe(false)
})
