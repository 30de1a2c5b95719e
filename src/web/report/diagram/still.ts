/** The timeline as a plain table, for readers without scripts and for paper. */
import type { TimelineRow } from '../../../reporters/timeline.ts'
import { offset } from '../figures.ts'
import { exact, html, type Markup, type Part } from '../markup.ts'
import { conversationsOf } from './columns.ts'
import { entryMarkup } from './entry-view.ts'
import type { Evidence } from './evidence-shape.ts'

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
