/** Measures one request without a socket: as plain data, and through `fetch` beside a bare fetch handler. */
import { type Figure, median, run } from '../process.ts'

export async function inProcess(): Promise<Figure[]> {
  const runs = Array.from({ length: 5 }, () =>
    run<{ handle: number; fetch: number; bare: number }>(0, 'in-process.ts', []),
  )
  const of = (name: 'handle' | 'fetch' | 'bare') => median(runs.map(one => one[name]))
  const us = (value: number) => `${value.toFixed(1)} us`
  return [
    {
      name: 'in-process, plain data',
      value: us(of('handle')),
      baseline: us(of('bare')),
      ratio: (of('handle') / of('bare')).toFixed(2),
      goal: '<= 20 us',
    },
    {
      name: 'in-process, fetch(Request)',
      value: us(of('fetch')),
      baseline: us(of('bare')),
      ratio: (of('fetch') / of('bare')).toFixed(2),
      goal: '',
    },
  ]
}
