/** Renders a sequence diagram: one row of HTML per timeline row, with an SVG arrow that stretches with the page. */
import type { Entry } from '../../journal/entry.ts'
import { formatMs } from '../../text/terminal-text.ts'
import type { TimelineRow } from '../../timeline/rows.ts'
import {
  type ColumnSpan,
  conversationsOf,
  LIFELINES,
  labelSpace,
  quietBefore,
  routeOf,
  spanOf,
} from '../model/diagram-geometry.ts'
import { offsetText } from '../model/formats.ts'
import { html, type Markup, type Part } from './markup.ts'

export interface EmbeddedTimeline {
  readonly rows: readonly TimelineRow[]
  /** Entries of the rows, as far as they fit into the page; long payloads are truncated. */
  readonly entries: readonly Entry[]
}

/** Rows per chunk: the browser lays out a chunk when it comes near the screen. */
const CHUNK = 50
/** Colours for chats; with more chats they repeat, and names tell the chats apart. */
const HUES = 6

export function drawDiagram(rows: readonly TimelineRow[], name: string): Markup {
  const conversations = conversationsOf(rows)
  return html`<div class="diagram${conversations.length > 1 && ' with-chats'}">
${heads}
<div class="rows" role="listbox" aria-label="What happened in ${name}">${chunksOf(rows, conversations)}</div>
</div>`
}

const heads = html`<div class="heads" aria-hidden="true"><span class="at">s</span><span class="seq">entry</span><span class="chat">chat</span><span class="lifelines">${LIFELINES.map(
  ({ actor, at }) => html`<span style="left:${at}%">${actor}</span>`,
)}</span><span class="answer">answer</span></div>`

function chunksOf(rows: readonly TimelineRow[], conversations: readonly string[]): Part[] {
  const chunks: Part[] = []
  for (let first = 0; first < rows.length; first += CHUNK) {
    const drawn = rows
      .slice(first, first + CHUNK)
      .map((row, index) => rowAt(row, quietBefore(rows, first + index), first + index, conversations))
    chunks.push(html`<div class="chunk" role="none" style="--rows:${drawn.length}">${drawn}</div>`)
  }
  return chunks
}

function rowAt(row: TimelineRow, quiet: number | null, index: number, conversations: readonly string[]): Part {
  const gap =
    quiet !== null && html`<div class="gap" role="none"><span aria-hidden="true">${formatMs(quiet)} later</span></div>`
  return [gap, drawRow(row, index, conversations)]
}

function drawRow(row: TimelineRow, index: number, conversations: readonly string[]): Markup {
  const span = spanOf(row)
  return html`<div class="${classesOf(row, span, conversations)}" role="option" tabindex="${index === 0 ? 0 : -1}" aria-selected="false" data-index="${index}" data-conversation="${row.conversation ?? ''}">
<span class="at">${offsetText(row.atMs)}</span><span class="seq">#${row.seq}</span><span class="chat" title="${row.conversation ?? ''}">${row.conversation}</span>
<span class="lifelines">${arrow(span)}<span class="route">${routeOf(row)}</span> ${labelOf(row, span)}</span>
<span class="answer" title="${row.answer ?? ''}">${markOf(row)}${row.answer}</span></div>`
}

function classesOf(
  { kind, failed, ok, conversation }: TimelineRow,
  { points }: ColumnSpan,
  conversations: readonly string[],
): string {
  const hue =
    conversation === null || conversations.length === 1 ? '' : `hue-${(conversations.indexOf(conversation) % HUES) + 1}`
  const state = failed ? 'failed' : ok ? '' : 'refused'
  return ['row', kind, state, hue, points === null && 'no-arrow'].filter(Boolean).join(' ')
}

function labelOf({ label, kind }: TimelineRow, span: ColumnSpan): Markup {
  const { left, right, side } = labelSpace(span)
  const faultMark = kind === 'fault' && html`<svg class="mark" aria-hidden="true"><use href="#mark-fault"/></svg> `
  return html`<span class="label ${side}" style="--left:${left}%;--right:${right}%" title="${label}">${faultMark}${label}</span>`
}

function arrow({ left, right, points }: ColumnSpan): Part {
  if (points === null) return null
  const head = points === 'left' ? left : right
  return html`<svg class="arrow" aria-hidden="true" focusable="false"><line x1="${left}%" x2="${right}%" y1="5" y2="5"/><use href="#head-${points}" x="${head}%" y="5"/></svg>`
}

/** Marks failed and refused rows by shape, never by colour alone. */
function markOf({ failed, ok }: TimelineRow): Part {
  if (failed) return html`<svg class="mark fail" role="img" aria-label="failed"><use href="#mark-fail"/></svg> `
  return !ok && html`<svg class="mark error" role="img" aria-label="refused"><use href="#mark-error"/></svg> `
}
