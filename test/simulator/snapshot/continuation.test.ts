/** Plays the same random steps in two simulators: the same seed, or the same snapshot, gives the same results. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstSteps, laterSteps, player, stateOf } from './random-steps.ts'

test('after a restore in another simulator, the same steps give the same results as without it', async () => {
  await fc.assert(
    fc.asyncProperty(firstSteps, laterSteps, fc.nat(), async (before, after, seed) => {
      const original = await player({ seed })
      const other = await player({ seed: 999, bot: { id: 7, name: 'Other' } })
      // No event is on its way when the snapshot is taken.
      await original.play([...before, ['clear', 0], ['advance', 0, '10m']])
      await other.play(after.slice(0, 3))
      await other.sim.restore(JSON.parse(JSON.stringify(original.sim.snapshot({ journal: true, keys: true }))))
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

test('the same seed and the same steps with faults give the same events, answers and journal twice', async () => {
  await fc.assert(
    fc.asyncProperty(firstSteps, fc.nat(), async (steps, seed) => {
      const [first, second] = [await player({ seed }), await player({ seed })]
      for (const { play } of [first, second]) await play(steps)
      expect(second.observed).toEqual(first.observed)
      expect(stateOf(second.sim)).toEqual(stateOf(first.sim))
    }),
    { numRuns: 15 },
  )
})
