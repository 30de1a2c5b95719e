/** A timeline as a list, where there is no room for lanes: one thing that happened below the other, in words. */

import { pad, shorten, wrap } from '../text/terminal-text.ts'
import { visible } from '../text/visible.ts'
import type { DiagramLine } from './diagram.ts'
import type { TimelineRow } from './timeline-row.ts'

const [TIME_COLUMNS, SEQ_COLUMNS, MOST_LINES] = [8, 6, 2]
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
