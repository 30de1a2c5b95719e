/** Tests that the JSON of other programs is among the forms. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonForms } from '../../src/platform/signature/mistakes.ts'
import { encodePayload } from '../../src/platform/webhooks/request.ts'
import { unicodeText } from '../support/unicode-text.ts'

const formsOf = (text: string) => new Set([...jsonForms(text)].map(([json]) => json))
const FORMS = ['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'] as const

/** Without numbers and names that JavaScript writes or sorts in another way. */
const plain = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    unicodeText(20),
    fc.integer(),
    fc.constantFrom(true, false, null, 1.5, '\u007f', '</b> & \u2028', 'C:\\new/old "x"', 'Blåbær 🫐'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.string({ unit: 'grapheme-ascii', maxLength: 5 }).map(name => `n${name}`),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value

test('every form of the simulator is found from every other one', () => {
  const form = fc.constantFrom(...FORMS)
  fc.assert(
    fc.property(plain, form, form, (value, from, to) => {
      const sent = encodePayload(value, from)
      expect(formsOf(sent)).toContain(encodePayload(JSON.parse(sent), to))
    }),
    { numRuns: 150 },
  )
})

test('brackets and commas inside of strings are text', () => {
  const value = { 'a,"]}': ['{[,:', '\\', '"', { e: {}, l: [] }] }
  for (const space of [0, 2, 4, '\t'])
    expect(formsOf(JSON.stringify(value))).toContain(JSON.stringify(value, null, space))
})

test('each form occurs once, and invalid JSON has none', () => {
  const all = [...jsonForms('{"a":[1,"ø/<"]}')].map(([json]) => json)
  expect(new Set(all).size).toBe(all.length)
  for (const text of ['', '{', 'undefined', '{"a":1}}', "{'a':1}"]) expect([...jsonForms(text)]).toEqual([])
})

test('.NET escapes quotes, and uses upper case', () => {
  const written = '{"a":"\\u00F8 \\u0022\\u003Cb\\u003E\\u0022 \\u0027\\u002B\\u0060"}'
  expect(formsOf('{"a":"ø \\"<b>\\" \'+`"}')).toContain(written)
})

/** Written by Python 3 with json.dumps and these options. */
test.each([
  ['', '{"b": [1, "\\u00f8/\\ud83e\\uded0"], "a": null}'],
  ['ensure_ascii=False', '{"b": [1, "ø/🫐"], "a": null}'],
  ['sort_keys=True', '{"a": null, "b": [1, "\\u00f8/\\ud83e\\uded0"]}'],
  ['indent=4, ensure_ascii=False', '{\n    "b": [\n        1,\n        "ø/🫐"\n    ],\n    "a": null\n}'],
  ["separators=(',', ':'), ensure_ascii=False, sort_keys=True", '{"a":null,"b":[1,"ø/🫐"]}'],
])('Python with the options "%s"', (_, written) => {
  expect(formsOf('{"b":[1,"ø/🫐"],"a":null}')).toContain(written)
})
