/** Renders a timeline as a text diagram with one column per actor, or as a list on a narrow terminal. */

import { formatMs, pad, shorten, visible, widthOf, wrap } from '../../base/text/terminal-text.ts'
import type { TimelineRow } from '../../evaluation/timeline/rows.ts'
import { type TimelineSource, timelineOf } from '../../evaluation/timeline/timeline.ts'
import type { Entry } from '../../platform/journal/entry.ts'

export interface DiagramLine {
  readonly text: string
  readonly shade: 'plain' | 'faint' | 'bad'
}

interface Widths {
  readonly conversation: number
  readonly left: number
  readonly middle: number
  readonly right: number
}

interface Drawn {
  readonly row: DiagramRow
  readonly cells: Cells
}

const PAUSE_MS = 5000
const [MARK_COLUMNS, TIME_COLUMNS, SEQ_COLUMNS, BETWEEN] = [2, 8, 6, 2]
const MAX_CHAT_COLUMNS = 10
/** Below this width the columns would hold only ellipses. */
const MIN_CHAT_COLUMNS = 76
const heading = (): Cells => ({ left: 'user / agent', middle: 'platform', shape: 'text', right: 'intermediary' })

/** Lines of at most `columns`; empty when the timeline is empty. */
export function diagramOf(source: TimelineSource, columns: number): DiagramLine[] {
  const rows = withoutPassedSteps(timelineOf(source))
  if (rows.length === 0) return []
  const conversations = conversationsIn(rows, source)
  const visibleRows = elide(rows)
  if (columns < MIN_CHAT_COLUMNS)
    return [
      { text: `${MARGIN}--> to the intermediary, <-- from it`, shade: 'faint' },
      ...withPauses(visibleRows, row =>
        isGap(row) ? [gapLine(row)] : listedRow(row, columns, conversations.length > 0),
      ),
    ]
  const joined = joinRows(visibleRows, source.journal)
  const widths = widthsFor(joined.map(cellsOf), columns, conversations)
  const lines = withPauses(joined, row => [lineOf({ row, cells: cellsOf(row) }, widths)])
  return [{ text: assemble('', '', '', '', heading(), widths), shade: 'faint' }, ...lines]
}

/** Leaves out steps that passed, because their entries show what they did. */
function withoutPassedSteps(rows: readonly TimelineRow[]): TimelineRow[] {
  const failed = new Set(rows.filter(row => row.kind === 'step' && row.failed).map(row => row.step))
  return rows.filter(row => row.kind !== 'step' || failed.has(row.step))
}

/** The names of the chats; empty when there is only one. */
function conversationsIn(rows: readonly TimelineRow[], { conversations }: TimelineSource): string[] {
  const names = new Set(rows.map(({ conversation }) => conversation))
  return Object.keys(conversations).length > 1 && names.size > 1
    ? [...names].map(conversation => visible(conversation ?? ''))
    : []
}

/** Gives both sides the width they need, within bounds, and the rest to the middle. */
function widthsFor(drawn: readonly Cells[], columns: number, conversations: readonly string[]): Widths {
  const conversation =
    conversations.length === 0 ? 0 : Math.min(MAX_CHAT_COLUMNS, Math.max(...conversations.map(widthOf))) + BETWEEN
  const fixed = MARK_COLUMNS + TIME_COLUMNS + conversation + BETWEEN + SEQ_COLUMNS + BETWEEN
  const available = columns - fixed
  const needed = (side: 'left' | 'right') => Math.max(...[heading(), ...drawn].map(cells => widthOf(cells[side])))
  const left = Math.min(needed('left'), Math.floor(available * 0.28))
  const right = Math.min(needed('right'), Math.floor(available * 0.34))
  return { conversation, left, right, middle: available - left - right }
}

const withPauses = <Row extends DiagramRow>(rows: readonly Row[], draw: (row: Row) => DiagramLine[]): DiagramLine[] =>
  rows.flatMap((row, index) => [...pauseBefore(rows[index - 1], row), ...draw(row)])

/** A line for a long pause between two rows. */
function pauseBefore(previous: DiagramRow | undefined, row: DiagramRow): DiagramLine[] {
  if (previous === undefined || isGap(previous) || isGap(row)) return []
  const gapMs = row.atMs - previous.atMs
  return gapMs < PAUSE_MS ? [] : [{ text: `  … ${formatMs(gapMs)} …`, shade: 'faint' }]
}

