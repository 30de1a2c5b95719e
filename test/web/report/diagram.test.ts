import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import type { TimelineRow } from '../../../src/evaluation/timeline/timeline.ts'
import { timelineOf } from '../../../src/evaluation/timeline/timeline.ts'
import { EntryDetails } from '../../../src/pages/web/components/entry-details.tsx'
import { SequenceDiagram } from '../../../src/pages/web/components/sequence-diagram.tsx'
import { labelSpace, quietBefore, spanOf } from '../../../src/pages/web/model/diagram-geometry.ts'
import { sectionsOf } from '../../../src/pages/web/model/entry-sections.ts'
import { renderStaticTable } from '../../../src/pages/web/report/timeline-data.tsx'
import { Journal } from '../../reporters/run-results.ts'
import { crossTalkPlay, escapedPlay, silentResult } from '../../reporters/samples.ts'

const row = (more: Partial<TimelineRow>): TimelineRow => ({
  seq: 1,
  atMs: 0,
  from: 'platform',
  to: 'intermediary',
  conversation: 'main',
  kind: 'event',
  label: 'REQUESTING TAKEOVER',
  ok: true,
  failed: false,
  step: null,
  entrySeqs: [1],
  ...more,
})
const ignored = () => undefined
const draw = (rows: readonly TimelineRow[], label: string) =>
  renderToString(
    h(SequenceDiagram, { rows, label, selected: -1, conversation: null, onMove: ignored, onOpen: ignored }),
  )
const times = (text: string, what: RegExp) => text.match(what)?.length ?? 0

describe('the position of a row', () => {
  it('leaves space for the label inside of the drawing', () => {
    for (const from of ['user', 'platform', 'intermediary', 'agent', 'runner'] as const) {
      for (const to of ['user', 'platform', 'intermediary', 'agent', 'runner'] as const) {
        const { left, right } = labelSpace(spanOf(row({ from, to })))
        expect(Math.min(left, right), `${from} to ${to}`).toBeGreaterThanOrEqual(0)
        expect(100 - left - right, `${from} to ${to}`).toBeGreaterThanOrEqual(30)
      }
    }
  })

  it('has a gap after a second without entries', () => {
    const rows = [row({}), row({ atMs: 999 }), row({ atMs: 1999 })]
    expect(rows.map((_, index) => quietBefore(rows, index))).toEqual([null, null, 1000])
  })
})

describe('a drawn timeline', () => {
  const rows = timelineOf(escapedPlay())
  const text = draw(rows, 'Happy path')

  it('has one option per row, and Tab reaches one of them', () => {
    expect(times(text, /role="option"/g)).toBe(rows.length)
    expect(times(text, /tabindex="0"/g)).toBe(1)
  })

  it('marks a failure by a named symbol, not only by colour', () => {
    expect(rows.filter(({ failed }) => failed)).toHaveLength(2)
    expect(times(text, /aria-label="failed"/g)).toBe(2)
  })

  it('describes the direction as text beside the arrow', () => {
    expect(text).toContain('>intermediary to platform </span>')
  })

  it('shows chats only if there are several', () => {
    const one = draw(timelineOf(silentResult()), 'One chat')
    expect(one).not.toMatch(/with-chats|hue-/)
    const two = draw(timelineOf(crossTalkPlay()), 'Two chats')
    expect(two).toContain('with-chats')
    expect(two).toContain('hue-1')
    expect(two).toContain('hue-2')
  })

  it('is rendered in parts when it is long', () => {
    const many = Array.from({ length: 120 }, (_, index) => row({ seq: index, atMs: index }))
    expect(times(draw(many, 'Many'), /class="diagram-chunk"/g)).toBe(3)
  })
})

it('without scripts, a timeline is a table with the same rows, shortened if it is very long', () => {
  const rows = timelineOf(escapedPlay())
  const text = renderStaticTable('happy-path', { rows, entries: [] }, new Set())
  expect(times(text, /<tr id="happy-path\/\d+"/g)).toBe(rows.length)
  const many = Array.from({ length: 400 }, () => rows[0]!)
  expect(renderStaticTable('x', { rows: many, entries: [] }, new Set())).toContain('100 more rows')
})

describe('the details of an entry', () => {
  const recorder = new Journal()
  const refused = {
    status: 404,
    auth: 'unknown' as const,
    findings: [{ rule: 'E6', message: 'no such chat' }],
    unspecified: { 'errors.body': 'json', 'typing.again': null },
  }
  const call = recorder.entries[recorder.call('message', { message: 'Hi' }, refused) - 1]!
  const failed = { status: null, response: null, failure: { code: 'timeout', timeout_ms: 100 } } as const
  recorder.delivery('d1', { ...failed, request: { headers: {}, body: '{"event":"REQUESTING TAKEOVER"}' } })

  it('show request, answer, findings and assumptions of a call', () => {
    const [sent, answer, ...others] = sectionsOf(call)
    expect(sent).toMatchObject({
      title: 'POST /api/v2/handover/message',
      aside: '70 bytes',
      payload: { message: 'Hi' },
    })
    expect([answer!.title, others]).toEqual(['Answer 404', []])
    const markup = renderToString(h(EntryDetails, { entry: call, effects: [], isStatic: true }))
    expect(markup).toContain('<code>E6</code> no such chat')
    expect(markup).toContain('<span>errors.body</span><code>json</code>')
    expect(markup).toContain('<span>typing.again</span>')
  })

  it('show the parsed body of a delivery, and why it has no answer', () => {
    const [sent, answer] = sectionsOf(recorder.entries.at(-1)!)
    expect(sent!.payload).toMatchObject({ event: 'REQUESTING TAKEOVER' })
    expect(answer).toEqual({ title: 'No answer', aside: '31 ms' })
    const markup = renderToString(h(EntryDetails, { entry: recorder.entries.at(-1)!, effects: [], isStatic: true }))
    expect(markup).toContain('timeout: no complete answer within 100 ms')
  })
})
