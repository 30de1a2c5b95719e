/** Measures the adapters for unit tests: msw and the interceptors beside a bare msw handler; and creation and reset. */
import { type Figure, median, run } from '../process.ts'

interface Measured {
  readonly msw: number
  readonly bare: number
  readonly intercepted: number
  readonly create: number
  readonly reset: number
}

export async function adapters(): Promise<Figure[]> {
  const runs = Array.from({ length: 3 }, () => run<Measured>(0, 'doors.ts', []))
  const of = (name: keyof Measured) => median(runs.map(one => one[name]))
  const us = (value: number) => `${value.toFixed(0)} us`
  const row = (name: string, value: number, baseline: number | null, goal: string): Figure => ({
    name,
    value: us(value),
    baseline: baseline === null ? '' : us(baseline),
    ratio: baseline === null ? '' : (value / baseline).toFixed(2),
    goal,
  })
  return [
    row('through msw 2, beside a bare msw handler', of('msw'), of('bare'), '<= 1.10'),
    row('through the interceptors, beside a bare msw handler', of('intercepted'), of('bare'), ''),
    row('createSimulator() and reset()', of('create'), null, '<= 1 ms'),
    row('chat() and reset()', of('reset'), null, '<= 1 ms'),
  ]
}
