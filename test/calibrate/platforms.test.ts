/** Platforms with several settings: calibrate finds them, and with them the recording replays without a difference. */
import { expect, test } from 'vitest'
import { readRecording } from '../../src/evaluation/calibration/recording.ts'
import type { KnobSettings } from '../../src/platform/contract/knobs.ts'
import { Replay } from '../../src/running/replayer/replay.ts'
import { calibrated, confirmsDefaults, stateOf, surprises, textOf } from './calibrated.ts'
import { recordedExercise } from './recorder.ts'
import { comparable } from './values.ts'

async function replayed(lines: readonly string[], knobs: KnobSettings) {
  const replay = new Replay(knobs)
  await readRecording('traffic.jsonl', textOf(lines), { observe: one => replay.prepare(one) })
  await readRecording('traffic.jsonl', textOf(lines), { observe: one => replay.replay(one) })
  return replay.end()
}

test('the exercise confirms every default that is no silence', async () => {
  const lines = await recordedExercise({})
  await confirmsDefaults(lines)
  const overHttp2 = lines.map(line => line.replace('"headers":{', '"headers":{":path":"/",'))
  expect((await replayed(overHttp2, {})).differences).toEqual([])
})

test.each<KnobSettings>([
  { 'start.again': '409', 'end.idle': '409', 'typing.response': 'event', 'errors.validation': '422' },
  { 'start.unrequested': '409', 'message.requiresTakeover': 'on', 'strict.sender': 'on', 'api.unknownFields': '400' },
  { 'transcript.handover': 'minimal', 'attachments.whenEmpty': 'absent', 'api.trailingSlash': 'redirect' },
  { 'request.forwardPending': 'on', 'errors.idMismatch': '403', 'availability.closedBlocksStart': 'on' },
])('%j is found, and replays without a difference', async knobs => {
  const lines = await recordedExercise(knobs)
  const result = await calibrated(lines)
  expect(surprises(result, ...Object.keys(knobs))).toEqual([])
  const found = Object.keys(knobs).map(name => [name, comparable(stateOf(result)[name]!.fits)])
  expect(Object.fromEntries(found)).toEqual(knobs)
  const { differences, compared } = await replayed(lines, knobs)
  expect(differences).toEqual([])
  expect(compared).toBeGreaterThan(150)
})

test('a replay names what the simulator does otherwise', async () => {
  const lines = await recordedExercise({ 'start.again': '409', 'typing.response': 'event' })
  const { differences, differenceCount } = await replayed(lines, {})
  expect(differenceCount).toBeGreaterThan(1)
  expect(differences[0]).toMatchObject({
    what: 'answer of typing_stop',
    recorded: '200 { chat_id, event AGENT TYPING STOP }',
    simulated: '200 {  }',
  })
  expect(differences.map(one => one.recorded)).toContain('409')
})
