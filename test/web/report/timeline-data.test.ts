// @ts-expect-error: jsdom has no types

import { JSDOM } from 'jsdom'
import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it, test } from 'vitest'
import type { ScenarioResult } from '../../../src/evaluation/evaluator/verdict.ts'
import { EntryDetails } from '../../../src/pages/web/components/entry-details.tsx'
import { PAYLOAD_LIMIT, truncateEntry } from '../../../src/pages/web/model/entry-sections.ts'
import { linkScenarios } from '../../../src/pages/web/report/scenario-links.ts'
import {
  collectTimelineData,
  type EmbeddedTimeline,
  scenarioTimeline,
} from '../../../src/pages/web/report/timeline-data.tsx'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import { CHATS, failure, Journal, scenarioResult } from '../../reporters/run-results.ts'

const gather = (scenarios: ScenarioResult[], budget?: number) =>
  collectTimelineData(linkScenarios(scenarios).map(scenarioTimeline), budget)
const seqsIn = (json: string) => (JSON.parse(json) as EmbeddedTimeline).entries.map(({ seq }) => seq)
const markupOf = (entry: Entry) => renderToString(h(EntryDetails, { entry, effects: [], level: 4, isStatic: true }))

function played(outcome: 'pass' | 'fail', calls: number, text = 'Hello'): ScenarioResult {
  const recorder = new Journal()
  for (let count = 0; count < calls; count++) recorder.call('message', { message: text })
  const failures = outcome === 'pass' ? [] : [failure({ kind: 'times', entrySeqs: [2] })]
  return scenarioResult({ name: outcome, outcome, journal: recorder.entries, conversations: CHATS, failures })
}

describe('the data of a page', () => {
  it('has the rows and the entries behind them', () => {
    const [one] = gather([played('pass', 3)])
    expect(one).toMatchObject({ level: 'whole', rowCount: 3 })
    expect(seqsIn(one!.json)).toEqual([1, 2, 3])
  })

  it('omits payloads of passed scenarios first, then unmarked ones of failed scenarios', () => {
    const [whole] = gather([played('fail', 30)])
    const enough = whole!.json.length + whole!.staticTable.length
    const [fail, pass] = gather([played('pass', 30), played('fail', 30)], enough + 7000)
    expect([fail!.level, pass!.level]).toEqual(['whole', 'rows'])
    const [less] = gather([played('fail', 30)], enough - 1)
    expect(less!.level).toBe('marked')
    expect(seqsIn(less!.json)).toEqual([2])
  })

  it('does not exceed its budget', () => {
    const scenarios = [played('fail', 20), played('pass', 40), played('fail', 10), played('pass', 3)]
    for (const budget of [0, 1000, 5000, 20_000, 40_000]) {
      const data = gather(scenarios, budget)
      const bytes = data.reduce((sum, { json, staticTable }) => sum + Buffer.byteLength(json + staticTable), 0)
      expect(bytes).toBeLessThanOrEqual(budget)
    }
    expect(gather(scenarios, 0).map(({ level }) => level)).toEqual(['nothing', 'nothing', 'nothing', 'nothing'])
  })

  it('has three of many equal reads of an inbox', () => {
    const recorder = new Journal()
    for (let count = 0; count < 40; count++) recorder.driver('inbox', { items: [{ text: 'Hello' }] })
    const [one] = gather([scenarioResult({ journal: recorder.entries, conversations: CHATS })])
    expect(one!.rowCount).toBe(1)
    expect(seqsIn(one!.json)).toEqual([1, 2, 40])
  })
})

test('why a call was refused has no invisible characters', () => {
  const recorder = new Journal()
  const call = recorder.entries[recorder.call('message', { sender: '\u202E' }) - 1]!
  for (const field of ['sender', undefined]) {
    const response = { error: { ...(field && { field }), message: 'not \u202E' } }
    const markup = markupOf({ ...call, status: 400, auth: 'valid', response } as Entry)
    const note = new JSDOM(markup).window.document.querySelector('[role="note"]')!.textContent!
    expect(note).toContain('<U+202E>')
    expect(note).not.toContain('\u202E')
  }
})

describe('a long payload', () => {
  const long = 'x'.repeat(10 * PAYLOAD_LIMIT)
  const recorder = new Journal()
  const call = recorder.entries[recorder.call('message', { message: long, buttons: [{ label: 'a' }] }) - 1]!

  it('is shortened, and short fields beside it are complete', () => {
    const capped = JSON.stringify(truncateEntry(call))
    expect(capped.length).toBeLessThan(PAYLOAD_LIMIT + 2000)
    expect(capped).toContain('"buttons":[{"label":"a"}]')
  })

  it('says how much of it is shown', () => {
    expect(markupOf(truncateEntry(call))).toContain('(8 KB of 160 KB kept in this report)')
  })

  it('is shortened as a whole if it has many small fields', () => {
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, index]))
    const entry = {
      ...call,
      request: { headers: fields, body: fields, bytes: 1 },
      response: fields,
    } as unknown as Entry
    expect(JSON.stringify(truncateEntry(entry)).length).toBeLessThan(5 * PAYLOAD_LIMIT)
    expect(markupOf(truncateEntry(entry))).toMatch(/… \(16 KB of \d+ KB kept in this report\)/)
  })

  it('may be any value', () => {
    const odd = { path: `/${long}`, findings: Array.from({ length: 2000 }, () => ({ rule: 'E6', message: 'wrong' })) }
    const text = markupOf(truncateEntry({ ...call, ...odd } as Entry))
    expect(text.length).toBeLessThan(20 * PAYLOAD_LIMIT)
    expect(text).toContain('Findings')
    expect(text).not.toContain('[object Object]')
  })

  it('is the only kind that is shortened', () => {
    const short = recorder.entries[recorder.call('end') - 1]!
    expect(truncateEntry(short)).toBe(short)
  })
})
