/** Selects the rows of a long timeline that a diagram shows: both ends, and the rows around failures. */

import type { Entry } from '../journal/entry.ts'
import type { TimelineRow } from '../timeline/row.ts'

/** The number of entries left out. */
export interface Gap {
  readonly gap: number
}

export type VisibleRow = TimelineRow | Gap

export const isGap = (row: VisibleRow): row is Gap => 'gap' in row

/** Shorter timelines are shown whole; longer ones with about as many rows. */
const MAX_ROWS = 40
const AT_ENDS = 3
const AROUND_FAILURE = 4
/** A gap takes one line itself. */
const MIN_GAP = 3

export function elide(rows: readonly TimelineRow[], maxRows = MAX_ROWS): VisibleRow[] {
  if (rows.length <= maxRows) return [...rows]
  const kept = rowsToKeep(rows, maxRows)
  const visibleRows: VisibleRow[] = []
  for (let at = 0; at < rows.length; ) {
    const end = endOfRun(kept, at)
    const run = rows.slice(at, end)
    if (kept[at] || run.length < MIN_GAP) visibleRows.push(...run)
    else visibleRows.push({ gap: run.reduce((sum, row) => sum + row.entrySeqs.length, 0) })
    at = end
  }
  return visibleRows
}

function endOfRun(kept: readonly boolean[], from: number): number {
  let at = from
  while (at < kept.length && kept[at] === kept[from]) at++
  return at
}

/** Keeps both ends, then failures and the rows around them, up to `maxRows`. */
function rowsToKeep(rows: readonly TimelineRow[], available: number): boolean[] {
  const kept = rows.map((_, index) => index < AT_ENDS || index >= rows.length - AT_ENDS)
  let left = available - 2 * AT_ENDS
  for (const [index, row] of rows.entries()) {
    if (!row.failed || left <= 0) continue
    for (let near = Math.max(0, index - AROUND_FAILURE); near <= index + AROUND_FAILURE && near < rows.length; near++) {
      if (!kept[near]) left--
      kept[near] = true
    }
  }
  return kept
}

export interface Cells {
  readonly left: string
  readonly middle: string
  /** An arrow towards the intermediary, one back, or mere text. */
  readonly shape: 'to' | 'back' | 'text'
  readonly right: string
}

/** Joins an action of the user with the event that it caused. */
export type DiagramRow = Gap | (TimelineRow & { readonly action?: TimelineRow })

export function joinRows(rows: readonly VisibleRow[], journal: readonly Entry[]): DiagramRow[] {
  const causes = new Map(journal.map(({ seq, cause }) => [seq, cause]))
  const joined: DiagramRow[] = []
  for (const row of rows) {
    const previous = joined.at(-1)
    if (previous && !isGap(previous) && !isGap(row) && causedBy(previous, row, causes)) {
      joined.splice(-1, 1, { ...row, action: previous })
    } else joined.push(row)
  }
  return joined
}

const causedBy = (previous: TimelineRow, row: TimelineRow, causes: ReadonlyMap<number, number | null>) =>
  previous.kind === 'action' && row.kind === 'event' && causes.get(row.seq) === previous.seq

const NOTHING: Cells = { left: '', middle: '', shape: 'text', right: '' }

export function cellsOf(row: DiagramRow): Cells {
  if (isGap(row)) return NOTHING
  const { from, to, label, answer: right = '' } = row
  const left = row.action?.label ?? ''
  if (from === 'platform' && to === 'intermediary') return { left, middle: label, shape: 'to', right }
  if (from === 'intermediary' && to === 'platform') return { left, middle: label, shape: 'back', right }
  if (from === 'user') return { ...NOTHING, left: label }
  if (from === 'agent') return { left: `agent ${label}`, middle: '', shape: 'to', right }
  if (to === 'agent') return { left: label, middle: '', shape: 'back', right: '' }
  return { ...NOTHING, middle: label, right }
}
