/** Tests the timers that stop while the process is blocked. */
import { expect, test } from 'vitest'
import { elapsedMs, wallDelay } from '../../src/base/runtime/clock.ts'
import { createRealClock } from '../../src/base/runtime/real-clock.ts'
import { useStallTolerantTimers } from './stall-tolerant-timers.ts'

/** Blocks this thread. */
const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const nextMacrotask = () => new Promise<void>(resolve => setImmediate(resolve))

const node = setTimeout(() => {}, 0)
clearTimeout(node)

test('a blocked process does not advance clocks or timers', async () => {
  useStallTolerantTimers()
  const clock = createRealClock()
  const began = [elapsedMs(), clock.now()] as const
  let late = false
  clock.after(60, () => {
    late = true
  })
  for (let count = 0; count < 10; count++) {
    pause(30)
    await nextMacrotask()
  }
  expect(late).toBe(false)
  expect(elapsedMs() - began[0]).toBeLessThan(60)
  expect(clock.now() - began[1]).toBeLessThan(60)
})

test('timers fire in the order of their delays and never early, also after a pause', async () => {
  useStallTolerantTimers()
  const began = elapsedMs()
  const fired: number[] = []
  const delays = [20, 5, 12, 5]
  const all = delays.map(ms => wallDelay(ms).then(() => fired.push(ms)))
  pause(50)
  const cancelled = setTimeout(() => fired.push(0), 1)
  clearTimeout(cancelled)
  await Promise.all(all)
  expect(fired).toEqual([5, 5, 12, 20])
  expect(elapsedMs() - began).toBeGreaterThanOrEqual(20)
})

test('without useStallTolerantTimers, timers are those of Node', () => {
  const timer = setTimeout(() => {}, 0)
  clearTimeout(timer)
  expect(timer.constructor).toBe(node.constructor)
})
