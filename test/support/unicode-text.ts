/** Generates texts of any code points. `unit: 'binary'` of fast-check would first make a table of all, for seconds. */
import fc from 'fast-check'

const LAST = 0x10ffff
const SURROGATES = { first: 0xd800, count: 0x800 }

const codePoint = fc
  .integer({ min: 0, max: LAST - SURROGATES.count })
  .map(index => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count))

export const unicodeText = (maxLength = 40): fc.Arbitrary<string> =>
  fc.string({ unit: fc.oneof(fc.string({ minLength: 1, maxLength: 1 }), codePoint), maxLength })
