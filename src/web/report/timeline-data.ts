/** Collects the timelines and entries that a page holds, up to a limit of size. */
import type { ScenarioReport } from '../../evaluator/wording/report.ts'
import type { Entry } from '../../journal/entry.ts'
import type { TimelineRow } from '../../timeline/row.ts'
import { timelineOf } from '../../timeline/timeline.ts'
import { conversationsOf, type EmbeddedTimeline } from './diagram.ts'
import { entryMarkup } from './entry-details.ts'
import { offsetText } from './formatting.ts'
import { exact, html, json, type Markup, type Part } from './markup.ts'
import type { LinkedScenario } from './scenario-links.ts'
import { truncateEntry } from './truncate-entry.ts'

/** Bytes of timelines in one report. Scenarios are served in order, failed ones first. */
const BUDGET = 20 * 1024 * 1024

/** whole: everything. marked: entries only where a failure points. rows: no entries. nothing: no timeline either. */
export type DetailLevel = 'whole' | 'marked' | 'rows' | 'nothing'

export interface TimelineData {
  readonly level: DetailLevel
  readonly rowCount: number
  /** For the page's script. */
  readonly embedded: Markup
  /** For readers without it; only of plays that did not pass. */
  readonly staticTable: Markup
}

export function collectTimelineData(scenarios: readonly LinkedScenario[], budget = BUDGET): TimelineData[] {
  let left = budget
  return scenarios.map(linked => {
    const data = fittingData(linked, left)
    left -= bytesOf(data)
    return data
  })
}

const bytesOf = ({ embedded, staticTable }: TimelineData) =>
  Buffer.byteLength(embedded.text) + Buffer.byteLength(staticTable.text)

function fittingData(linked: LinkedScenario, left: number): TimelineData {
  const rows = timelineOf(linked.scenario)
  const passed = linked.scenario.outcome === 'pass'
  const levels: readonly DetailLevel[] = passed ? ['whole', 'rows'] : ['whole', 'marked', 'rows']
  for (const level of levels) {
    const timeline: EmbeddedTimeline = { rows, entries: entriesOf(linked.scenario, rows, level) }
    const staticTable = passed ? html`` : renderStaticTable(linked.slug, timeline, markedSeqs(linked.scenario))
    const data = { level, rowCount: rows.length, embedded: json(timeline), staticTable }
    if (bytesOf(data) <= left) return data
  }
  return { level: 'nothing', rowCount: rows.length, embedded: html``, staticTable: html`` }
}

/** The entries that a row or a failure refers to. */
function entriesOf(scenario: ScenarioReport, rows: readonly TimelineRow[], level: DetailLevel): Entry[] {
  if (level === 'rows') return []
  const seqs = markedSeqs(scenario)
  if (level === 'whole') for (const row of rows) for (const seq of sampleSeqs(row)) seqs.add(seq)
  return scenario.journal.filter(({ seq }) => seqs.has(seq)).map(entry => truncateEntry(entry))
}

/** Of a row with many equal entries, the first two and the last. */
const sampleSeqs = ({ entrySeqs }: TimelineRow) =>
  entrySeqs.length <= 3 ? entrySeqs : [...entrySeqs.slice(0, 2), ...entrySeqs.slice(-1)]

/** The entries that the failures of a scenario refer to. */
const markedSeqs = ({ failures }: ScenarioReport): Set<number> =>
  new Set(failures.flatMap(({ entrySeqs, nearest }) => [...entrySeqs, ...nearest.map(({ seq }) => seq)]))

const MAX_ROWS = 300
const MAX_ENTRIES = 6

export function renderStaticTable(
  slug: string,
  { rows, entries }: EmbeddedTimeline,
  marked: ReadonlySet<number>,
): Markup {
  const shown = rows.slice(0, MAX_ROWS)
  const severalConversations = conversationsOf(rows).length > 1
  const pointedAt = entries.filter(({ seq }) => marked.has(seq)).slice(0, MAX_ENTRIES)
  return html`<table class="static-table">
<thead><tr><th>s</th><th>entry</th>${severalConversations && html`<th>chat</th>`}<th>from</th><th>to</th><th>what</th><th>answer</th></tr></thead>
<tbody>${shown.map(row => staticRow(row, slug, severalConversations))}</tbody></table>
${rows.length > shown.length && html`<p class="left-out">${rows.length - shown.length} more rows are shown when scripts are allowed.</p>`}
${pointedAt.map(entry => html`<details class="static-entry"><summary>Entry #${entry.seq}</summary>${entryMarkup(entry)}</details>`)}`
}

const staticRow = (row: TimelineRow, slug: string, severalConversations: boolean): Part => html`
<tr id="${exact(`${slug}/${row.seq}`)}"${row.failed && html` class="failed"`}><td>${offsetText(row.atMs)}</td><td>#${row.seq}</td>${severalConversations && html`<td>${row.conversation}</td>`}<td>${row.from}</td><td>${row.to === row.from ? '' : row.to}</td><td>${row.label}</td><td>${row.failed ? '✕ ' : row.ok ? '' : '! '}${row.answer}</td></tr>`
