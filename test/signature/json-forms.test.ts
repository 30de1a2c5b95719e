/** Tests that the JSON of other programs is among the forms. */
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonForms } from '../../src/platform/signature/mistakes.ts'
import { encodePayload } from '../../src/platform/webhooks/request.ts'

const formsOf = (text: string) => new Set([...jsonForms(text)].map(([json]) => json))
const FORMS = ['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'] as const

/** Without numbers and names that JavaScript writes or sorts in another way. */
const plain = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.string({ unit: 'binary', maxLength: 20 }),
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

describe('explain finds every form of the simulator from every other form', () => {
  test.each(FORMS)('%s', from =>
    fc.assert(
      fc.property(plain, fc.constantFrom(...FORMS), (value, to) => {
        const sent = encodePayload(value, from)
        expect(formsOf(sent)).toContain(encodePayload(JSON.parse(sent), to))
      }),
      { numRuns: 25 },
    ),
  )
})

test('brackets and commas inside of strings are text', () => {
  const value = { 'a,"]}': ['{[,:', '\\', '"', { e: {}, l: [] }] }
  for (const space of [0, 2, 4, '\t'])
    expect(formsOf(JSON.stringify(value))).toContain(JSON.stringify(value, null, space))
})

test('.NET escapes quotes, and uses upper case', () => {
  expect(formsOf('{"a":"ø \\"<b>\\" \'+`"}')).toContain(
    '{"a":"\\u00F8 \\u0022\\u003Cb\\u003E\\u0022 \\u0027\\u002B\\u0060"}',
  )
})

test('each form occurs once, and invalid JSON has none', () => {
  const all = [...jsonForms('{"a":[1,"ø/<"]}')].map(([json]) => json)
  expect(new Set(all).size).toBe(all.length)
  for (const text of ['', '{', 'undefined', '{"a":1}}', "{'a':1}"]) expect([...jsonForms(text)]).toEqual([])
})

const PYTHON = `
import json, sys
styles = [{}, dict(ensure_ascii=False), dict(sort_keys=True), dict(indent=2), dict(indent=4, ensure_ascii=False),
  dict(separators=(',', ':')), dict(separators=(',', ':'), ensure_ascii=False, sort_keys=True)]
texts = json.loads(sys.stdin.buffer.read())
print(json.dumps([[json.dumps(json.loads(text), **style) for style in styles] for text in texts]))
`
const hasPython = spawnSync('python3', ['-c', '']).status === 0

test.skipIf(!hasPython)(`what Python writes${hasPython ? '' : ' (skipped: there is no python3 here)'}`, () => {
  const texts = fc.sample(plain, 100).map(value => JSON.stringify(value))
  const { stdout, stderr } = spawnSync('python3', ['-c', PYTHON], { input: JSON.stringify(texts), encoding: 'utf8' })
  expect(stderr).toBe('')
  const written = JSON.parse(stdout) as string[][]
  expect(written).toHaveLength(texts.length)
  for (const [at, styles] of written.entries()) {
    const found = formsOf(texts[at]!)
    for (const style of styles) expect(found).toContain(style)
  }
})
