/**
 * For each knob that traffic shows: a simulator with it plays the platform, its traffic is recorded in this process or
 * by `handover-sim proxy`, and calibrate finds exactly its value.
 */
import { describe, expect, test } from 'vitest'
import { formatKnob, type KnobName, parseKnob } from '../../src/platform/contract/knobs.ts'
import { knobsFrom } from '../../src/platform/simulator/options.ts'
import { calibrated, confirmsDefaults, stateOf, surprises } from './calibrated.ts'
import { exercise } from './exercise.ts'
import { createProxiedStage } from './proxied.ts'
import { recordedExercise } from './recorder.ts'
import { CASES, comparable, SILENT } from './values.ts'

type Settings = Readonly<Record<string, unknown>>

/** What the file of a proxy does not show, or not as a value. docs/how-to/calibration.md has the same list. */
const UNREADABLE: Readonly<Record<string, string>> = {
  'webhook.signedContent': 'the proxy does not know the address to which the platform sends',
  'webhook.redirect': 'the platform follows a redirect past the proxy, and the value of Location is masked',
  'keys.shared': 'keys are masked',
  'limits.rate': 'Retry-After of calls is not recorded, so that the length of the window is unknown',
  'api.byteOrderMark': 'the journal has the value of a body, and not its bytes',
}
/** What a proxy shows by the time that something takes, which another test records with fixed times. */
const TIMED = ['webhook.order', 'webhook.timeout']

/** In this process a test finds each value. The same readers read the file of a proxy, so one knob of each part is enough. */
const LAST = [...new Map(CASES)].filter(([knob]) => !TIMED.includes(knob))
const READABLE = LAST.filter(([knob]) => !(knob in UNREADABLE))
const OF_EACH_PART = [...new Map(READABLE.map(row => [row[0].split('.')[0], row] as const)).values()]

async function playThroughProxy(knobs: Settings): Promise<readonly string[]> {
  const stage = await createProxiedStage(knobs)
  await exercise(stage)
  return stage.lines()
}

describe.each([
  ['in this process', recordedExercise, CASES, []],
  ['by a proxy', playThroughProxy, OF_EACH_PART, [...Object.keys(UNREADABLE), ...TIMED]],
] as const)('a recording %s', (_, play, cases, unreadable) => {
  test('confirms every default that is no silence and can be read', async () => {
    await confirmsDefaults(await play({}), unreadable)
  })

  test.each(cases)('shows %s=%j, and contradicts nothing else', async (knob: KnobName, value: unknown) => {
    const lines = await play({ [knob]: value })
    const result = await calibrated(lines)
    expect(surprises(result, knob)).toEqual([])
    const { status, fits } = stateOf(result)[knob]!
    if (SILENT[knob] === value) return expect(status).toBe('not seen')
    expect({ status, fits: comparable(fits) }).toEqual({
      status: 'contradicted',
      fits: comparable(formatKnob(knob, parseKnob(knob, value))),
    })
    const again = await calibrated(lines, knobsFrom({ [knob]: fits }))
    expect(again.isContradicted).toBe(false)
    expect(stateOf(again)[knob]!.status).toBe('confirmed')
  })
})

test.each(LAST.filter(([knob]) => knob in UNREADABLE))(
  'a recording by a proxy shows no other value in place of %s=%j, which cannot be read',
  async (knob, value) => {
    const result = await calibrated(await playThroughProxy({ [knob]: value }))
    expect(surprises(result, ...(knob === 'limits.rate' ? [knob] : []))).toEqual([])
    expect(stateOf(result)[knob]!.fits === undefined || stateOf(result)[knob]!.status === 'confirmed').toBe(true)
  },
)
