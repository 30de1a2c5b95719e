/** For each knob that traffic shows and each value: a simulator with it plays the platform, and calibrate finds exactly it. */
import { describe, expect, test } from 'vitest'
import { formatKnob, type KnobName, parseKnob } from '../../src/platform/contract/knobs.ts'
import { knobsFrom } from '../../src/platform/simulator/options.ts'
import { calibrated, stateOf, surprises } from './calibrated.ts'
import { exercise } from './exercise.ts'
import { createRecorder } from './recorder.ts'
import { CASES, comparable, DEFAULTS, SHOWN, SILENT } from './values.ts'

const play = async (knobs: object) => {
  await using recorder = await createRecorder({ knobs: { 'keys.more': ['second-key:2002'], ...knobs } })
  await exercise(recorder, 'webhook.timeout' in knobs)
  return recorder.lines()
}

describe('the exercise', () => {
  test('confirms every default that is no silence', async () => {
    const result = await calibrated(await play({}))
    expect(surprises(result)).toEqual([])
    expect(result.findings.filter(({ kind }) => kind === 'difference')).toEqual([])
    const behaviours = stateOf(result)
    const names = SHOWN.flatMap(({ name, knobs }): readonly string[] => (knobs.length > 0 ? knobs : [name]))
    const missing = names.filter(
      name =>
        behaviours[name]!.status !== 'confirmed' &&
        (!(name in DEFAULTS) || SILENT[name as KnobName] !== DEFAULTS[name]),
    )
    expect(missing.join()).toEqual('')
  })

  test.each(CASES)('%s=%j comes back, and nothing else is contradicted', async (knob, value) => {
    const lines = await play({ [knob]: value })
    const result = await calibrated(lines)
    expect(surprises(result, knob)).toEqual([])
    const { status, fits } = stateOf(result)[knob]!
    if (SILENT[knob] === value) return expect(status).toBe('not seen')
    expect({ status, fits: comparable(knob, fits) }).toEqual({
      status: 'contradicted',
      fits: comparable(knob, formatKnob(knob, parseKnob(knob, value))),
    })
    const again = await calibrated(lines, knobsFrom({ [knob]: fits }))
    expect(again.isContradicted).toBe(false)
    expect(stateOf(again)[knob]!.status).toBe('confirmed')
  })
})
