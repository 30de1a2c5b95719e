/** What of a row stands in which column of a diagram of text. */
import type { Entry } from '../journal/entry.ts'
import { type Gap, isGap, type Shown } from './elide-rows.ts'
import type { TimelineRow } from './timeline-row.ts'

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
