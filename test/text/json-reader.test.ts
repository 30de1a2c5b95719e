import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createJsonReader, JsonDepthError } from '../../src/base/text/json-reader.ts'

function read(text: string, partChars: number, levels = 256): unknown {
  const reader = createJsonReader(levels)
  for (let at = 0; at < text.length; at += partChars) reader.write(text.slice(at, at + partChars))
  return reader.end()
}

/** The value, or the name of the error. */
function outcome(run: () => unknown): unknown {
  try {
    return { value: run() }
  } catch (error) {
    return (error as Error).name
  }
}

/** Longer than what is parsed together. */
const LONG = 'long "text" \\ with \u2028 [{,:}] æ\ud83d\udc69'.repeat(1500)

const value = fc.letrec(tie => ({
  leaf: fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constant(LONG), fc.constant('\\\\"')),
  list: fc.array(tie('node'), { maxLength: 5 }),
  object: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', 'a"\\')), tie('node'), { maxKeys: 5 }),
  node: fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('list'), tie('object')),
})).node

const SEED = { seed: Number(process.env.FAST_CHECK_SEED ?? 1) }
const partChars = fc.constantFrom(7919, 65_536, 100_000)

describe('a JSON text in parts', () => {
  test('has the value that JSON.parse returns', () => {
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 8 }),
        fc.constantFrom(undefined, 1),
        partChars,
        (parts, indent, chars) => {
          const text = JSON.stringify([parts, { parts, more: [parts, LONG] }, LONG], null, indent)
          expect(read(text, chars)).toEqual(JSON.parse(text))
        },
      ),
      { ...SEED, numRuns: 25 },
    )
  })

  test.each(['1', '"a\\"b"', 'null', ' [] ', '{"a":[1,{"b":2}]}', '"\\\\"', '[[],[[]]]'])(
    '%s, one character at a time',
    text => {
      expect(read(text, 1)).toEqual(JSON.parse(text))
    },
  )

  test('is wrong where JSON.parse says so', () => {
    const rows = Array.from({ length: 400 }, (_, at) => `{"at":${at},"text":"${'x'.repeat(400)}"}`)
    const list = `{"rows":[${rows.join(',')}],"tail":[${rows.join(',')}]}`
    fc.assert(
      fc.property(
        fc.nat(list.length),
        fc.constantFrom(...'[]{},:" \\1x', ''),
        fc.nat(2),
        partChars,
        (at, char, drop, chars) => {
          const text = list.slice(0, at) + char + list.slice(at + drop)
          expect(outcome(() => read(text, chars))).toEqual(outcome(() => JSON.parse(text)))
        },
      ),
      { ...SEED, numRuns: 150 },
    )
  })

  test.each([',', '{', '}', ']', '1', '"', ':'])('is wrong with %s after its end', char => {
    const text = `[${'"0123456789",'.repeat(20_000)}1]${char}`
    expect(() => read(text, 65_536)).toThrow(SyntaxError)
  })

  test('names the place of what is wrong in a long text', () => {
    const text = `[${'"0123456789",'.repeat(20_000)}wrong]`
    expect(() => read(text, 65_536)).toThrow(/^a value between the characters \d+ and 260006 is wrong$/)
    expect(() => read(text.slice(0, -6), 65_536)).toThrow('it ends too early, after 260001 characters')
  })

  test('has at most so many levels', () => {
    expect(read('[[[]]]', 2, 3)).toEqual([[[]]])
    expect(() => read('[[[[]]]]', 2, 3)).toThrow(JsonDepthError)
  })
})
