/** Tests fixtures/texts.json, the texts that often break real systems. */
import { describe, expect, it } from 'vitest'
import { namedTexts, TEXT_NAMES } from '../../../src/evaluation/scenario/compile/step-compiler.ts'

const texts = namedTexts(TEXT_NAMES)

describe('the named texts', () => {
  it('have the characters that their descriptions name', () => {
    expect(texts.emoji).toMatch(/\u200d/)
    expect([...texts.astral!].some(char => char.length === 2)).toBe(true)
    expect(texts.line_separators).toMatch(/\u2028.*\u2029/s)
    expect(texts.right_to_left).toMatch(/\p{Script=Arabic}/u)
    expect(texts.combining!.normalize('NFC')).not.toBe(texts.combining)
    expect(texts.html).toContain('<script>')
    expect(new TextEncoder().encode(texts.long).length).toBe(65_536)
    expect(texts.long_word).toMatch(/^\S{2000}$/)
    expect(texts.leading_space).toMatch(/^ /)
    expect(texts.trailing_space).toMatch(/ $/)
    expect(texts.newlines).toContain('\r\n')
    expect(JSON.parse(texts.json!)).toBeTypeOf('object')
    expect(texts.empty).toBe('')
  })

  it('are well-formed Unicode', () => {
    for (const [name, text] of Object.entries(texts)) expect(text.isWellFormed(), name).toBe(true)
  })

  it('an unknown name gives no text', () => {
    expect(namedTexts(['emoji', 'no'])).toEqual({ emoji: texts.emoji })
  })
})
