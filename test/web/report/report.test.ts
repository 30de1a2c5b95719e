import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { compareTexts } from '../../../src/pages/web/components/differences.tsx'
import { htmlReport } from '../../../src/pages/web/report/run-report.tsx'
import { sample } from './sample.ts'
import { failure, run, scenarioResult } from './verdicts.ts'

const page = htmlReport(sample())
const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => text!)
const styles = [...page.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, text]) => text!)
const heading = (text: string) => /<h1>(.*?)<\/h1>/.exec(text)![1]

describe('the page', () => {
  it('is one file that loads nothing', () => {
    const markup = page.replace(/<(script|style)\b[\s\S]*?<\/\1>/g, '')
    expect(markup).not.toMatch(/\ssrc=|<link|<img|<iframe|<object|<form[^>]*action/)
    expect([...markup.matchAll(/href="([^"]*)"/g)].filter(([, to]) => !to!.startsWith('#'))).toEqual([])
    expect(styles.join()).not.toMatch(/url\(|@import/)
  })

  it('allows its own scripts and styles by their hashes, and nothing else', () => {
    const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)!
    const hashes = (texts: readonly string[]) =>
      texts.map(text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' ')
    expect([scripts.length, styles.length]).toEqual([2, 1])
    expect(policy!.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${hashes(scripts)}`,
      `style-src ${hashes(styles)}`,
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
    expect(page).not.toMatch(/<[^>]*\sstyle=/)
  })

  it('has failures first', () => {
    const outcomes = [...page.matchAll(/<details class="result (\w+)"/g)].map(([, outcome]) => outcome)
    expect(outcomes).toEqual(['fail', 'fail', 'error', 'inconclusive', 'pass', 'pass'])
    expect(page.match(/<details class="result[^>]* open>/g)).toHaveLength(1)
  })

  it('shows cause, place and fix of a failure', () => {
    for (const text of [
      "expect message { message: &quot;I'm Anna&quot; } within 2s of #15",
      'nearest: #21, message differs (only HTML escaping)',
      'scenarios/happy.yaml:21:5',
      'send it as the agent wrote it',
      'step 6/8',
      'npx handover-sim run scenarios/happy.yaml --seed 1',
    ])
      expect(page).toContain(text)
  })

  it('links a failure to its entry', () => {
    expect(page).toContain('<a class="entry-seq" href="#happy-path/21">#21</a>')
    expect(page).toContain('id="happy-path/21"')
  })

  it('groups warnings by rule, the most frequent first', () => {
    const rules = [...page.matchAll(/<th scope="row"><code>([^<]*)<\/code><\/th><td class="number">(\d+)/g)]
    expect(rules.map(([, rule, count]) => [rule, count])).toEqual([
      ['chat-never-ended', '2'],
      ['alias-mixed', '1'],
    ])
  })

  it('shows failures of no scenario with their entries', () => {
    expect(page).toContain('Outside of every scenario')
    expect(page).toContain('<summary>Entry #900</summary>')
  })
})

describe('the sentence of the verdict', () => {
  const of = (...args: Parameters<typeof run>) => heading(htmlReport(run(...args)))

  it('matches the outcome of the run', () => {
    expect(of([scenarioResult('a', 'pass'), scenarioResult('b', 'pass')])).toBe('All 2 scenarios passed')
    expect(of([scenarioResult('a', 'pass')])).toBe('The scenario passed')
    expect(of([scenarioResult('a', 'pass'), scenarioResult('b', 'skipped')])).toBe(
      '1 of 2 scenarios passed, none failed',
    )
    expect(of([scenarioResult('a', 'fail'), scenarioResult('b', 'error')])).toBe('1 of 2 scenarios failed')
    expect(of([scenarioResult('a', 'inconclusive')])).toBe('No scenario has a verdict')
    expect(of([])).toBe('No scenario was run')
    expect(of([scenarioResult('a', 'pass')], { stopped: 'interrupted' })).toBe(
      'Stopped: 1 of 1 scenario passed until then',
    )
    const orphan = failure({ kind: 'unexpected', expected: 'none', happened: 'one' })
    expect(of([scenarioResult('a', 'pass')], { failures: [orphan] })).toBe('1 failure outside of every scenario')
  })
})

it('the page says when entries are omitted', () => {
  const journal = Array.from({ length: 1900 }, (_, index) => ({
    v: 1 as const,
    seq: index + 1,
    time: '2024-01-01T09:00:00.000Z',
    cause: null,
    at_ms: index,
    kind: 'user' as const,
    chat_id: 'c',
    action: 'message' as const,
    text: 'x'.repeat(12_000),
    message_id: null,
  }))
  const made = htmlReport(run([scenarioResult('large', 'pass', { journal, conversations: { main: 'c' } })]))
  expect(made.length).toBeLessThan(21 * 1024 * 1024)
  expect(made).toContain('Of 1 scenario not everything is in this report')
  expect(made).toContain('The entries behind the rows are left out')
})

it('a page without scenarios has at most 100 KB, most of them its script and its style', () => {
  const empty = htmlReport(run([]))
  expect(empty.length).toBeLessThan(100 * 1024)
  expect(empty.length - scripts.join().length - styles.join().length).toBeLessThan(4 * 1024)
})

describe('two compared texts', () => {
  it('have their different parts marked', () => {
    expect(compareTexts('"Hello"', '"Hallo"')).toEqual([
      { start: '"H', changed: 'e', end: 'llo"' },
      { start: '"H', changed: 'a', end: 'llo"' },
    ])
    expect(compareTexts('abc', 'abcd').map(({ changed }) => changed)).toEqual(['', 'd'])
  })

  it('have no marks if they have little in common', () => {
    expect(compareTexts('"Hello"', 'absent').map(({ changed }) => changed)).toEqual(['', ''])
  })
})

it('scripts and styles of the page cannot end their element, and parse', () => {
  expect(scripts.join() + styles.join()).not.toMatch(/<\/|<!--/)
  for (const script of scripts) expect(() => new Function(script)).not.toThrow()
})
