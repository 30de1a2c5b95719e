/** Tokens: made, found, taken away. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { makeToken, stripToken, tokensIn } from '../../src/evaluator/tokens.ts'

it('is short, and the same for the same seed text', () => {
  expect(makeToken('1 Happy path main 3')).toMatch(/^ ⟦[0-9a-z]{6}⟧$/)
  expect(makeToken('a')).toBe(makeToken('a'))
  expect(makeToken('a')).not.toBe(makeToken('b'))
})

it('ten thousand of them are all different', () => {
  const tokens = Array.from({ length: 10_000 }, (_, i) => makeToken(`1 Happy path main ${i}`))
  expect(new Set(tokens).size).toBe(10_000)
})

/** Without its brackets: a text may hold anything else. */
const text = fc.string({ unit: 'binary' }).filter(value => !value.includes('⟦'))

it('the text comes back to the last code point, spaces and all', () => {
  fc.assert(
    fc.property(text, fc.string(), (own, seed) => {
      const token = makeToken(seed)
      expect(stripToken(own + token)).toBe(own)
      expect(tokensIn(own + token)).toEqual([token.trim()])
    }),
  )
})

it('is taken away after a translation too', () => {
  expect(stripToken(`[no>en] Hei${makeToken('x')}`)).toBe('[no>en] Hei')
  expect(stripToken('no token, but ⟦brackets⟧')).toBe('no token, but ⟦brackets⟧')
})
