import { describe, expect, it } from 'vitest'
import { causeOf } from '../../src/pages/reporters/failures.ts'
import { createProgress } from '../../src/pages/reporters/progress.ts'
import { failure, scenarioResult } from './run-results.ts'

function ended(given?: Parameters<typeof scenarioResult>[0]) {
  const { name, outcome, durationMs, ...rest } = scenarioResult(given)
  return { name, outcome, durationMs, cause: causeOf(rest) }
}

/** A wall clock that tests advance. */
function wall() {
  let nowMs = 0
  const timers = new Set<{ at: number; run: () => void }>()
  return {
    now: () => nowMs,
    after(delayMs: number, run: () => void) {
      const timer = { at: nowMs + delayMs, run }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer) }
    },
    pass(ms: number) {
      const until = nowMs + ms
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
        if (due === undefined) break
        timers.delete(due)
        nowMs = due.at
        due.run()
      }
      nowMs = until
    },
    timers,
  }
}

function watch(isTTY: boolean, columns = 100) {
  const time = wall()
  const written: string[] = []
  const output = { write: (more: string) => void written.push(more) }
  const progress = createProgress({ output, isTTY, columns, colorLevel: 0, ...time })
  progress.planned(40)
  const taken = () => written.splice(0).join('')
  return { progress, time, taken }
}

describe('without a terminal', () => {
  it('a line appears when a scenario has ended and did not pass', () => {
    const { progress, taken } = watch(false)
    progress.started('Happy path')
    expect(taken()).toBe('')
    progress.finished(ended())
    progress.finished(ended({ name: 'Other', outcome: 'fail', failures: [failure({ happened: 'no call came' })] }))
    progress.finished(ended({ name: 'Third', outcome: 'inconclusive', reason: 'no driver' }))
    progress.stop()
    expect(taken()).toBe(
      ' 2/40  FAIL Other, 640 ms: no call came (expected: expect message)\n 3/40  INCONCLUSIVE Third, 640 ms: no driver\n',
    )
  })

  it('lines are written together ten times a second, and at the end', () => {
    const { progress, time, taken } = watch(false)
    const failed = (name: string) => progress.finished(ended({ name, outcome: 'error', reason: 'why' }))
    for (const name of ['A', 'B', 'C', 'D']) progress.started(name)
    failed('A')
    failed('B')
    expect(taken()).toBe('')
    time.pass(100)
    expect(taken()).toBe(' 1/40  ERROR A, 640 ms: why\n 2/40  ERROR B, 640 ms: why\n')
    failed('C')
    progress.stop()
    expect(taken()).toBe(' 3/40  ERROR C, 640 ms: why\n')
  })

  it('the number of those that have ended appears after ten seconds without a line', () => {
    const { progress, time, taken } = watch(false)
    for (const name of ['A', 'B', 'C']) progress.started(name)
    time.pass(30_000)
    expect(taken()).toBe('')
    progress.finished(ended({ name: 'A' }))
    time.pass(100)
    expect(taken()).toBe(' 1/40  ended\n')
    progress.finished(ended({ name: 'B', outcome: 'fail' }))
    time.pass(9000)
    expect(taken()).toBe(' 2/40  FAIL B, 640 ms\n')
    progress.finished(ended({ name: 'A' }))
    time.pass(900)
    expect(taken()).toBe('')
    time.pass(1000)
    expect(taken()).toBe(' 3/40  ended, 1 failed\n')
    time.pass(20_000)
    expect(taken()).toBe('')
  })

  it('a line appears once for a step longer than five seconds', () => {
    const { progress, time, taken } = watch(false)
    progress.started('Happy path')
    progress.waiting('Happy path', 'start in chat main', 0, 30_000)
    time.pass(4900)
    expect(taken()).toBe('')
    time.pass(20_000)
    expect(taken()).toBe(' 0/40  Happy path: waiting for start in chat main, 5.0 s of 30.0 s\n')
  })

  it('the duration counts from the start of the step', () => {
    const { progress, time, taken } = watch(false)
    progress.started('Happy path')
    time.pass(3000)
    progress.step('Happy path', { number: 2, label: 'expect start' })
    time.pass(4900)
    expect(taken()).toBe('')
    time.pass(1000)
    expect(taken()).toBe(' 0/40  Happy path: step 2: expect start, 5.0 s\n')
  })
})

describe('on a terminal', () => {
  const CLEAR = '\r\u001b[2K'

  it('one line shows the current step, its duration and the number of others', () => {
    const { progress, time, taken } = watch(true)
    progress.started('Happy path')
    progress.waiting('Happy path', 'start in chat main', 0, 5000)
    time.pass(3200)
    expect(taken().split(CLEAR).at(-1)).toBe(' 0/40  Happy path: waiting for start in chat main, 3.2 s of 5.0 s')
    progress.started('Other')
    time.pass(100)
    expect(taken()).toBe(`${CLEAR} 0/40  Happy path: waiting for start in chat main, 3.3 s of 5.0 s (and 1 more)`)
    progress.finished(ended({ outcome: 'fail' }))
    time.pass(100)
    expect(taken()).toBe(`${CLEAR} 1/40, 1 failed  Other`)
    progress.stop()
    expect(taken()).toBe(CLEAR)
  })

  it('the line never wraps', () => {
    const { progress, time, taken } = watch(true, 30)
    progress.started('A scenario with quite a long name')
    time.pass(100)
    expect(taken()).toBe(`${CLEAR} 0/40  A scenario with quite…`)
  })

  it('the line shortens the step, not its duration', () => {
    const { progress, time, taken } = watch(true, 60)
    progress.started('Happy path')
    progress.started('Other')
    progress.waiting('Happy path', 'message { message: "We will look into it at once" }', 0, 5000)
    time.pass(100)
    expect(taken()).toBe(`${CLEAR} 0/40  Happy path: waiting f…, 100 ms of 5.0 s (and 1 more)`)
  })

  it('text cannot move the cursor', () => {
    const { progress, time, taken } = watch(true)
    progress.started('a\u001b[2Jb\n')
    progress.waiting('a\u001b[2Jb\n', '\u202ex', 0)
    time.pass(100)
    expect(taken()).toBe(`${CLEAR} 0/40  a<U+001B>[2Jb\\n: waiting for <U+202E>x, 100 ms`)
  })
})

it.each([true, false])('leaves no timer when it is stopped, or nothing runs (terminal: %s)', isTTY => {
  const { progress, time } = watch(isTTY)
  progress.started('Happy path')
  progress.finished(ended())
  time.pass(2000)
  expect(time.timers.size).toBe(0)
  progress.started('Happy path')
  expect(time.timers.size).toBe(1)
  progress.stop()
  expect(time.timers.size).toBe(0)
})
