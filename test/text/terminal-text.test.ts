import { expect, test } from 'vitest'
import { nearest } from '../../src/base/text/error-text.ts'
import { quote, shorten, widthOf } from '../../src/base/text/terminal-text.ts'

test.each([
  ['æ'.repeat(100_000), 20],
  ['👩‍👩‍👧'.repeat(20_000), 20],
  ['z\u0301'.repeat(50_000), 11],
])('a long text is shortened to the columns', (text, columns) => {
  const short = shorten(text, columns)
  expect([short.at(-1), widthOf(short) <= columns, widthOf(short) >= columns - 1]).toEqual(['…', true, true])
  expect(quote(text, columns).endsWith('…"')).toBe(true)
})

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['👩‍👩‍👧👩‍👩‍👧', 4, '👩‍👩‍👧👩‍👩‍👧'],
  ['👩‍👩‍👧👩‍👩‍👧', 3, '👩‍👩‍👧…'],
])('%j in %i columns is %j', (text, columns, expected) => expect(shorten(text, columns)).toBe(expected))

test('a name is suggested when it is near', () => {
  expect(nearest('typing.webhok', ['typing.webhook', 'typing.timeout'])).toBe('; did you mean typing.webhook?')
  expect(nearest('ab', ['abcd', 'abcde'])).toBe('; did you mean abcd?')
  expect(nearest('ab', ['abcde', 'x'.repeat(70)])).toBe('')
})
