/** Tokens: made, found, taken away. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { makeToken, stripToken, tokensIn } from '../../src/evaluation/evaluator/echo.ts'

it('a token is short and depends only on its seed text', () => {
  expect(makeToken('1 Happy path main 3')).toMatch(/^ ⟦[0-9a-z]{6}⟧$/)
  expect(makeToken('a')).toBe(makeToken('a'))
  expect(makeToken('a')).not.toBe(makeToken('b'))
})

it('ten thousand tokens are all different', () => {
  const tokens = Array.from({ length: 10_000 }, (_, i) => makeToken(`1 Happy path main ${i}`))
  expect(new Set(tokens).size).toBe(10_000)
})

/** Without its brackets: a text may hold anything else. */
const text = fc.string({ unit: 'binary' }).filter(value => !value.includes('⟦'))

it('removing a token restores the exact text', () => {
  fc.assert(
    fc.property(text, fc.string(), (own, seed) => {
      const token = makeToken(seed)
      expect(stripToken(own + token)).toBe(own)
      expect(tokensIn(own + token)).toEqual([token.trim()])
    }),
  )
})

it('a token is removed after a translation too', () => {
  expect(stripToken(`[no>en] Hei${makeToken('x')}`)).toBe('[no>en] Hei')
  expect(stripToken('no token, but ⟦brackets⟧')).toBe('no token, but ⟦brackets⟧')
})
