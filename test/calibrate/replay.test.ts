/** The settings that calibrate finds, loaded again, replay the recording without a difference. */
import { expect, test } from 'vitest'
import { readRecording } from '../../src/evaluation/calibration/recording.ts'
import type { KnobSettings } from '../../src/platform/contract/knobs.ts'
import { Replay } from '../../src/running/replayer/replay.ts'
import { exercise } from './exercise.ts'
import { createRecorder } from './recorder.ts'

async function* textOf(lines: readonly string[]) {
  yield `${lines.join('\n')}\n`
}

async function replayed(lines: readonly string[], knobs: KnobSettings) {
  const replay = new Replay(knobs)
  const leaveOut = () => {}
  await readRecording('traffic.jsonl', textOf(lines), { observe: one => replay.prepare(one), leaveOut })
  await readRecording('traffic.jsonl', textOf(lines), { observe: one => replay.replay(one), leaveOut })
  return replay.end()
}

const PLATFORMS: readonly KnobSettings[] = [
  {},
  { 'start.again': '409', 'end.idle': '409', 'typing.response': 'event', 'errors.validation': '422' },
  { 'start.unrequested': '409', 'message.requiresTakeover': 'on', 'strict.sender': 'on', 'api.unknownFields': '400' },
  { 'transcript.handover': 'minimal', 'attachments.whenEmpty': 'absent', 'api.trailingSlash': 'redirect' },
  { 'request.forwardPending': 'on', 'errors.idMismatch': '403', 'availability.closedBlocksStart': 'on' },
]

test.each(PLATFORMS)('replays %j without a difference', async knobs => {
  await using recorder = await createRecorder({ knobs: { 'keys.more': ['second-key:2002'], ...knobs } })
  await exercise(recorder)
  const result = await replayed(recorder.lines(), knobs)
  expect(result.differences).toEqual([])
  expect(result.compared).toBeGreaterThan(150)
})

test('names what the simulator does otherwise', async () => {
  await using recorder = await createRecorder({
    knobs: { 'keys.more': ['second-key:2002'], 'start.again': '409', 'typing.response': 'event' },
  })
  await exercise(recorder)
  const { differences, differenceCount } = await replayed(recorder.lines(), {})
  expect(differenceCount).toBeGreaterThan(1)
  expect(differences[0]).toMatchObject({
    what: 'answer of typing_stop',
    recorded: '200 { chat_id, event AGENT TYPING STOP }',
    simulated: '200 {  }',
  })
  expect(differences.map(one => one.recorded)).toContain('409')
})
