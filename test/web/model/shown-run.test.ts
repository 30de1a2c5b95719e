import { expect, test } from 'vitest'
import { timelineOf } from '../../../src/evaluation/timeline/timeline.ts'
import { missingMessages } from '../../../src/pages/web/model/chat-items.ts'
import { createLiveRuns, LIVE_ROWS } from '../../../src/pages/web/model/live-runs.ts'
import { liveRun } from '../../../src/pages/web/model/shown-run.ts'
import type { CatalogueScenario, ScenarioStatus } from '../../../src/running/ui-mode/protocol.ts'
import { createTape } from '../report/journal-recorder.ts'

const IDLE: ScenarioStatus = { name: 'Ada', state: 'idle', run: null, steps: {}, last: null }
const PLAYING: ScenarioStatus = { ...IDLE, state: 'running', run: 1 }
const ADA: CatalogueScenario = {
  ...{ name: 'Ada', file: 'a.yaml', place: null, description: null },
  ...{ tags: [], spec: [], needs: [], steps: [] },
}

function record(calls: number) {
  const recorder = createTape()
  for (let count = 0; count < calls; count++) recorder.call('message', 'c1', { message: `Hello ${count}` })
  return recorder.entries
}

test('entries that a new stream repeats are stored once, and those of an ended run not at all', () => {
  const live = createLiveRuns()
  const entries = record(3)
  live.add({ name: 'Ada', run: 1, entries: entries.slice(0, 2) })
  live.add({ name: 'Ada', run: 1, entries })
  live.keepOnly(PLAYING)
  expect(live.viewOf(PLAYING)?.entries).toEqual(entries)
  expect(live.viewOf({ ...PLAYING, run: 2 })).toBeNull()
  live.keepOnly(IDLE)
  expect(live.viewOf(PLAYING)).toBeNull()
})

test('a run under way shows its last rows, and how many are before them', () => {
  const live = createLiveRuns()
  const entries = record(LIVE_ROWS + 75)
  live.add({ name: 'Ada', run: 1, entries })
  const { rows, earlierRows, entries: shown } = liveRun(ADA, PLAYING, live.viewOf(PLAYING))
  expect([rows.length, earlierRows, shown.length]).toEqual([LIVE_ROWS + 25, 50, LIVE_ROWS + 75])
  expect(rows.at(-1)!.seq).toBe(entries.at(-1)!.seq)
})

test('a run under way shows the rows of the timeline of its entries', () => {
  const live = createLiveRuns()
  const tape = createTape()
  tape.call('start', 'c1')
  tape.event('MESSAGE FROM USER', 'c1')
  live.add({ name: 'Ada', run: 1, entries: tape.entries.slice(0, -1) })
  const before = live.viewOf(PLAYING)!.rows
  live.add({ name: 'Ada', run: 1, entries: tape.entries })
  const { rows } = live.viewOf(PLAYING)!
  expect(rows).toEqual(timelineOf({ journal: tape.entries, conversations: {}, steps: [], failures: [] }))
  expect(rows[0]).toBe(before[0])
  expect(rows[1]).not.toBe(before[1])
})

test('a new entry costs the same after 2,000 entries and after 20,000', () => {
  const entries = record(20_000)
  const live = createLiveRuns()
  live.add({ name: 'Ada', run: 1, entries: entries.slice(0, -400) })
  const begun = performance.now()
  for (let count = entries.length - 400; count < entries.length; count++) {
    live.add({ name: 'Ada', run: 1, entries: entries.slice(count, count + 1) })
    liveRun(ADA, PLAYING, live.viewOf(PLAYING))
  }
  // A quarter of a second without other work; reading all entries again took 15 s.
  expect(performance.now() - begun).toBeLessThan(3_000)
})

test('a chat whose beginning the journal has lost misses an unknown number of messages', () => {
  const tape = createTape(501)
  tape.call('message', 'c1', { message: 'Still here' })
  tape.add({ kind: 'note', note: 'handed_back', chat_id: 'c1' })
  expect(missingMessages(tape.entries)).toBeNull()
})
