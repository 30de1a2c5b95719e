/** How long a run waits for late calls, with a clock that moves on with each reading. */
import { expect, it, vi } from 'vitest'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { runRows } from './table.ts'

/** Before the modules under test are loaded, because they keep the function. */
vi.hoisted(() => {
  const now = performance.now.bind(performance)
  let readings = 0
  // Slower than the timers, so that a timer can fire just before its moment.
  performance.now = () => now() * 0.98 + readings++ * 0.1
})

it('a run ends as soon as it has been quiet for the time of the scenario, also when that moment passes between two readings', async () => {
  const quiet = {
    quiet: {
      head: 'exclusive: true\ntimeouts: { settle: 20ms }',
      steps: '- check: { status: bot }',
      is: 'pass',
    },
  } as const
  const { scenarios } = await runRows(await startScriptedIntermediary(), quiet, { flags: ['--repeat', '60'] })
  const slow = scenarios.filter(({ duration_ms }) => duration_ms > 1_500)
  expect([scenarios.length, slow]).toEqual([60, []])
})
