/** Renders a timeline as a text diagram with one column per actor, or as a list on a narrow terminal. */
import { formatMs, pad, shorten, visible, widthOf, wrap } from '../../base/text/terminal-text.ts'
import type { TimelineRow } from '../../evaluation/timeline/timeline.ts'
import { type TimelineSource, timelineOf } from '../../evaluation/timeline/timeline.ts'
import type { Entry } from '../../platform/journal/entry.ts'

export interface DiagramLine {
  readonly text: string
  readonly shade: 'plain' | 'faint' | 'bad'
}

interface Cells {
  readonly left: string
  readonly middle: string
  /** An arrow towards the intermediary, one back, or mere text. */
  readonly shape: 'to' | 'back' | 'text'
  readonly right: string
}

interface Widths {
  readonly conversation: number
  readonly left: number
  readonly middle: number
  readonly right: number
}

const PAUSE_MS = 5000
const [MARK_COLUMNS, TIME_COLUMNS, SEQ_COLUMNS, BETWEEN] = [2, 8, 6, 2]
const MAX_CHAT_COLUMNS = 10
/** Below this width the columns would hold only ellipses. */
const MIN_CHAT_COLUMNS = 76
const HEADING: Cells = { left: 'user / agent', middle: 'platform', shape: 'text', right: 'intermediary' }

/** Lines of at most `columns`; empty when the timeline is empty. */
export function diagramOf(source: TimelineSource, columns: number): DiagramLine[] {
  const all = timelineOf(source)
  // Steps that passed are left out, because their entries show what they did.
  const failed = new Set(all.filter(row => row.kind === 'step' && row.failed).map(row => row.step))
  const rows = all.filter(row => row.kind !== 'step' || failed.has(row.step))
  if (rows.length === 0) return []
  const names = new Set(rows.map(({ conversation }) => conversation))
  const hasChats = Object.keys(source.conversations).length > 1 && names.size > 1
  const shownRows = elide(rows)
  if (columns < MIN_CHAT_COLUMNS) {
    const heading = `${MARGIN}--> to the intermediary, <-- from it`
    return [{ text: heading, shade: 'faint' }, ...withPauses(shownRows, row => listedLines(row, columns, hasChats))]
  }
  const joined = joinRows(shownRows, source.journal)
  const cells = joined.flatMap(row => (isGap(row) ? [] : [cellsOf(row)]))
  const chatColumns = Math.max(...[...names].map(name => widthOf(visible(name ?? ''))))
  const widths = widthsFor(cells, columns, hasChats ? Math.min(MAX_CHAT_COLUMNS, chatColumns) + BETWEEN : 0)
  return [
    { text: assemble('', '', '', '', HEADING, widths), shade: 'faint' },
    ...withPauses(joined, row => [diagramLine(row, widths)]),
  ]
}

/** Gives both sides the width they need, within bounds, and the rest to the middle. */
function widthsFor(cells: readonly Cells[], columns: number, conversation: number): Widths {
  const available = columns - MARK_COLUMNS - TIME_COLUMNS - conversation - BETWEEN - SEQ_COLUMNS - BETWEEN
  let [left, right] = [widthOf(HEADING.left), widthOf(HEADING.right)]
  for (const one of cells) {
    left = Math.max(left, widthOf(one.left))
    right = Math.max(right, widthOf(one.right))
  }
  left = Math.min(left, Math.floor(available * 0.28))
  right = Math.min(right, Math.floor(available * 0.34))
  return { conversation, left, right, middle: available - left - right }
}

/** Draws rows or gaps, with a line for each long pause between two rows. */
function withPauses(rows: readonly DiagramRow[], draw: (row: JoinedRow) => DiagramLine[]): DiagramLine[] {
  const lines: DiagramLine[] = []
  let previous: DiagramRow | undefined
  for (const row of rows) {
    if (isGap(row)) {
      lines.push({ text: `  … ${row.gap} ${row.gap === 1 ? 'entry' : 'entries'} …`, shade: 'faint' })
    } else {
      const pauseMs = previous === undefined || isGap(previous) ? 0 : row.atMs - previous.atMs
      if (pauseMs >= PAUSE_MS) lines.push({ text: `  … ${formatMs(pauseMs)} …`, shade: 'faint' })
      lines.push(...draw(row))
    }
    previous = row
  }
  return lines
}

function diagramLine(row: JoinedRow, widths: Widths): DiagramLine {
  const failed = row.failed || row.action?.failed === true
  const time = `+${(row.atMs / 1000).toFixed(2)}`
  const text = assemble(failed ? 'x' : '', time, visible(row.conversation ?? ''), `#${row.seq}`, cellsOf(row), widths)
  return { text, shade: failed ? 'bad' : 'plain' }
}

function assemble(mark: string, time: string, conversation: string, seq: string, cells: Cells, widths: Widths): string {
  const between = ' '.repeat(BETWEEN)
  const parts = [
    pad(mark, MARK_COLUMNS),
    pad(`${time} `, TIME_COLUMNS),
    widths.conversation === 0 ? '' : fitted(conversation, widths.conversation - BETWEEN) + between,
    fitted(cells.left, widths.left) + between,
    pad(`${seq} `, SEQ_COLUMNS),
    middleOf(cells, widths),
    cells.right === '' ? '' : between + shorten(cells.right, widths.right),
  ]
  return parts.join('').trimEnd()
}

