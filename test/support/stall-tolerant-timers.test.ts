/** Time of tests: it stands still while the machine does, keeps the order of timers, and ends with its test. */
import { expect, test } from 'vitest'
import { createRealClock, elapsedMs, wallDelay } from '../../src/runtime/clock.ts'
import { useStallTolerantTimers } from './stall-tolerant-timers.ts'

/** As when the machine stops: nothing of this thread runs. */
const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const turn = () => new Promise<void>(resolve => setImmediate(resolve))

const node = setTimeout(() => {}, 0)
clearTimeout(node)

test('a pause of the machine is no time for anybody', async () => {
  useStallTolerantTimers()
  const clock = createRealClock()
  const began = [elapsedMs(), clock.now()] as const
  let late = false
  clock.after(60, () => {
    late = true
  })
  for (let count = 0; count < 10; count++) {
    pause(30)
    await turn()
  }
  expect(late).toBe(false)
  expect(elapsedMs() - began[0]).toBeLessThan(60)
  expect(clock.now() - began[1]).toBeLessThan(60)
})

test('timers fire in the order of their delays and not before their time, whatever happens in between', async () => {
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

test('by itself, timers are those of Node', () => {
  const timer = setTimeout(() => {}, 0)
  clearTimeout(timer)
  expect(timer.constructor).toBe(node.constructor)
})
