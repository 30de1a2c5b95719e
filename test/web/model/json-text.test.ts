import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonText } from '../../../src/pages/web/model/json-text.ts'

describe('the mistake in a JSON text', () => {
  it.each([
    ['{"a": 1,}', 1, 9],
    ['{\n  "a": oops\n}', 2, 8],
    ['[1, 2', 1, 6],
    ['{"a" 1}', 1, 6],
    ['{"a": "x}', 1, 7],
    ['[1] 2', 1, 5],
    ['{a: 1}', 1, 2],
    ['[01]', 1, 2],
    [']', 1, 1],
  ])('of %j is in line %i, column %i', (text, line, column) => {
    expect(parseJsonText(text)).toEqual({ isValid: false, line, column })
  })

  it('is never found in valid JSON', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        expect(parseJsonText(text)).toEqual({ isValid: true, value: JSON.parse(text) })
      }),
    )
    expect(parseJsonText(' \n')).toEqual({ isValid: true, value: undefined })
  })
})
