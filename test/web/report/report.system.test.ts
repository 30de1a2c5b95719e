/** The HTML report of a run. */

import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRedactor } from '../../../src/base/text/redactor.ts'
import { writeReports } from '../../../src/commands/write-reports.ts'
import { parseReports, RUN_REPORTS } from '../../../src/pages/reporters/report-option.ts'
import { htmlReport } from '../../../src/pages/web/report/run-report.tsx'
import { fakeOutput } from '../../cli/fake-io.ts'
import { failure, Journal, result, scenarioResult } from '../../reporters/run-results.ts'
import { sample } from './sample.ts'

const page = htmlReport(sample())
const contentsOf = (tag: string) =>
  [...page.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].map(([, text]) => text!)
const [scripts, styles] = [contentsOf('script'), contentsOf('style')]

describe('the page of a run', () => {
  it('is one file that loads nothing, and is written by --report html', async () => {
    const markup = page.replace(/<(script|style)\b[\s\S]*?<\/\1>/g, '')
    expect(markup).not.toMatch(/\ssrc=|<link|<img|<iframe|<object|<form[^>]*action/)
    expect([...markup.matchAll(/href="([^"]*)"/g)].filter(([, to]) => !to!.startsWith('#'))).toEqual([])
    expect(styles.join()).not.toMatch(/url\(|@import/)
    const cwd = mkdtempSync(join(tmpdir(), 'report-'))
    onTestFinished(() => rmSync(cwd, { recursive: true }))
    const io = { stdout: fakeOutput(), stderr: fakeOutput(), cwd }
    const requests = parseReports('html=r.html', RUN_REPORTS)
    expect(await writeReports(createRedactor().redactDeep(sample()), requests, { io, env: {}, colorLevel: 0 })).toEqual(
      [],
    )
    expect(readFileSync(join(cwd, 'r.html'), 'utf8')).toMatch(/^<!doctype html>/i)
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

  it('has failures first, of which the first is open, with cause, place, fix and a link to the entry', () => {
    const outcomes = [...page.matchAll(/<details class="result (\w+)"/g)].map(([, outcome]) => outcome)
    expect(outcomes).toEqual(['fail', 'fail', 'error', 'inconclusive', 'pass', 'pass'])
    expect(page.match(/<details class="result[^>]* open>/g)).toHaveLength(1)
    for (const text of [
      "expect message { message: &quot;I'm Anna&quot; } within 2s of #10",
      'nearest: #12, message differs (only HTML escaping)',
      'scenarios/happy.yaml:19:5',
      'send the text as it is',
      'step 7/10',
      'npx handover-sim run scenarios/happy.yaml --seed 1',
      '<a class="entry-seq" href="#happy-path/12">#12</a>',
      'id="happy-path/12"',
    ])
      expect(page).toContain(text)
  })

  it('groups warnings by rule, the most frequent first, and shows failures of no scenario with their entries', () => {
    const rules = [...page.matchAll(/<th scope="row"><code>([^<]*)<\/code><\/th><td class="number">(\d+)/g)]
    expect(rules.map(([, rule, count]) => `${rule} ${count}`)).toEqual(['chat-never-ended 2', 'sender-incomplete 1'])
    for (const text of ['Outside of every scenario', '<summary>Entry #1</summary>']) expect(page).toContain(text)
  })

  it('says when entries are omitted', () => {
    const log = new Journal()
    for (let count = 0; count < 1900; count++) log.user('x'.repeat(12_000))
    const large = htmlReport(result([scenarioResult({ journal: log.entries })]))
    expect(large.length).toBeLessThan(21 * 1024 * 1024)
    expect(large).toContain('Of 1 scenario not everything is in this report')
    expect(large).toContain('The entries behind the rows are left out')
  })

  it('has at most 100 KB without scenarios, most of them script and style, which cannot end their element', () => {
    const empty = htmlReport(result([]))
    expect(empty.length).toBeLessThan(100 * 1024)
    expect(empty.length - scripts.join().length - styles.join().length).toBeLessThan(4 * 1024)
    expect(scripts.join() + styles.join()).not.toMatch(/<\/|<!--/)
    for (const script of scripts) expect(() => new Function(script)).not.toThrow()
  })
})

const ORPHAN = failure({ kind: 'unexpected' })

it.each([
  ['All 2 scenarios passed', ['pass', 'pass'], {}],
  ['The scenario passed', ['pass'], {}],
  ['1 of 2 scenarios passed, none failed', ['pass', 'skipped'], {}],
  ['1 of 2 scenarios failed', ['fail', 'error'], {}],
  ['No scenario has a verdict', ['inconclusive'], {}],
  ['No scenario was run', [], {}],
  ['Stopped: 1 of 1 scenario passed until then', ['pass'], { stopped: 'interrupted' }],
  ['1 failure outside of every scenario', ['pass'], { failures: [ORPHAN] }],
] as const)('the heading is "%s"', (heading, outcomes, more) => {
  const report = result(
    outcomes.map(outcome => scenarioResult({ outcome })),
    more,
  )
  expect(/<h1>(.*?)<\/h1>/.exec(htmlReport(report))![1]).toBe(heading)
})
