import { expect, test } from 'vitest'
import type { CatalogueScenario, ScenarioStatus } from '../../../src/ui-mode/protocol.ts'
import { createLivePlays, livePlay, MOST_LIVE_ROWS } from '../../../src/web/model/shown-play.ts'
import { createTape } from '../report/journal-recorder.ts'

const IDLE: ScenarioStatus = { name: 'Ada', state: 'idle', play: null, steps: {}, last: null }
const PLAYING: ScenarioStatus = { ...IDLE, state: 'playing', play: 1 }
const ADA: CatalogueScenario = {
  ...{ name: 'Ada', file: 'a.yaml', place: null, description: null },
  ...{ tags: [], spec: [], needs: [], steps: [] },
}

function record(calls: number) {
  const recorder = createTape()
  for (let count = 0; count < calls; count++) recorder.call('message', 'c1', { message: `Hello ${count}` })
  return recorder.entries
}

test('entries that a new stream repeats are stored once, and those of an ended play not at all', () => {
  const live = createLivePlays()
  const entries = record(3)
  live.add({ name: 'Ada', play: 1, entries: entries.slice(0, 2) })
  live.add({ name: 'Ada', play: 1, entries })
  live.keepOnly(PLAYING)
  expect(live.entriesOf(PLAYING)).toEqual(entries)
  expect(live.entriesOf({ ...PLAYING, play: 2 })).toEqual([])
  live.keepOnly(IDLE)
  expect(live.entriesOf(PLAYING)).toEqual([])
})

test('a play under way shows its last rows, and how many are before them', () => {
  const entries = record(MOST_LIVE_ROWS + 5)
  const { rows, earlierRows, entries: shown } = livePlay(ADA, PLAYING, entries)
  expect([rows.length, earlierRows, shown.length]).toEqual([MOST_LIVE_ROWS, 5, MOST_LIVE_ROWS + 5])
  expect(rows.at(-1)!.seq).toBe(entries.at(-1)!.seq)
})
