/** Tests tables of texts. */
import { afterEach, expect, it } from 'vitest'
import { defineTexts, transformTexts } from '../../src/base/text/texts.ts'

const TEXTS = defineTexts({ plain: 'nothing was sent', made: (status: number) => `answered ${status}` })

afterEach(() => transformTexts(null))

it('a table gives its texts as they are written', () => {
  expect([TEXTS.plain, TEXTS.made(503)]).toEqual(['nothing was sent', 'answered 503'])
})

it('a transformation changes every fixed or computed text, and can be removed', () => {
  transformTexts(text => text.toUpperCase())
  expect([TEXTS.plain, TEXTS.made(503)]).toEqual(['NOTHING WAS SENT', 'ANSWERED 503'])
  transformTexts(null)
  expect(TEXTS.plain).toBe('nothing was sent')
})
