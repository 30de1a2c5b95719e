/**
 * For each knob that traffic shows: a simulator with it plays the platform behind a port, `handover-sim proxy`
 * records an exercise, and calibrate finds exactly its value in the file that the proxy wrote.
 */
import { describe, expect, test } from 'vitest'
import { formatKnob, type KnobName, parseKnob } from '../../src/platform/contract/knobs.ts'
import { knobsFrom } from '../../src/platform/simulator/options.ts'
import { calibrated, stateOf, surprises } from './calibrated.ts'
import { exercise } from './exercise.ts'
import { createProxiedStage } from './proxied.ts'
import { CASES, comparable, DEFAULTS, SHOWN, SILENT } from './values.ts'

/** What the file of a proxy does not show, or not as a value. docs/how-to/calibration.md has the same list. */
const UNREADABLE: Readonly<Record<string, string>> = {
  'webhook.signedContent': 'the proxy does not know the address to which the platform sends',
  'webhook.redirect': 'the platform follows a redirect past the proxy, and the value of Location is masked',
  'keys.shared': 'keys are masked',
  'limits.rate': 'Retry-After of calls is not recorded, so that the length of the window is unknown',
  'api.byteOrderMark': 'the journal has the value of a body, and not its bytes',
}

/** Takes more than a second, so that one event waits for another. */
const SLOW_MS = 1_100

type Settings = Readonly<Record<string, unknown>>

async function play(knobs: Settings): Promise<readonly string[]> {
  const stage = await createProxiedStage(
    knobs,
    'webhook.order' in knobs || Object.keys(knobs).length === 0 ? SLOW_MS : 0,
  )
  await exercise(stage, 'webhook.timeout' in knobs)
  return stage.lines()
}

/** Without a proxy, a test finds each value; through one, the last of each knob is enough. */
const LAST = [...new Map(CASES)]
const READABLE = LAST.filter(([knob]) => UNREADABLE[knob] === undefined)

describe('a recording of the proxy', () => {
  test('confirms every default that is no silence and can be read', async () => {
    const result = await calibrated(await play({}))
    expect(surprises(result)).toEqual([])
    expect(result.findings).toEqual([])
    const behaviours = stateOf(result)
    const names = SHOWN.flatMap(({ name, knobs }): readonly string[] => (knobs.length > 0 ? knobs : [name]))
    const missing = names.filter(
      name =>
        behaviours[name]!.status !== 'confirmed' &&
        (!(name in DEFAULTS) || SILENT[name as KnobName] !== DEFAULTS[name]),
    )
    expect(missing.filter(name => UNREADABLE[name] === undefined)).toEqual([])
  })

  test.each(READABLE)('shows %s=%j, and contradicts nothing else', async (knob, value) => {
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

  test.each(LAST.filter(([knob]) => UNREADABLE[knob] !== undefined))(
    'shows no other value in place of %s=%j, which cannot be read',
    async (knob, value) => {
      const result = await calibrated(await play({ [knob]: value }))
      expect(surprises(result, ...(knob === 'limits.rate' ? [knob] : []))).toEqual([])
      expect(stateOf(result)[knob]!.fits === undefined || stateOf(result)[knob]!.status === 'confirmed').toBe(true)
    },
  )
})
