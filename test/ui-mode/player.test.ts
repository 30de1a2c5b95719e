import { expect, it } from 'vitest'
import { createSecrets } from '../../src/platform/journal/mask.ts'
import type { SelectedScenario } from '../../src/running/runner/schedule.ts'
import { createPlayer, type PlayRun } from '../../src/running/ui-mode/player.ts'
import { createScenarioStates, nameOf } from '../../src/running/ui-mode/scenario-states.ts'

const scenarioNamed = (name: string) => ({ plan: { name }, instance: 1 }) as SelectedScenario

it('plays what is asked for while a run stops in the next run', async () => {
  const runs: string[][] = []
  const ends: (() => void)[] = []
  const play: PlayRun = ({ wanted }) => {
    runs.push(wanted.map(nameOf))
    return new Promise((_, reject) => ends.push(() => reject(new Error('interrupted'))))
  }
  const secrets = createSecrets()
  const states = createScenarioStates(secrets, () => {})
  const playable = () => [scenarioNamed('Ada'), scenarioNamed('Bo')]
  const player = createPlayer({ play, states, secrets, playable, onChange: () => {} })
  player.play(['Ada'])
  const stopped = player.stop()
  expect(player.status().state).toBe('stopping')
  expect(player.play(['Bo'])).toEqual(['Bo'])
  ends[0]!()
  await stopped
  expect(runs).toEqual([['Ada'], ['Bo']])
  expect(player.status().state).toBe('playing')
  const ended = player.stop()
  ends[1]!()
  await ended
  expect(player.status().state).toBe('idle')
})
