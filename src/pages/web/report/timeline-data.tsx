/** Collects the timelines of a report, and leaves data out when the report would be too large. */
import { renderToString } from 'preact-render-to-string'
import { visible } from '../../../base/text/terminal-text.ts'
import type { Failure } from '../../../evaluation/finding.ts'
import type { TimelineRow } from '../../../evaluation/timeline/timeline.ts'
import { type TimelineSource, timelineOf } from '../../../evaluation/timeline/timeline.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { EntryDetails } from '../components/entry-details.tsx'
import { conversationsOf } from '../model/diagram-geometry.ts'
import { truncateEntry } from '../model/entry-sections.ts'
import { offsetText } from '../model/formats.ts'
import type { LinkedScenario } from './scenario-links.ts'

/** What a timeline is made of, with its place in the report. */
export interface TimelineInput {
  readonly slug: string
  readonly source: TimelineSource
  /** The entries that failures or findings refer to. */
  readonly marked: ReadonlySet<number>
  readonly isPassed: boolean
}

/** The entries that failures refer to. */
export const markedIn = (failures: readonly Failure[]): Set<number> =>
  new Set(failures.flatMap(({ entrySeqs, nearest }) => [...entrySeqs, ...nearest.map(({ seq }) => seq)]))

export const scenarioTimeline = ({ slug, scenario }: LinkedScenario): TimelineInput => ({
  slug,
  source: scenario,
  marked: markedIn(scenario.failures),
  isPassed: scenario.outcome === 'pass',
})

/** A timeline, for the script of the page. */
export interface EmbeddedTimeline {
  readonly rows: readonly TimelineRow[]
  /** Entries of the rows, as far as they fit into the page; long payloads are truncated. */
  readonly entries: readonly Entry[]
}

/** Bytes of timelines in one report. They are served in order, failed ones first. */
const BUDGET = 20 * 1024 * 1024

/** whole: everything. marked: entries only where a failure points. rows: no entries. nothing: no timeline either. */
export type DetailLevel = 'whole' | 'marked' | 'rows' | 'nothing'

export interface TimelineData {
  readonly level: DetailLevel
  readonly rowCount: number
  /** An `EmbeddedTimeline` as JSON that is safe inside a script element. */
  readonly json: string
  /** Markup for readers without scripts; empty for what passed. */
  readonly staticTable: string
}

export function collectTimelineData(inputs: readonly TimelineInput[], budget = BUDGET): TimelineData[] {
  let left = budget
  const collected: TimelineData[] = []
  for (const input of inputs) {
    const { slug, source, marked, isPassed } = input
    const rows = timelineOf(source)
    let data: TimelineData = { level: 'nothing', rowCount: rows.length, json: '', staticTable: '' }
    for (const level of isPassed ? LEVELS_OF_PASSED : LEVELS) {
      const timeline: EmbeddedTimeline = { rows, entries: collectEntries(input, rows, level) }
      const staticTable = isPassed ? '' : renderStaticTable(slug, timeline, marked)
      const json = scriptJson(timeline)
      const bytes = Buffer.byteLength(json) + Buffer.byteLength(staticTable)
      if (bytes > left) continue
      left -= bytes
      data = { level, rowCount: rows.length, json, staticTable }
      break
    }
    collected.push(data)
  }
  return collected
}

const LEVELS: readonly DetailLevel[] = ['whole', 'marked', 'rows']
const LEVELS_OF_PASSED: readonly DetailLevel[] = ['whole', 'rows']

/** JSON that cannot end the script element around it. */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[<\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The entries that a row or a failure refers to. Of a row with many equal entries, the first two and the last. */
function collectEntries({ source, marked }: TimelineInput, rows: readonly TimelineRow[], level: DetailLevel): Entry[] {
  if (level === 'rows') return []
  const seqs = new Set(marked)
  if (level === 'whole')
    for (const { entrySeqs } of rows)
      for (const seq of [...entrySeqs.slice(0, 2), ...entrySeqs.slice(-1)]) seqs.add(seq)
  return source.journal.filter(({ seq }) => seqs.has(seq)).map(entry => truncateEntry(entry))
}

const MAX_ROWS = 300
const MAX_ENTRIES = 6

export const renderStaticTable = (slug: string, timeline: EmbeddedTimeline, marked: ReadonlySet<number>): string =>
  renderToString(<StaticTimeline slug={slug} timeline={timeline} marked={marked} />)

interface StaticTimelineProps {
  readonly slug: string
  readonly timeline: EmbeddedTimeline
  readonly marked: ReadonlySet<number>
}

function StaticTimeline({ slug, timeline: { rows, entries }, marked }: StaticTimelineProps) {
  const hasChats = conversationsOf(rows).length > 1
  const heads = ['s', 'entry', ...(hasChats ? ['chat'] : []), 'from', 'to', 'what', 'answer']
  const left = rows.length - MAX_ROWS
  return (
    <>
      <table class="static-timeline">
        <thead>
          <tr>
            {heads.map(head => (
              <th key={head}>{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map(({ seq, atMs, conversation, from, to, label, failed, ok, answer }) => (
            <tr key={seq} id={`${slug}/${seq}`} class={failed ? 'failed' : undefined}>
              <td>{offsetText(atMs)}</td>
              <td>#{seq}</td>
              {hasChats ? <td>{visible(conversation ?? '')}</td> : null}
              <td>{from}</td>
              <td>{to === from ? '' : to}</td>
              <td>{label}</td>
              <td>
                {failed ? '✕ ' : ok ? '' : '! '}
                {answer}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 ? <p class="hint">{left} more rows are shown when scripts are allowed.</p> : null}
      {entries
        .filter(({ seq }) => marked.has(seq))
        .slice(0, MAX_ENTRIES)
        .map(entry => (
          <details key={entry.seq} class="report-entry">
            <summary>Entry #{entry.seq}</summary>
            <EntryDetails entry={entry} effects={[]} level={4} isStatic />
          </details>
        ))}
    </>
  )
}
