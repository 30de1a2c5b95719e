import { expect, test } from 'vitest'
import { nearest } from '../../src/base/text/error-text.ts'
import { quote, shorten, widthOf } from '../../src/base/text/terminal-text.ts'

test.each([
  ['æ'.repeat(1_000_000), 20],
  ['👩‍👩‍👧'.repeat(200_000), 20],
  [`${'z\u0301'.repeat(500_000)}`, 11],
])('a text of a million characters is shortened without looking at all of them', (text, columns) => {
  const started = process.cpuUsage()
  const short = shorten(text, columns)
  const quoted = quote(text, columns)
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(100)
  expect([short.at(-1), widthOf(short) <= columns, widthOf(short) >= columns - 1]).toEqual(['…', true, true])
  expect(quoted.endsWith('…"')).toBe(true)
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
