/** Tests fixtures/texts.json, the texts that often break real systems. */
import { expect, it } from 'vitest'
import { namedTexts, TEXT_NAMES } from '../../../src/evaluation/scenario/compile/step-compiler.ts'

const texts = namedTexts(TEXT_NAMES)

it.each([
  ['emoji', /\u200d/],
  ['line_separators', /\u2028.*\u2029/s],
  ['right_to_left', /\p{Script=Arabic}/u],
  ['html', /<script>/],
  ['long_word', /^\S{2000}$/],
  ['long', /^.{30000}/s],
  ['newlines', /\r\n/],
])('the text %s has the characters that its name says', (name, pattern) => expect(texts[name]).toMatch(pattern))

it('all texts are well-formed Unicode, and an unknown name gives no text', () => {
  for (const [name, text] of Object.entries(texts)) expect(text.isWellFormed(), name).toBe(true)
  expect(namedTexts(['emoji', 'no'])).toEqual({ emoji: texts.emoji })
})
