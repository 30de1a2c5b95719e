/** Every value a knob takes has one canonical spelling that reads back as the same value. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allowedFor, formatKnob, KNOB_NAMES, type KnobName, parseKnob } from '../../src/platform/contract/knobs.ts'

/** What users write, one arbitrary per wording of `allowed`. */
const word = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/)
const digits = fc.integer({ min: 0, max: 100_000 })
const duration = fc.oneof(
  fc.tuple(digits, fc.constantFrom('ms', 's', 'm', 'h')).map(([n, unit]) => `${n}${unit}`),
  fc.tuple(digits, fc.integer({ min: 0, max: 999 })).map(([n, part]) => `${n}.${String(part).padStart(3, '0')}s`),
)
const pairs = fc.array(fc.tuple(fc.constantFrom('bot', 'pending', 'agent'), word).map(pair => pair.join('=')))
const origins = fc.array(
  fc.oneof(
    fc.constant('*'),
    word.map(name => `https://${name}.example.test`),
  ),
)
const off = fc.constant('off')
const RAW: [allowed: RegExp, raw: fc.Arbitrary<unknown>][] = [
  [/^a duration/, duration],
  [/^off \| a duration/, fc.oneof(off, duration)],
  [/^off \| a list of durations/, fc.oneof(off, fc.array(duration), fc.array(duration).map(String))],
  [/^off \| a list of end, message/, fc.oneof(off, fc.subarray(['end', 'message']))],
  [/key:bot_id/, fc.array(fc.tuple(word, fc.integer({ min: 1, max: 1e9 })).map(pair => pair.join(':')))],
  [/^off \| a list of pairs/, fc.oneof(off, pairs, pairs.map(String))],
  [/^off \| a list of origins/, fc.oneof(off, origins, origins.map(String))],
  [/^off \| a list of further versions/, fc.oneof(off, fc.array(fc.nat().map(n => `v${n}`)))],
  [
    /calls per window/,
    fc
      .tuple(
        fc.integer({ min: 1, max: 1e6 }),
        duration.filter(d => Number.parseFloat(d) > 0),
      )
      .map(both => both.join('/')),
  ],
  [/^off \| a whole number/, fc.oneof(off, fc.integer({ min: 1 }), fc.integer({ min: 1 }).map(String))],
  [/^a whole number from 1 to 1073741824/, fc.integer({ min: 1, max: 1_073_741_824 })],
  [/^a text that/, fc.string({ minLength: 1, unit: 'binary' })],
  [/^a text$/, fc.string({ unit: 'binary' })],
  [/HTTP header name|^a key/, word],
]

/** `a | b | c`: the words themselves. */
function rawFor(name: KnobName): fc.Arbitrary<unknown> {
  const known = RAW.find(([allowed]) => allowed.test(allowedFor(name)))
  return known ? known[1] : fc.constantFrom(...allowedFor(name).split(' | '))
}

test.each(KNOB_NAMES)('%s reads back what it shows', name => {
  fc.assert(
    fc.property(rawFor(name), raw => {
      const value = parseKnob(name, raw)
      expect(value).toBeDefined()
      const shown = formatKnob(name, value)
      expect(parseKnob(name, shown)).toEqual(value)
      expect(formatKnob(name, parseKnob(name, shown))).toEqual(shown)
    }),
    { numRuns: 60 },
  )
})

const spellings = (name: KnobName, ...raws: unknown[]) => raws.map(raw => parseKnob(name, raw))

describe('spellings of YAML, JSON and flags', () => {
  test('true and false are on and off', () => {
    expect(spellings('strict.sender', true, 'on', false, 'off')).toEqual(['on', 'on', 'off', 'off'])
    expect(spellings('typing.webhook', false)).toEqual(['off'])
    expect(spellings('webhook.retry', false, [], '[]', 'off')).toEqual([[], [], [], []])
    expect(spellings('attachments.ttl', false, 'off')).toEqual([null, null])
  })
  test('true stays true where a value has that name', () => {
    expect(spellings('transcript.takenOver', true, 'true', null, 'null', 'time')).toEqual([
      'true',
      'true',
      'null',
      'null',
      'time',
    ])
  })
  test('numbers are read where a value looks like one', () => {
    expect(spellings('start.again', 409, '409')).toEqual(['409', '409'])
    expect(spellings('limits.body', 5, '5', 0, '0', -1, 1.5, '1e3')).toEqual([5, 5, ...Array(5).fill(undefined)])
  })
  test('lists have the same form in a flag', () => {
    expect(spellings('webhook.retry', '1s,5s', '[1s, 5s]', ['1s', '5s'])).toEqual(Array(3).fill([1000, 5000]))
    expect(spellings('webhook.retry', '1s,', ['1s', 5], {}, 5)).toEqual(Array(4).fill(undefined))
  })
  test('a rate is calls and window and nothing else', () => {
    expect(spellings('limits.rate', '10/1s')).toEqual([{ calls: 10, windowMs: 1000 }])
    const wrong = ['10', '0/1s', '10/0s', '10/1', '10/1s/1s', ' 10/1s', ['10/1s'], '1.5/1s', `${'9'.repeat(30)}/1s`]
    expect(spellings('limits.rate', ...wrong)).toEqual(wrong.map(() => undefined))
  })
  test('a list is not a word', () => {
    expect(spellings('webhook.json', ['compact'], { compact: 1 })).toEqual([undefined, undefined])
    expect(spellings('start.again', ['409'])).toEqual([undefined])
  })
})
