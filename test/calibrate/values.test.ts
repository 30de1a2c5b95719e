/** For each knob that traffic shows and each value: a simulator with it plays the platform, and calibrate finds exactly it. */
import { describe, expect, test } from 'vitest'
import { ASSUMPTIONS } from '../../src/platform/contract/assumptions.ts'
import {
  defaultKnobs,
  formatKnob,
  formatKnobs,
  type KnobName,
  parseKnob,
  schemaFor,
} from '../../src/platform/contract/knobs.ts'
import { knobsFrom } from '../../src/platform/simulator/options.ts'
import { calibrated, stateOf, surprises } from './calibrated.ts'
import { exercise } from './exercise.ts'
import { createRecorder } from './recorder.ts'

/** Values of knobs that are no choice, beside the default. */
const VALUES: Readonly<Partial<Record<KnobName, readonly unknown[]>>> = {
  'webhook.signatureHeader': ['X-Signature'],
  'webhook.algorithmHeader': ['X-Signature-Algorithm'],
  'webhook.idHeader': ['X-Delivery-Id'],
  'webhook.retry': [['1s', '5s']],
  'webhook.timeout': ['300ms'],
  'typing.clearOn': ['off', ['message'], ['end', 'message']],
  'limits.body': [65_536],
  'limits.rate': ['50/10s'],
  'attachments.ttl': ['10m'],
  'translation.aliases': [['no=nb']],
  'transcript.state': [['agent=taken_over'], ['pending=waiting', 'bot=idle']],
  'transcript.source': ['off', ['web=widget']],
  'transcript.extra': [['channel=widget']],
  'api.versions': [['v3']],
  'chat.idleTimeout': ['10m'],
}

/** Values at which nothing happens. Silence confirms nothing, so that they are not seen. */
const SILENT: Readonly<Partial<Record<KnobName, unknown>>> = {
  'webhook.retry': 'off',
  'webhook.timeout': '10s',
  'limits.rate': 'off',
  'limits.body': 1_048_576,
  'attachments.ttl': 'off',
  'chat.idleTimeout': 'off',
  'request.repeat': 'ignore',
}

const SHOWN = ASSUMPTIONS.filter(({ class: its }) => its !== 'never')
const DEFAULTS = formatKnobs(defaultKnobs())

const CASES = SHOWN.flatMap(({ knobs }) =>
  knobs.flatMap(knob => {
    const words = schemaFor(knob).enum
    const choices = Array.isArray(words)
      ? words.flatMap(one => (typeof one === 'string' && parseKnob(knob, one) === one ? [one] : []))
      : []
    const values = [...choices, ...(VALUES[knob] ?? [])].filter(
      value => JSON.stringify(value) !== JSON.stringify(DEFAULTS[knob]),
    )
    return values.map(value => [knob, value] as const)
  }),
)

const play = async (knobs: object) => {
  await using recorder = await createRecorder({ knobs: { 'keys.more': ['second-key:2002'], ...knobs } })
  await exercise(recorder, 'webhook.timeout' in knobs)
  return recorder.lines()
}

/** Names of headers have no case, and the order of pairs says nothing. */
const comparable = (value: unknown) =>
  Array.isArray(value) ? value.toSorted() : typeof value === 'string' ? value.toLowerCase() : value

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
    expect({ status, fits: comparable(fits) }).toEqual({
      status: 'contradicted',
      fits: comparable(formatKnob(knob, parseKnob(knob, value))),
    })
    const again = await calibrated(lines, knobsFrom({ [knob]: fits }))
    expect(again.isContradicted).toBe(false)
    expect(stateOf(again)[knob]!.status).toBe('confirmed')
  })
})
