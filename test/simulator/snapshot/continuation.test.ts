/** Checks that a simulator that is restored while no event is on its way continues like one that was never stopped. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlatformSimulator } from '../../../src/platform/simulator/simulator.ts'
import type { Snapshot } from '../../../src/platform/simulator/snapshot/schema.ts'
import { firstSteps, laterSteps, player, withoutWall } from './random-steps.ts'

const asFile = (snapshot: Snapshot): Snapshot => JSON.parse(JSON.stringify(snapshot)) as Snapshot

const stateOf = (sim: PlatformSimulator) => {
  const { taken_at: _, journal, ...state } = sim.snapshot({ keys: true, journal: true })
  return { ...state, journal: { nextSeq: journal.nextSeq, entries: withoutWall(journal.entries!) } }
}

test('the same steps after a restore in another simulator give the same results as without it', async () => {
  const steps = fc.tuple(firstSteps, laterSteps, fc.nat())
  await fc.assert(
    fc.asyncProperty(steps, async ([before, after, seed]) => {
      const original = player({ seed })
      const other = player({ seed: 999, bot: { id: 7, name: 'Other' } })
      await original.play([...before, { do: 'clear' }, { do: 'advance', by: '10m' }])
      await other.play(after.slice(0, 3))
      await other.sim.restore(asFile(original.sim.snapshot({ journal: true, keys: true })))
      expect(stateOf(other.sim)).toEqual(stateOf(original.sim))
      original.observed.length = 0
      other.observed.length = 0
      await original.play(after)
      await other.play(after)
      expect(other.observed).toEqual(original.observed)
      expect(stateOf(other.sim)).toEqual(stateOf(original.sim))
    }),
    { numRuns: 40 },
  )
})
