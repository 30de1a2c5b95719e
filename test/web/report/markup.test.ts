import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exact, html, json, lines, type Part } from '../../../src/web/report/markup.ts'

const texts = fc.string({ unit: 'binary', maxLength: 60 })
const nasty = fc.oneof(
  texts,
  fc.constantFrom('</script>', '<!--', '"><img src=x>', "' onload='x", ']]>', '\u2028', '&amp;'),
)

describe('html', () => {
  it('leaves no text that could be markup, in an element or in an attribute', () => {
    fc.assert(
      fc.property(nasty, text => {
        const { text: made } = html`<p title="${text}">${text}</p>`
        const inside = /^<p title="([\s\S]*)">([\s\S]*)<\/p>$/.exec(made)!
        for (const part of inside.slice(1)) expect(part).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|#39);)/)
      }),
    )
  })

  it('shows what cannot be seen by its name, so that nothing turns a line around', () => {
    expect(html`${'a\u202Eb\u0000\n'}`.text).toBe('a&lt;U+202E&gt;b&lt;U+0000&gt;\\n')
  })

  it('keeps markup, joins lists, and leaves nothing for what is not there', () => {
    const parts: Part[] = [html`<b>1</b>`, [2, null, false], undefined]
    expect(html`<i>${parts}</i>`.text).toBe('<i><b>1</b>2</i>')
  })

  it('takes only its own markup for markup', () => {
    const groupFailures = { text: '<b>' } as unknown as Part
    expect(html`${groupFailures}`.text).not.toContain('<b>')
  })
})

it('exact escapes and changes nothing else', () => {
  expect(exact('a\u202E"<\n').text).toBe('a\u202E&quot;&lt;\n')
})

it('lines keep their breaks', () => {
  expect(lines('a <\n\tb').text).toBe('a &lt;\n\\tb')
})

it('json comes back as it was and cannot end its script', () => {
  fc.assert(
    fc.property(fc.jsonValue(), nasty, (value, text) => {
      const { text: made } = json([value, text])
      expect(made).not.toMatch(/[<\u2028\u2029]/)
      expect(JSON.stringify(JSON.parse(made))).toBe(JSON.stringify([value, text]))
    }),
  )
})
