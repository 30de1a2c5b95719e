import * as fc from 'fast-check'
// @ts-expect-error: jsdom has no types
import { JSDOM } from 'jsdom'
import { describe, expect, it } from 'vitest'
import { visibleLines } from '../../../src/pages/web/model/formats.ts'
import { htmlReport } from '../../../src/pages/web/report/run-report.tsx'
import { scriptJson } from '../../../src/pages/web/report/timeline-data.tsx'
import { hostile, sample } from './sample.ts'
import { failure, run, scenarioResult } from './verdicts.ts'

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('</script>', '<!--', '"><img src=x>', "' onload='x", ']]>', '\u2028', '&amp;', '</noscript>'),
)
const INVISIBLE = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

const parse = (markup: string): Document => new JSDOM(markup).window.document
/** The elements of a page that any text could add. */
const tags = (document: Document) => [...document.querySelectorAll('*')].map(({ tagName }) => tagName).sort()

describe('texts in a report', () => {
  const withText = (text: string) => {
    const parts = { expected: text, happened: text, hint: text, rules: [text] }
    const nearest = [{ seq: 1, what: text, afterMs: 1, codes: [], why: text, differences: [] }]
    const failures = [failure({ kind: 'expect', ...parts, nearest })]
    const warnings = [{ rule: text, message: text, conversation: text, entrySeqs: [1] }]
    return htmlReport(
      run([scenarioResult(text, 'fail', { failures, warnings, tags: [text], captures: { [text]: text } })]),
    )
  }
  const plain = tags(parse(withText('plain')))

  it('add no element, whatever they contain', () => {
    fc.assert(
      fc.property(nasty, text => {
        expect(tags(parse(withText(`plain ${text}`)))).toEqual(plain)
      }),
      { numRuns: 40 },
    )
  })

  it('show invisible characters by their code, so that none changes the direction of a line', () => {
    const document = parse(htmlReport(hostile()))
    for (const script of document.querySelectorAll('script, style')) script.remove()
    const text = document.documentElement.textContent
    expect(text.length).toBeGreaterThan(5000)
    expect(text).toContain('<U+202E>gnp.exe<U+202C>')
    expect(INVISIBLE.exec(text)).toBeNull()
  })

  it('keep line breaks in bodies', () => {
    expect(visibleLines('a <\n\tb\u202E')).toBe('a <\n\\tb<U+202E>')
  })

  it('are in the copied command as they are', () => {
    const [one] = sample().scenarios
    const page = parse(htmlReport(run([{ ...one!, rerunCommand: 'run "a\u202E<b"' }])))
    expect(page.querySelector('.result-copy')!.getAttribute('data-text')).toBe('run "a\u202E<b"')
    expect(page.querySelector('.result-rerun code')!.textContent).toBe('run "a<U+202E><b"')
  })
})

it('json is preserved and cannot end its script', () => {
  fc.assert(
    fc.property(fc.jsonValue(), nasty, (value, text) => {
      const json = scriptJson([value, text])
      expect(json).not.toMatch(/[<\u2028\u2029]/)
      expect(JSON.stringify(JSON.parse(json))).toBe(JSON.stringify([value, text]))
    }),
  )
})