const gapLine = ({ gap }: Gap): DiagramLine => ({
  text: `  … ${gap} ${gap === 1 ? 'entry' : 'entries'} …`,
  shade: 'faint',
})

function lineOf({ row, cells }: Drawn, widths: Widths): DiagramLine {
  if (isGap(row)) return gapLine(row)
  const failed = row.failed || row.action?.failed === true
  const time = `+${(row.atMs / 1000).toFixed(2)}`
  const text = assemble(failed ? 'x' : '', time, visible(row.conversation ?? ''), `#${row.seq}`, cells, widths)
  return { text, shade: failed ? 'bad' : 'plain' }
}

function assemble(mark: string, time: string, conversation: string, seq: string, cells: Cells, widths: Widths): string {
  const between = ' '.repeat(BETWEEN)
  const parts = [
    pad(mark, MARK_COLUMNS),
    pad(`${time} `, TIME_COLUMNS),
    widths.conversation === 0 ? '' : cell(conversation, widths.conversation - BETWEEN) + between,
    cell(cells.left, widths.left) + between,
    pad(`${seq} `, SEQ_COLUMNS),
    middleOf(cells, widths),
    cells.right === '' ? '' : between + shorten(cells.right, widths.right),
  ]
  return parts.join('').trimEnd()
}

const cell = (text: string, columns: number) => pad(shorten(text, columns), columns)

/** `LABEL ------->`, `<------ LABEL`. Text without an arrow may use the space to its right. */
function middleOf({ shape, middle, right }: Cells, widths: Widths): string {
  const columns = widths.middle
  if (shape === 'text') return right === '' ? shorten(middle, columns + BETWEEN + widths.right) : cell(middle, columns)
  const label = shorten(middle, columns - 5)
  const shaft = '-'.repeat(Math.max(2, columns - widthOf(label) - (label === '' ? 1 : 2)))
  if (shape === 'to') return label === '' ? `${shaft}>` : `${label} ${shaft}>`
  return label === '' ? `<${shaft}` : `<${shaft} ${label}`
}

const MAX_LINES = 2
const MARGIN = ' '.repeat(2 + TIME_COLUMNS + SEQ_COLUMNS)

function listedRow(row: TimelineRow, columns: number, withConversation: boolean): DiagramLine[] {
  const conversation = withConversation && row.conversation !== null ? `${visible(row.conversation)}: ` : ''
  const [first = '', ...more] = folded(`${conversation}${wordsOf(row)}`, columns - MARGIN.length)
  const shade = row.failed ? 'bad' : 'plain'
  return [
    `${row.failed ? 'x ' : '  '}${pad(`+${(row.atMs / 1000).toFixed(2)}`, TIME_COLUMNS)}${pad(`#${row.seq} `, SEQ_COLUMNS)}${first}`,
    ...more.map(line => `${MARGIN}${line}`),
  ].map(text => ({ text, shade }))
}

function wordsOf({ from, to, label, answer }: TimelineRow): string {
  const answerText = answer ? `: ${answer}` : ''
  if (from === 'platform' && to === 'intermediary') return `--> ${label}${answerText}`
  if (from === 'intermediary' && to === 'platform') return `<-- ${label}${answerText}`
  if (from === 'user' || from === 'agent') return `${from} ${label}${answerText}`
  return to === 'agent' ? `agent's ${label}` : `${label}${answerText}`
}

/** Folds text to two lines, and shortens the second one. */
function folded(text: string, columns: number): string[] {
  const lines = wrap(text, columns)
  const last = lines.slice(MAX_LINES - 1).join(' ')
  return [...lines.slice(0, MAX_LINES - 1), ...(last === '' ? [] : [last])].map(line => shorten(line, columns))
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

function joinRows(rows: readonly VisibleRow[], journal: readonly Entry[]): DiagramRow[] {
  const causes = new Map(journal.map(({ seq, cause }) => [seq, cause]))
  const joined: DiagramRow[] = []
  for (const row of rows) {
    const previous = joined.at(-1)
    if (
      previous &&
      !isGap(previous) &&
      !isGap(row) &&
      previous.kind === 'action' &&
      row.kind === 'event' &&
      causes.get(row.seq) === previous.seq
    ) {
      joined.splice(-1, 1, { ...row, action: previous })
    } else joined.push(row)
  }
  return joined
}

const NOTHING: Cells = { left: '', middle: '', shape: 'text', right: '' }

function cellsOf(row: DiagramRow): Cells {
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
