/** What a page carries of each play besides its verdict: rows of the timeline and the entries behind them. Bounded. */
import type { Entry } from '../../journal/entry.ts'
import { type Timed, type TimelineRow, timelineOf } from '../../reporters/timeline.ts'
import { capEntry } from './cap.ts'
import type { Evidence } from './diagram/evidence-shape.ts'
import { stillTimeline } from './diagram/still.ts'
import { html, json, type Markup } from './markup.ts'
import type { Placed } from './order.ts'

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

export function gatherEvidence(plays: readonly Placed[], budget = BUDGET): Gathered[] {
  let left = budget
  return plays.map(placed => {
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
