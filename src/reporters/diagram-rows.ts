/** Which rows of a long timeline are worth showing: where it begins and ends, and what is around the failures. */

import type { Entry } from '../journal/entry.ts'
import type { TimelineRow } from '../timeline/row.ts'

/** Left out: so many entries. */
export interface Gap {
  readonly gap: number
}

export type Shown = TimelineRow | Gap

export const isGap = (row: Shown): row is Gap => 'gap' in row

/** Timelines up to this are shown whole; longer ones with about as many rows. */
const WHOLE = 40
const AT_ENDS = 3
const AROUND_FAILURE = 4
/** A gap takes a line itself. */
const SMALLEST_GAP = 3

export function elide(rows: readonly TimelineRow[], whole = WHOLE): Shown[] {
  if (rows.length <= whole) return [...rows]
  const kept = chosen(rows, whole)
  const shown: Shown[] = []
  for (let at = 0; at < rows.length; ) {
    const end = endOfRun(kept, at)
    const run = rows.slice(at, end)
    if (kept[at] || run.length < SMALLEST_GAP) shown.push(...run)
    else shown.push({ gap: run.reduce((sum, row) => sum + row.entrySeqs.length, 0) })
    at = end
  }
  return shown
}

function endOfRun(kept: readonly boolean[], from: number): number {
  let at = from
  while (at < kept.length && kept[at] === kept[from]) at++
  return at
}

/** Both ends always; then failures with what is around them, as long as there is room. */
function chosen(rows: readonly TimelineRow[], room: number): boolean[] {
  const kept = rows.map((_, index) => index < AT_ENDS || index >= rows.length - AT_ENDS)
  let left = room - 2 * AT_ENDS
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

/** What the user did and the event it caused are one line. */
export type Joined = Gap | (TimelineRow & { readonly action?: TimelineRow })

export function joinRows(rows: readonly Shown[], journal: readonly Entry[]): Joined[] {
  const causes = new Map(journal.map(({ seq, cause }) => [seq, cause]))
  const joined: Joined[] = []
  for (const row of rows) {
    const before = joined.at(-1)
    if (before && !isGap(before) && !isGap(row) && causedBy(before, row, causes)) {
      joined.splice(-1, 1, { ...row, action: before })
    } else joined.push(row)
  }
  return joined
}

const causedBy = (before: TimelineRow, row: TimelineRow, causes: ReadonlyMap<number, number | null>) =>
  before.kind === 'action' && row.kind === 'event' && causes.get(row.seq) === before.seq

const NOTHING: Cells = { left: '', middle: '', shape: 'text', right: '' }

export function cellsOf(row: Joined): Cells {
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
