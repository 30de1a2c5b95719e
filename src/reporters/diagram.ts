/** A timeline as swim lanes of text: user and agent on the left, the platform between, the intermediary on the right. */
import { formatMs, pad, shorten, widthOf, wrap } from '../text/terminal-text.ts'
import { visible } from '../text/visible.ts'
import type { TimelineRow } from '../timeline/row.ts'
import { type Timed, timelineOf } from '../timeline/timeline.ts'
import { type Cells, cellsOf, elide, type Gap, isGap, type Joined, joinRows, type Shown } from './diagram-rows.ts'

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
  readonly row: Joined
  readonly cells: Cells
}

const IDLE_MS = 5000
const [MARK_COLUMNS, TIME_COLUMNS, SEQ_COLUMNS, BETWEEN] = [2, 8, 6, 2]
const LONGEST_LANE = 10
/** With less room the lanes leave nothing but ellipses. */
const NARROWEST = 76
const HEADING: Cells = { left: 'user / agent', middle: 'platform', shape: 'text', right: 'intermediary' }

/** At most `columns` wide. Empty when there is nothing to show. */
export function diagramOf(played: Timed, columns: number): DiagramLine[] {
  const rows = withoutQuietSteps(timelineOf(played))
  if (rows.length === 0) return []
  const conversations = conversationsIn(rows, played)
  const shown = elide(rows)
  if (columns < NARROWEST)
    return [LIST_HEADING, ...withSilences(shown, row => listed(row, columns, conversations.length > 0))]
  const joined = joinRows(shown, played.journal)
  const widths = widthsFor(joined.map(cellsOf), columns, conversations)
  const lines = withSilences(joined, row => [lineOf({ row, cells: cellsOf(row) }, widths)])
  return [{ text: assemble('', '', '', '', HEADING, widths), shade: 'faint' }, ...lines]
}

const listed = (row: Shown, columns: number, withConversation: boolean): DiagramLine[] =>
  isGap(row) ? [gapLine(row)] : listedRow(row, columns, withConversation)

/** What a step did is told by what happened; only those that failed are named. */
function withoutQuietSteps(rows: readonly TimelineRow[]): TimelineRow[] {
  const failed = new Set(rows.filter(row => row.kind === 'step' && row.failed).map(row => row.step))
  return rows.filter(row => row.kind !== 'step' || failed.has(row.step))
}

/** Named only when there are several. */
function conversationsIn(rows: readonly TimelineRow[], { conversations }: Timed): string[] {
  const seen = new Set(rows.map(({ conversation }) => conversation))
  return Object.keys(conversations).length > 1 && seen.size > 1
    ? [...seen].map(conversation => visible(conversation ?? ''))
    : []
}

/** Both sides as wide as they need to be, within bounds; the rest is for what goes between. */
function widthsFor(drawn: readonly Cells[], columns: number, conversations: readonly string[]): Widths {
  const conversation =
    conversations.length === 0 ? 0 : Math.min(LONGEST_LANE, Math.max(...conversations.map(widthOf))) + BETWEEN
  const fixed = MARK_COLUMNS + TIME_COLUMNS + conversation + BETWEEN + SEQ_COLUMNS + BETWEEN
  const room = columns - fixed
  const wanted = (side: 'left' | 'right') => Math.max(...[HEADING, ...drawn].map(cells => widthOf(cells[side])))
  const left = Math.min(wanted('left'), Math.floor(room * 0.28))
  const right = Math.min(wanted('right'), Math.floor(room * 0.34))
  return { conversation, left, right, middle: room - left - right }
}

const withSilences = <Row extends Joined>(rows: readonly Row[], draw: (row: Row) => DiagramLine[]): DiagramLine[] =>
  rows.flatMap((row, index) => [...idle(rows[index - 1], row), ...draw(row)])

/** A long silence is worth a line. */
function idle(before: Joined | undefined, row: Joined): DiagramLine[] {
  if (before === undefined || isGap(before) || isGap(row)) return []
  const gapMs = row.atMs - before.atMs
  return gapMs < IDLE_MS ? [] : [{ text: `  … ${formatMs(gapMs)} …`, shade: 'faint' }]
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

/** `LABEL ------->`, `<------ LABEL`: always with a piece of its shaft. Mere text may use the room to its right. */
function middleOf({ shape, middle, right }: Cells, widths: Widths): string {
  const columns = widths.middle
  if (shape === 'text') return right === '' ? shorten(middle, columns + BETWEEN + widths.right) : cell(middle, columns)
  const label = shorten(middle, columns - 5)
  const shaft = '-'.repeat(Math.max(2, columns - widthOf(label) - (label === '' ? 1 : 2)))
  if (shape === 'to') return label === '' ? `${shaft}>` : `${label} ${shaft}>`
  return label === '' ? `<${shaft}` : `<${shaft} ${label}`
}

const MOST_LINES = 2
const MARGIN = ' '.repeat(2 + TIME_COLUMNS + SEQ_COLUMNS)

export const LIST_HEADING: DiagramLine = { text: `${MARGIN}--> to the intermediary, <-- from it`, shade: 'faint' }

export function listedRow(row: TimelineRow, columns: number, withConversation: boolean): DiagramLine[] {
  const conversation = withConversation && row.conversation !== null ? `${visible(row.conversation)}: ` : ''
  const [first = '', ...more] = folded(`${conversation}${wordsOf(row)}`, columns - MARGIN.length)
  const shade = row.failed ? 'bad' : 'plain'
  return [`${headOf(row)}${first}`, ...more.map(line => `${MARGIN}${line}`)].map(text => ({ text, shade }))
}

const headOf = ({ failed, atMs, seq }: TimelineRow): string =>
  `${failed ? 'x ' : '  '}${pad(`+${(atMs / 1000).toFixed(2)}`, TIME_COLUMNS)}${pad(`#${seq} `, SEQ_COLUMNS)}`

function wordsOf({ from, to, label, answer }: TimelineRow): string {
  const came = answer ? `: ${answer}` : ''
  if (from === 'platform' && to === 'intermediary') return `--> ${label}${came}`
  if (from === 'intermediary' && to === 'platform') return `<-- ${label}${came}`
  if (from === 'user' || from === 'agent') return `${from} ${label}${came}`
  return to === 'agent' ? `agent's ${label}` : `${label}${came}`
}

/** What does not fit is cut at the end of the last line. */
function folded(text: string, columns: number): string[] {
  const lines = wrap(text, columns)
  const last = lines.slice(MOST_LINES - 1).join(' ')
  return [...lines.slice(0, MOST_LINES - 1), ...(last === '' ? [] : [last])].map(line => shorten(line, columns))
}
