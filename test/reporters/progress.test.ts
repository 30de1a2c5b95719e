import { describe, expect, it } from 'vitest'
import { causeOf } from '../../src/pages/reporters/failures.ts'
import { createProgress } from '../../src/pages/reporters/progress.ts'
import { because, failure, scenarioResult } from './run-results.ts'

function ended(given?: Parameters<typeof scenarioResult>[0]) {
  const { name, outcome, durationMs, ...rest } = scenarioResult(given)
  return { name, outcome, durationMs, cause: causeOf(rest) }
}

/** Progress with a clock that the test advances. `taken` returns what was written since the last call. */
function watch(isTTY: boolean, columns = 100, isPaused = () => false, isReported = false) {
  let nowMs = 0
  const timers = new Set<{ at: number; run: () => void }>()
  const written: string[] = []
  const progress = createProgress({
    ...{ isTTY, columns, colorLevel: 0, isPaused, isReported },
    output: { write: (more: string) => void written.push(more) },
    now: () => nowMs,
    after(delayMs: number, run: () => void) {
      const timer = { at: nowMs + delayMs, run }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer) }
    },
  })
  const pass = (ms: number) => {
    const until = nowMs + ms
    for (;;) {
      const due = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
      if (due === undefined) break
      timers.delete(due)
      nowMs = due.at
      due.run()
    }
    nowMs = until
  }
  progress.planned(40)
  const taken = () => written.splice(0).join('')
  const writtenAfter = (ms: number) => {
    pass(ms)
    return taken()
  }
  return { progress, pass, timers, taken, writtenAfter }
}

describe('without a terminal', () => {
  it('a line appears when a scenario has ended and did not pass; lines are written ten times a second', () => {
    const { progress, pass, taken } = watch(false)
    for (const name of ['Happy path', 'Other', 'Third', 'SIG-02', 'SIG-03']) progress.started(name)
    progress.finished(ended())
    progress.finished(ended({ name: 'Other', outcome: 'fail', failures: [failure({ happened: 'no call came' })] }))
    progress.finished(ended({ name: 'Third', outcome: 'inconclusive', reason: because('no driver') }))
    expect(taken()).toBe('')
    pass(100)
    const [other, third] = taken().split('\n')
    expect(other).toBe(' 2/40  FAIL Other, 640 ms: no call came (expected: expect message)')
    expect(third).toBe(' 3/40  INCONCLUSIVE Third, 640 ms: no driver')
    const end = ended({ name: 'SIG-02', outcome: 'error', reason: because('why') })
    progress.finished({ ...end, title: 'SIG-02 An event has no effect' })
    progress.stop()
    expect(taken()).toBe(' 4/40  ERROR SIG-02 An event has no effect, 640 ms: why\n')
  })

  it('has only the names of failures when a report with the causes follows', () => {
    const { progress, writtenAfter } = watch(false, 100, undefined, true)
    for (const name of ['Happy path', 'Other']) progress.started(name)
    progress.finished(ended({ outcome: 'inconclusive' }))
    progress.finished(ended({ name: 'Other', outcome: 'fail', failures: [failure({ happened: 'no call came' })] }))
    expect(writtenAfter(100)).toBe(' 2/40  FAIL Other, 640 ms\n')
  })

  it('what still runs appears after ten seconds without a line', () => {
    const { progress, writtenAfter } = watch(false)
    for (const name of ['A', 'B', 'C']) progress.started(name)
    expect(writtenAfter(30_000)).toBe('')
    progress.finished(ended({ name: 'A' }))
    expect(writtenAfter(100)).toBe(' 1/40  B and 1 more still run\n')
    progress.finished(ended({ name: 'B', outcome: 'fail' }))
    expect(writtenAfter(9000)).toBe(' 2/40  FAIL B, 640 ms\n')
    progress.started('D')
    progress.finished(ended({ name: 'C' }))
    expect(writtenAfter(900)).toBe('')
    expect(writtenAfter(1000)).toBe(' 3/40, 1 failed  D still runs\n')
    expect(writtenAfter(20_000)).toBe('')
  })

  it('a step longer than five seconds has a line, once, with its duration', () => {
    const { progress, writtenAfter } = watch(false)
    progress.started('Happy path')
    progress.waiting('Happy path', 'start in chat main', 0, 30_000)
    expect(writtenAfter(4900)).toBe('')
    expect(writtenAfter(20_000)).toBe(' 0/40  Happy path: waiting for start in chat main, 5.0 s of 30.0 s\n')
    progress.step('Happy path', { number: 2, label: 'expect start' })
    expect(writtenAfter(6000)).toBe(' 0/40  Happy path: step 2: expect start, 5.0 s\n')
  })
})

describe('on a terminal', () => {
  const CLEAR = '\r\u001b[2K'

  it('one line shows the current step, its duration and the number of others', () => {
    const { progress, writtenAfter, taken } = watch(true)
    const waiting = `${CLEAR} 0/40  Happy path: waiting for start in chat main`
    progress.started('Happy path')
    progress.waiting('Happy path', 'start in chat main', 0, 5000)
    expect(writtenAfter(3200).endsWith(`${waiting}, 3.2 s of 5.0 s`)).toBe(true)
    progress.started('Other')
    expect(writtenAfter(100)).toBe(`${waiting}, 3.3 s of 5.0 s (and 1 more)`)
    progress.finished(ended({ outcome: 'fail' }))
    expect(writtenAfter(100)).toBe(`${CLEAR} 1/40, 1 failed  Other`)
    progress.stop()
    expect(taken()).toBe(CLEAR)
  })

  it.each([
    [30, 'A scenario with quite a long name', null, 'A scenario with quite…'],
    [50, 'Happy path', 'message { message: "Hello" }', 'Happy path: waiting for…, 100 ms of 5.0 s'],
    [100, 'a\u001b[2Jb\n', '\u202ex', 'a<U+001B>[2Jb\\n: waiting for <U+202E>x, 100 ms of 5.0 s'],
  ])('the line never wraps in %i columns', (columns, name, step, shown) => {
    const { progress, writtenAfter } = watch(true, columns)
    progress.started(name)
    if (step !== null) progress.waiting(name, step, 0, 5000)
    expect(writtenAfter(100)).toBe(`${CLEAR} 0/40  ${shown}`)
  })
})

it('draws nothing over a question to a person', () => {
  const { progress, writtenAfter } = watch(true, 100, () => true)
  progress.started('Happy path')
  expect(writtenAfter(2000)).toBe('')
})

it.each([true, false])('leaves no timer when it is stopped, or nothing runs (terminal: %s)', isTTY => {
  const { progress, pass, timers } = watch(isTTY)
  progress.started('Happy path')
  progress.finished(ended())
  pass(2000)
  expect(timers.size).toBe(0)
  progress.started('Happy path')
  expect(timers.size).toBe(1)
  progress.stop()
  expect(timers.size).toBe(0)
})
