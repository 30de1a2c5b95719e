import { expect, test } from 'vitest'
import { timelineOf } from '../../../src/evaluation/timeline/timeline.ts'
import { missingMessages } from '../../../src/pages/web/model/chat-items.ts'
import { createLiveRuns, LIVE_ROWS } from '../../../src/pages/web/model/live-runs.ts'
import { liveRun } from '../../../src/pages/web/model/shown-run.ts'
import type { CatalogueScenario, ScenarioStatus } from '../../../src/running/ui-mode/protocol.ts'
import { CHATS, Journal } from '../../reporters/run-results.ts'

const IDLE: ScenarioStatus = { name: 'Ada', state: 'idle', run: null, steps: {}, last: null }
const PLAYING: ScenarioStatus = { ...IDLE, state: 'running', run: 1 }
const ADA: CatalogueScenario = {
  ...{ name: 'Ada', file: 'a.yaml', place: null, description: null },
  ...{ tags: [], spec: [], needs: [], steps: [] },
}

function record(calls: number) {
  const recorder = new Journal()
  for (let count = 0; count < calls; count++) recorder.call('message', { message: `Hello ${count}` })
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
  const tape = new Journal()
  tape.call('start')
  tape.event('MESSAGE FROM USER', 'd1')
  tape.delivery('d1')
  live.add({ name: 'Ada', run: 1, entries: tape.entries.slice(0, -1) })
  const before = live.viewOf(PLAYING)!.rows
  live.add({ name: 'Ada', run: 1, entries: tape.entries })
  const { rows } = live.viewOf(PLAYING)!
  expect(rows).toEqual(timelineOf({ journal: tape.entries, conversations: {}, steps: [], failures: [] }))
  expect(rows[0]).toBe(before[0])
  expect(rows[1]).not.toBe(before[1])
})

test('a chat whose beginning the journal has lost misses an unknown number of messages', () => {
  const tape = new Journal(501)
  tape.call('message', { message: 'Still here' })
  tape.add({ kind: 'note', note: 'handed_back', chat_id: CHATS.main })
  expect(missingMessages(tape.entries)).toBeNull()
})
