/** What fits what, and how a difference reads. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stripToken } from '../../src/evaluation/evaluator/echo.ts'
import { fits, match } from '../../src/evaluation/evaluator/match.ts'
import { unicodeText } from '../support/unicode-text.ts'

const UUID = '5f0c8e1e-1d1a-4c5e-9d3e-0a1b2c3d4e5f'

it("a matcher of one's own that throws fits nothing, and says why", () => {
  const asymmetricMatch = () => {
    throw new Error('no such field')
  }
  const note = { code: 'matcher_threw', hint: 'the matcher threw: "no such field"' }
  expect(match({ a: { asymmetricMatch } }, { a: 1 })).toMatchObject([{ path: 'a', expected: 'a matcher', ...note }])
})

describe('match accepts', () => {
  it.each([
    ['fields that are not asked for', { a: 1 }, { a: 1, b: 2 }],
    ['items partial', [{ a: 1 }], [{ a: 1, b: 2 }]],
    ['$any, also null', { $any: true }, null],
    ['$absent', { a: { $absent: true } }, {}],
    ['$absent below what is absent', { a: { b: { $absent: true } } }, {}],
    ['$type string', { $type: 'string' }, ''],
    ['$type integer', { $type: 'integer' }, 3],
    ['$type number takes integers', { $type: 'number' }, 3],
    ['$type array', { $type: 'array' }, []],
    ['$type object', { $type: 'object' }, {}],
    ['$type null', { $type: 'null' }, null],
    ['$re anywhere in the text', { $re: 'b' }, 'abc'],
    ['$re with flags', { $re: '/^B/im' }, 'a\nb'],
    ['$re knows code points', { $re: '^.$' }, '😢'],
    ['a regular expression from code', /b/g, 'ab'],
    ['a global one, more than once', { $each: /a/g }, ['xxa', 'a']],
    ['$has a part of a text', { $has: 'arc' }, 'parcel'],
    ['$has an item like', { $has: { name: 'a' } }, [{ name: 'a', size: 1 }]],
    ['$has all of', { $has: ['a', 'b'] }, ['b', 'a', 'c']],
    ['$oneOf', { $oneOf: [1, { $type: 'string' }] }, 'x'],
    ['$not of what is absent', { a: { $not: 'b' } }, {}],
    ['$each', { $each: { $gt: 1 } }, [2, 3]],
    ['$each of nothing', { $each: 1 }, []],
    ['$len of a text, in code points', { $len: 1 }, '😢'],
    ['$len of a list', { $len: { $gte: 2 } }, [1, 2]],
    ['$gt', { $gt: 1 }, 2],
    ['$gte, $lt and $lte', [{ $gte: 2 }, { $lt: 3 }, { $lte: 10_000 }], [2, 2, 10_000]],
    ['$gt of times', { $gt: '2024-01-01' }, '2024-02-01'],
    ['$uuid', { $uuid: true }, UUID],
    ['$iso', { $iso: true }, '2024-01-01T09:00:00.123456Z'],
    ['a map with a $ of its own and more', { $re: 1, b: 2 }, { $re: 1, b: 2 }],
  ])('%s', (_, expected, actual) => expect(match(expected, actual)).toEqual([]))
})

describe('match rejects', () => {
  it.each([
    ['another scalar', 1, '1', '1 expected: a text, not a number'],
    ['null is not absent', { a: null }, {}, 'a'],
    ['a missing field', { a: { b: 1 } }, {}, 'a.b'],
    ['an empty map that is absent', { a: {} }, {}, 'a'],
    ['a list of another length', [1], [1, 2], 'expected 1 item, received 2'],
    ['items in another order', ['a', 'b'], ['b', 'a'], 'the same items in another order'],
    ['$any of what is absent', { a: { $any: true } }, {}, '$any'],
    ['$absent but there', { a: { $absent: true } }, { a: null }, '$absent'],
    ['$type', { $type: 'integer' }, 1.5, '$type integer'],
    ['$re', { $re: 'number \\d+' }, 'number x', '/number \\d+/'],
    ['$re of a number', { $re: '1' }, 1, '/1/'],
    ['$has', { $has: 'en' }, ['no'], '$has "en"'],
    ['$oneOf', { $oneOf: ['a', 'b'] }, 'c', '$oneOf ["a", "b"]'],
    ['$each names the item', { $each: { a: 1 } }, [{ a: 1 }, { a: 2 }], '[1].a'],
    ['$len', { $len: 2 }, 'abc', '$len 2'],
    ['$gt', { $gt: 1 }, 1, '$gt 1'],
    ['$gt of something else', { $gt: 1 }, '2', '$gt 1'],
    ['$exact: more than wanted', { $exact: { a: 1 } }, { a: 1, b: 2 }, '$exact { a: 1 }'],
    ['$uuid', { $uuid: true }, 'x', '$uuid'],
    ['$iso without a zone', { $iso: true }, '2024-01-01T09:00:00', '$iso'],
    ['a map for a text', { a: 1 }, 'a', '{ a: 1 }'],
  ])('%s', (_, expected, actual, part) => {
    const differences = match(expected, actual)
    expect(differences).toHaveLength(1)
    const [{ path, expected: written, hint = '' }] = differences as [(typeof differences)[number]]
    expect(`${path} ${written} expected: ${hint}`).toContain(part)
  })
})

describe('a difference', () => {
  it('shows both sides as in a scenario file', () => {
    expect(match({ sender: { name: 'Anna' }, n: 1 }, { sender: { name: 'Bo' }, n: [1, 'x', { a: null }] })).toEqual([
      { path: 'sender.name', expected: '"Anna"', received: '"Bo"' },
      { path: 'n', expected: '1', received: '[1, "x", { a: null }]' },
    ])
  })

  it('shows long texts around the first difference', () => {
    const before = 'x'.repeat(200)
    expect(match(`${before}Hello there`, `${before}Hallo there`)[0]).toMatchObject({
      received: '"…xxxxxxxxxxxxxHallo there"',
      code: 'from_position',
      hint: 'differs from character 202 on',
    })
  })

  it('shows invisible characters as escapes', () => {
    expect(match('a b', 'a\u00a0\u200bb\n')[0]!.received).toBe('"a\u00a0\\u200bb\\n"')
  })

  it.each([
    ["I'm Anna & Bo", 'I&#39;m Anna &amp; Bo', 'only HTML escaping differs'],
    ['a < b', 'a &amp;lt; b', 'only HTML escaping differs: escaped twice'],
    ['a &lt; b', 'a < b', 'only HTML escaping differs: the escapes were resolved'],
    ['Hello', 'hello', 'only upper and lower case differ'],
    ['Hello\n', 'Hello', 'only white space differs: trimmed'],
    ['Hello', ' Hello', 'only white space differs: more of it at the ends'],
    ['é', 'e\u0301', 'the text was normalised to NFD'],
    ['👩‍👧', '👩👧', 'only invisible characters differ: some were lost'],
    ['Takk', '[no>en] Takk', 'a translation marker stands in front: [no>en]'],
    ['[no>en] Takk', 'Takk', 'the translation marker [no>en] is missing'],
    ['a "b"', '"a \\"b\\""', 'encoded as JSON once more'],
    ['a "b"', 'a \\"b\\"', 'has JSON escapes in it: encoded as JSON once more'],
    ['a b&c', 'a%20b%26c', 'only URL encoding differs'],
    ['blåbær 😢', 'blÃ¥bÃ¦r ðŸ˜¢', 'UTF-8 read as Latin-1'],
    ['blåbær', 'bl?b?r', 'characters outside of ASCII were lost'],
    ['Lost 😢', 'Lost ', 'characters above U+FFFF, such as emoji, were cut or replaced'],
    ['Hello\nthere', 'Hello there', 'line breaks were changed'],
    ['<b>Hi</b>', 'Hi', 'the markup in it was removed'],
    ['Hello there', 'Hello…', 'cut off after 5 of 11 characters'],
    ['Hello', 'Hello there', '6 more characters at the end'],
    ['Hello', 'Re: Hello', '4 more characters in front'],
    ['Hello', 'Oh, Hello there', 'the expected text is part of a longer one'],
    ['Hello', 'Bye', undefined],
  ])('%j for %j: %s', (expected, actual, text = '') => expect(match(expected, actual)[0]!.hint ?? '').toBe(text))

  it.each([
    [{ sender: { name: 'A' } }, { senderName: 'A' }, 'the body has senderName: did you mean sender.name?'],
    [{ sender: { name: 'A' } }, { sender_name: 'A' }, 'the body has sender_name: did you mean sender.name?'],
    [{ language_codes: ['en'] }, { languageCodes: ['en'] }, 'the body has languageCodes: did you mean language_codes?'],
    [{ sender: { name: 'A' } }, { sender: {}, name: 'A' }, 'the body has name: did you mean sender.name?'],
    [{ message: 'A' }, { text: 'A' }, undefined],
  ])('%j in %j', (expected, actual, text = '') => expect(match(expected, actual)[0]!.hint ?? '').toBe(text))

  it('is safe for hostile bodies', () => {
    const nasty = JSON.parse('{"toString":0,"__proto__":{"a":1},"constructor":null}')
    expect(match(nasty, '')).toMatchObject([{ path: '', received: '""' }])
    expect(match({ toString: 1, a: 1 }, nasty).map(({ path }) => path)).toEqual(['toString', 'a'])
  })

  it('is found in JSON inside of a text', () => {
    const [one] = match({ sender: { name: 'A' } }, { sender: '{"name":"A"}' })
    expect(one).toMatchObject({ path: 'sender', code: 'json_text' })
  })
})

describe('tokens in a text', () => {
  const options = { clean: stripToken }

  it.each([
    ['Hello', 'Hello ⟦k3f9x2⟧', true],
    ['Hello', 'Bye ⟦k3f9x2⟧', false],
    [{ $re: 'lo$' }, 'Hello ⟦k3f9x2⟧', true],
    [{ $len: 5 }, 'Hello ⟦k3f9x2⟧', true],
    [{ $exact: 'Hello' }, 'Hello ⟦k3f9x2⟧', true],
  ])('%j and %j: %s', (expected, actual, right) => expect(fits(expected, actual, options)).toBe(right))

  it('are compared when tokens are off', () => expect(fits('Hello', 'Hello ⟦k3f9x2⟧')).toBe(false))
})

describe('properties', () => {
  const json = fc.jsonValue({ maxDepth: 3 }).map(value => JSON.parse(JSON.stringify(value)) as unknown)
  /** Data, no matchers. */
  const plain = json.filter(value => !JSON.stringify(value).includes('"$'))

  it('a value matches itself, also with $exact', () => {
    fc.assert(fc.property(plain, value => fits(value, value) && fits({ $exact: value }, value)))
  })

  it('a map matches a value with more fields', () => {
    const name = fc.string().filter(text => !text.startsWith('$'))
    fc.assert(
      fc.property(fc.dictionary(name, plain), name, plain, (map, key, value) => {
        fc.pre(!Object.hasOwn(map, key))
        expect(fits(map, { ...map, [key]: value })).toBe(true)
        expect(fits({ $exact: map }, { ...map, [key]: value })).toBe(false)
      }),
    )
  })

  it('$not negates a pattern, and $oneOf accepts one of several', () => {
    fc.assert(
      fc.property(plain, plain, plain, (a, b, value) => {
        expect(fits({ $not: a }, value)).toBe(!fits(a, value))
        expect(fits({ $oneOf: [a, b] }, value)).toBe(fits(a, value) || fits(b, value))
      }),
    )
  })

  it('a mismatch has differences of one line each', () => {
    fc.assert(
      fc.property(plain, plain, (expected, actual) => {
        const differences = match(expected, actual)
        expect(differences.length > 0).toBe(!fits(expected, actual))
        for (const one of differences)
          expect(`${one.expected}${one.received}${one.hint ?? ''}`).not.toMatch(/[\n\r\u2028]/)
      }),
    )
  })

  it('two texts match exactly when they are equal', () => {
    fc.assert(fc.property(unicodeText(), unicodeText(), (a, b) => (a === b) === (match(a, b).length === 0)))
  })
})
