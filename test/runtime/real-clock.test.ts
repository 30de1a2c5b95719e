/** Tests the real clock and the wall clock: long timers, and delays that can be aborted. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRealClock, type Timer, wallDelay, wallTimer } from '../../src/base/runtime/clock.ts'
import { post, takenOver, world } from '../support/test-simulator.ts'

const LONGEST_MS = 2_147_483_647

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
  const one = async (delayMs: number) => {
    const due = clock.now() + delayMs
    await new Promise<void>(resolve => clock.after(delayMs, resolve))
    if (clock.now() < due) early.push(due - clock.now())
  }
  for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 40 }, (_, n) => one(1 + (n % 7))))
  expect(early).toEqual([])
})

test('a timer that moved fires once, at its last time: later, earlier, or on a clock that was paused', async () => {
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
  const warned = vi.spyOn(process, 'emitWarning')
  onTestFinished(() => warned.mockRestore())
  const long: Timer[] = []
  const fired = await firing(fire => {
    for (const ms of [LONGEST_MS + 1000, 10 * LONGEST_MS]) long.push(clock.after(ms, () => fire('in some days')))
    long.push(wallTimer(3 * LONGEST_MS, () => fire('in 75 days')))
    expect(clock.nextDue()! - clock.now()).toBeGreaterThan(LONGEST_MS)
    clock.after(20, () => fire('last'))
  })
  for (const timer of long) timer.cancel()
  expect(fired).toEqual(['last'])
  expect(warned).not.toHaveBeenCalled()
})

test('a delay ends at once when its signal is or becomes aborted', async () => {
  const stop = new AbortController()
  const delayed = wallDelay(60_000, stop.signal)
  stop.abort()
  await delayed
  await wallDelay(60_000, stop.signal)
  await wallDelay(1)
})

test('settled() waits for work in flight and due timers, not for later timers', async () => {
  const { sim } = world({ clock: 'real' })
  const chat = await takenOver(sim)
  await post(sim, 'typing_start', chat, { timeout: 3_600_000 })
  await sim.settled()
  expect(sim.deliveries).toHaveLength(1)
  expect(chat.typing).toBe(true)
})

test('a wall clock that is set back stops neither typing nor idle timers', async () => {
  const { sim, events, arrived } = world({ clock: 'real', knobs: { 'chat.idleTimeout': '80ms' } })
  const chat = await takenOver(sim)
  await post(sim, 'typing_start', chat, { timeout: 40 })
  const { now } = Date
  const setBack = vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000)
  onTestFinished(() => setBack.mockRestore())
  const before = sim.clock.now()
  await sim.journal.waitFor(entry => entry.kind === 'note' && entry.note === 'chat_ended', { withinMs: 60_000 })
  await arrived(2)
  expect(sim.clock.now()).toBeGreaterThanOrEqual(before)
  expect([chat.typing, events()]).toEqual([false, ['AGENT TYPING START', 'AGENT TYPING STOP']])
})
