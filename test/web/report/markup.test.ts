import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exact, html, json, lines, type Part } from '../../../src/web/report/markup.ts'

const texts = fc.string({ unit: 'binary', maxLength: 60 })
const nasty = fc.oneof(
  texts,
  fc.constantFrom('</script>', '<!--', '"><img src=x>', "' onload='x", ']]>', '\u2028', '&amp;'),
)

describe('html', () => {
  it('escapes markup in elements and attributes', () => {
    fc.assert(
      fc.property(nasty, text => {
        const { text: made } = html`<p title="${text}">${text}</p>`
        const inside = /^<p title="([\s\S]*)">([\s\S]*)<\/p>$/.exec(made)!
        for (const part of inside.slice(1)) expect(part).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|#39);)/)
      }),
    )
  })

  it('shows invisible characters by their code, so that none changes the direction of a line', () => {
    expect(html`${'a\u202Eb\u0000\n'}`.text).toBe('a&lt;U+202E&gt;b&lt;U+0000&gt;\\n')
  })

  it('keeps markup, joins lists, and omits missing values', () => {
    const parts: Part[] = [html`<b>1</b>`, [2, null, false], undefined]
    expect(html`<i>${parts}</i>`.text).toBe('<i><b>1</b>2</i>')
  })

  it('trusts only its own markup', () => {
    const groupFailures = { text: '<b>' } as unknown as Part
    expect(html`${groupFailures}`.text).not.toContain('<b>')
  })
})

it('exact escapes markup and changes nothing else', () => {
  expect(exact('a\u202E"<\n').text).toBe('a\u202E&quot;&lt;\n')
})

it('line breaks are preserved', () => {
  expect(lines('a <\n\tb').text).toBe('a &lt;\n\\tb')
})

it('json is preserved and cannot end its script', () => {
  fc.assert(
    fc.property(fc.jsonValue(), nasty, (value, text) => {
      const { text: made } = json([value, text])
      expect(made).not.toMatch(/[<\u2028\u2029]/)
      expect(JSON.stringify(JSON.parse(made))).toBe(JSON.stringify([value, text]))
    }),
  )
})
