/** What a page carries of each play besides its verdict: rows of the timeline and the entries behind them. Bounded. */
import type { Entry } from '../../journal/entry.ts'
import type { TimelineRow } from '../../timeline/row.ts'
import { type Timed, timelineOf } from '../../timeline/timeline.ts'
import { conversationsOf, type Evidence } from './diagram.ts'
import { entryMarkup } from './entry-details.ts'
import { offset } from './formatting.ts'
import { exact, html, json, type Markup, type Part } from './markup.ts'
import type { Placed } from './scenario-links.ts'
import { capEntry } from './truncate-entry.ts'

/** Bytes of evidence in one report. Who comes first is served first, so failures belong there. */
const BUDGET = 20 * 1024 * 1024

/** whole: everything. marked: entries only where a failure points. rows: no entries. nothing: no timeline either. */
export type Kept = 'whole' | 'marked' | 'rows' | 'nothing'

export interface Gathered {
  readonly kept: Kept
  readonly rowCount: number
  /** For the page's script. */
  readonly embedded: Markup
  /** For readers without it; only of plays that did not pass. */
  readonly still: Markup
}

export function gatherEvidence(scenarios: readonly Placed[], budget = BUDGET): Gathered[] {
  let left = budget
  return scenarios.map(placed => {
    const gathered = firstThatFits(placed, left)
    left -= bytesOf(gathered)
    return gathered
  })
}

const bytesOf = ({ embedded, still }: Gathered) => Buffer.byteLength(embedded.text) + Buffer.byteLength(still.text)

function firstThatFits(placed: Placed, left: number): Gathered {
  const rows = timelineOf(placed.played)
  const passed = placed.played.outcome === 'pass'
  const levels: readonly Kept[] = passed ? ['whole', 'rows'] : ['whole', 'marked', 'rows']
  for (const kept of levels) {
    const evidence: Evidence = { rows, entries: entriesOf(placed.played, rows, kept) }
    const still = passed ? html`` : stillTimeline(placed.slug, evidence, markedIn(placed.played))
    const gathered = { kept, rowCount: rows.length, embedded: json(evidence), still }
    if (bytesOf(gathered) <= left) return gathered
  }
  return { kept: 'nothing', rowCount: rows.length, embedded: html``, still: html`` }
}

/** Only what a row or a failure leads to can ever be looked at. */
function entriesOf(played: Timed, rows: readonly TimelineRow[], kept: Kept): Entry[] {
  if (kept === 'rows') return []
  const seqs = markedIn(played)
  if (kept === 'whole') for (const row of rows) for (const seq of toldBy(row)) seqs.add(seq)
  return played.journal.filter(({ seq }) => seqs.has(seq)).map(entry => capEntry(entry))
}

/** A poll that saw the same a hundred times is shown by its first two entries and its last. */
const toldBy = ({ entrySeqs }: TimelineRow) =>
  entrySeqs.length <= 3 ? entrySeqs : [...entrySeqs.slice(0, 2), ...entrySeqs.slice(-1)]

/** Entries the failures of a play point to. */
const markedIn = ({ failures }: Timed): Set<number> =>
  new Set(failures.flatMap(({ marks, nearest }) => [...marks, ...nearest.map(({ seq }) => seq)]))

const MOST_ROWS = 300
const MOST_ENTRIES = 6

export function stillTimeline(slug: string, { rows, entries }: Evidence, marked: ReadonlySet<number>): Markup {
  const shown = rows.slice(0, MOST_ROWS)
  const severalConversations = conversationsOf(rows).length > 1
  const pointedAt = entries.filter(({ seq }) => marked.has(seq)).slice(0, MOST_ENTRIES)
  return html`<table class="still">
<thead><tr><th>s</th><th>entry</th>${severalConversations && html`<th>chat</th>`}<th>from</th><th>to</th><th>what</th><th>answer</th></tr></thead>
<tbody>${shown.map(row => stillRow(row, slug, severalConversations))}</tbody></table>
${rows.length > shown.length && html`<p class="left-out">${rows.length - shown.length} more rows are shown when scripts are allowed.</p>`}
${pointedAt.map(entry => html`<details class="still-entry"><summary>Entry #${entry.seq}</summary>${entryMarkup(entry)}</details>`)}`
}

const stillRow = (row: TimelineRow, slug: string, severalConversations: boolean): Part => html`
<tr id="${exact(`${slug}/${row.seq}`)}"${row.failed && html` class="failed"`}><td>${offset(row.atMs)}</td><td>#${row.seq}</td>${severalConversations && html`<td>${row.conversation}</td>`}<td>${row.from}</td><td>${row.to === row.from ? '' : row.to}</td><td>${row.label}</td><td>${row.failed ? '✕ ' : row.ok ? '' : '! '}${row.answer}</td></tr>`
