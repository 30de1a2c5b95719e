import { expect, it } from 'vitest'
import { createSecrets } from '../../src/platform/journal/mask.ts'
import type { SelectedScenario } from '../../src/running/runner/schedule.ts'
import { createRunQueue, type StartRun } from '../../src/running/ui-mode/run-queue.ts'
import { createScenarioStates } from '../../src/running/ui-mode/scenario-states.ts'

const scenarioNamed = (name: string) => ({ plan: { name }, instance: 1 }) as SelectedScenario

it('runs what is asked for while a run stops in the next run', async () => {
  const runs: string[][] = []
  const ends: (() => void)[] = []
  const startRun: StartRun = ({ wanted }) => {
    runs.push(wanted.map(({ plan }) => plan.name))
    return new Promise((_, reject) => ends.push(() => reject(new Error('interrupted'))))
  }
  const secrets = createSecrets()
  const states = createScenarioStates(secrets, () => {})
  const runnable = () => [scenarioNamed('Ada'), scenarioNamed('Bo')]
  const queue = createRunQueue({ startRun, states, secrets, runnable, onChange: () => {} })
  queue.add(['Ada'])
  const stopped = queue.stop()
  expect(queue.status().state).toBe('stopping')
  expect(queue.add(['Bo'])).toEqual(['Bo'])
  ends[0]!()
  await stopped
  expect(runs).toEqual([['Ada'], ['Bo']])
  expect(queue.status().state).toBe('running')
  const ended = queue.stop()
  ends[1]!()
  await ended
  expect(queue.status().state).toBe('idle')
})
