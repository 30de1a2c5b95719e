/** Checks that a restored simulator continues like one that was never stopped. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlatformSimulator } from '../../../src/simulator/simulator.ts'
import type { Snapshot } from '../../../src/simulator/snapshot/schema.ts'
import { player, sequel, story, withoutWall } from './story.ts'

const asFile = (snapshot: Snapshot): Snapshot => JSON.parse(JSON.stringify(snapshot)) as Snapshot

const stateOf = (sim: PlatformSimulator) => {
  const { taken_at: _, journal, ...state } = sim.snapshot({ keys: true, journal: true })
  return { ...state, journal: { next_seq: journal.next_seq, entries: withoutWall(journal.entries!) } }
}

test('the same steps after a restore in another simulator give the same results as without it', async () => {
  const wholeStory = fc.tuple(story, sequel, fc.nat())
  await fc.assert(
    fc.asyncProperty(wholeStory, async ([a, b, seed]) => {
      const steady = player({ seed })
      const other = player({ seed: 999, bot: { id: 7, name: 'Other' } })
      await steady.play(a)
      await other.play(b.slice(0, 3))
      await other.sim.restore(asFile(steady.sim.snapshot({ journal: true, keys: true })))
      expect(stateOf(other.sim)).toEqual(stateOf(steady.sim))
      steady.seen.length = 0
      other.seen.length = 0
      await steady.play(b)
      await other.play(b)
      expect(other.seen).toEqual(steady.seen)
      expect(stateOf(other.sim)).toEqual(stateOf(steady.sim))
    }),
    { numRuns: 250 },
  )
})
