/** Tests that JSON in pieces is the JSON of the whole value. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { copyJson, jsonPieces, LazyList, LazyText } from '../../src/base/text/json-pieces.ts'
import { createRedactor } from '../../src/base/text/redactor.ts'

const written = (value: unknown) => [...jsonPieces(value)].join('')

test('the pieces joined are the JSON of the value', () => {
  const value = fc.object({
    withNullPrototype: false,
    values: [fc.string({ unit: 'binary' }), fc.double(), fc.boolean(), fc.constant(null), fc.constant(undefined)],
  })
  fc.assert(
    fc.property(value, one => {
      expect(written(one)).toBe(JSON.stringify(one))
      expect(copyJson(one)).toEqual(JSON.parse(JSON.stringify(one)))
    }),
  )
})

test.each([
  [[]],
  [{}],
  [null],
  ['a'],
  [[undefined, [[[[[1]]]]]]],
  [{ a: undefined, b: { c: { d: { e: { f: [1] } } } } }],
])('writes %j as JSON.stringify does', value => expect(written(value)).toBe(JSON.stringify(value)))

test('keeps a field with the name __proto__', () => {
  const value = JSON.parse('{"__proto__":{"a":1},"b":2}')
  expect(written(value)).toBe('{"__proto__":{"a":1},"b":2}')
  expect(JSON.stringify(copyJson(value))).toBe('{"__proto__":{"a":1},"b":2}')
})

test('a lazy list is written as an array, and a lazy text as a string', () => {
  const numbers = new LazyList(() => [1, 2, 3].values())
  const lazy = { numbers, none: new LazyList(() => [].values()), text: new LazyText(() => ['a"', '\\', 'æ'].values()) }
  const plain = { numbers: [1, 2, 3], none: [], text: 'a"\\æ' }
  for (let time = 0; time < 2; time++) {
    expect(written(lazy)).toBe(JSON.stringify(plain))
    expect(copyJson<typeof plain>(lazy)).toEqual(plain)
  }
})

test('a large value has several pieces of a bounded size', () => {
  const pieces = [...jsonPieces({ entries: Array.from({ length: 3000 }, () => ({ text: 'x'.repeat(1000) })) })]
  expect(pieces.length).toBeGreaterThan(5)
  expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThan(300_000)
})

test('parts of a large value are redacted as the whole value is, with their field names', () => {
  const redactor = createRedactor()
  redactor.add('planted-secret', 'pending')
  const items = Array.from({ length: 60 }, (_, at) => ({ status: 'pending', text: `planted-secret ${at}` }))
  const value = { items, status: 'pending', context: { 'planted-secret': items, text: 'pending' } }
  const shown = [...jsonPieces(value, redactor.redactDeep)].join('')
  expect(shown).toBe(JSON.stringify(redactor.redactDeep(value)))
  expect(shown).not.toContain('planted-secret')
})