const fitted = (text: string, columns: number) => pad(shorten(text, columns), columns)

/** `LABEL ------->`, `<------ LABEL`. Text without an arrow may use the space to its right. */
function middleOf({ shape, middle, right }: Cells, widths: Widths): string {
  const columns = widths.middle
  if (shape === 'text')
    return right === '' ? shorten(middle, columns + BETWEEN + widths.right) : fitted(middle, columns)
  const label = shorten(middle, columns - 5)
  const shaft = '-'.repeat(Math.max(2, columns - widthOf(label) - (label === '' ? 1 : 2)))
  if (shape === 'to') return label === '' ? `${shaft}>` : `${label} ${shaft}>`
  return label === '' ? `<${shaft}` : `<${shaft} ${label}`
}

function cellsOf({ from, to, label, answer: right = '', action }: JoinedRow): Cells {
  const left = action?.label ?? ''
  if (from === 'platform' && to === 'intermediary') return { left, middle: label, shape: 'to', right }
  if (from === 'intermediary' && to === 'platform') return { left, middle: label, shape: 'back', right }
  if (from === 'user') return { left: label, middle: '', shape: 'text', right: '' }
  if (from === 'agent') return { left: `agent ${label}`, middle: '', shape: 'to', right }
  if (to === 'agent') return { left: label, middle: '', shape: 'back', right: '' }
  return { left: '', middle: label, shape: 'text', right }
}

const MAX_LINES = 2
const MARGIN = ' '.repeat(2 + TIME_COLUMNS + SEQ_COLUMNS)

/** A row of the list: at most two lines. */
function listedLines(row: TimelineRow, columns: number, hasChats: boolean): DiagramLine[] {
  const { from, to, label, answer, conversation, failed, atMs, seq } = row
  const head = `${failed ? 'x ' : '  '}${pad(`+${(atMs / 1000).toFixed(2)}`, TIME_COLUMNS)}${pad(`#${seq} `, SEQ_COLUMNS)}`
  let words = `${label}${answer ? `: ${answer}` : ''}`
  if (from === 'platform' && to === 'intermediary') words = `--> ${words}`
  else if (from === 'intermediary' && to === 'platform') words = `<-- ${words}`
  else if (from === 'user' || from === 'agent') words = `${from} ${words}`
  else if (to === 'agent') words = `agent's ${label}`
  const chat = hasChats && conversation !== null ? `${visible(conversation)}: ` : ''
  const free = columns - MARGIN.length
  const lines = wrap(`${chat}${words}`, free)
  const last = lines.splice(MAX_LINES - 1).join(' ')
  if (last !== '') lines.push(last)
  return lines.map((line, index) => ({
    text: `${index === 0 ? head : MARGIN}${shorten(line, free)}`,
    shade: failed ? 'bad' : 'plain',
  }))
}

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

/** Shows both ends, then failures and the rows around them, up to `maxRows`. */
export function elide(rows: readonly TimelineRow[], maxRows = MAX_ROWS): VisibleRow[] {
  if (rows.length <= maxRows) return [...rows]
  const isShown = rows.map((_, index) => index < AT_ENDS || index >= rows.length - AT_ENDS)
  let left = maxRows - 2 * AT_ENDS
  for (const [index, row] of rows.entries()) {
    if (!row.failed || left <= 0) continue
    for (let near = Math.max(0, index - AROUND_FAILURE); near <= index + AROUND_FAILURE && near < rows.length; near++) {
      if (!isShown[near]) left--
      isShown[near] = true
    }
  }
  const shown: VisibleRow[] = []
  for (let from = 0, end = 0; from < rows.length; from = end) {
    end = from + 1
    while (end < rows.length && isShown[end] === isShown[from]) end++
    const group = rows.slice(from, end)
    if (isShown[from] || group.length < MIN_GAP) shown.push(...group)
    else shown.push({ gap: group.reduce((sum, row) => sum + row.entrySeqs.length, 0) })
  }
  return shown
}

/** An event with the action of the user that caused it. */
type JoinedRow = TimelineRow & { readonly action?: TimelineRow }

type DiagramRow = Gap | JoinedRow

function joinRows(rows: readonly VisibleRow[], journal: readonly Entry[]): DiagramRow[] {
  const causes = new Map(journal.map(({ seq, cause }) => [seq, cause]))
  const joined: DiagramRow[] = []
  for (const row of rows) {
    const previous = joined.at(-1)
    const isCaused =
      previous !== undefined &&
      !isGap(previous) &&
      !isGap(row) &&
      previous.kind === 'action' &&
      row.kind === 'event' &&
      causes.get(row.seq) === previous.seq
    if (isCaused) joined.splice(-1, 1, { ...row, action: previous })
    else joined.push(row)
  }
  return joined
}
