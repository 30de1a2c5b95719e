/** What was wanted beside what came, so that the difference is in sight however long both are. */

import type { Difference } from '../evaluator/verdict.ts'
import { pad, shorten, widthOf } from '../text/terminal-text.ts'
import { visible } from '../text/visible.ts'
import type { Theme } from './theme.ts'

const LONGEST_PATH = 28
/** Shown before the first character that differs. */
const BEFORE = 24
const LONGEST_VALUE = 20_000

/** One line each where it fits, else what was wanted above what came. */
export function differenceLines(differences: readonly Difference[], columns: number, theme: Theme): string[] {
  const paths = differences.map(({ path }) => shorten(visible(path), LONGEST_PATH))
  const margin = Math.max(0, ...paths.map(widthOf))
  return differences.flatMap((difference, index) => {
    const head = margin === 0 ? '' : `${pad(paths[index]!, margin)}  `
    return oneDifference(difference, head, columns, theme)
  })
}

function oneDifference({ expected, actual, hint }: Difference, head: string, columns: number, theme: Theme): string[] {
  const room = Math.max(20, columns - widthOf(head) - 2)
  const [wanted, came] = focus(clean(expected), clean(actual), room)
  const [minus, plus] = [`- ${wanted}`, `+ ${came}`]
  const why = hint === undefined ? '' : visible(hint)
  if (widthOf(`${head}${minus}   ${plus}   ${why}`) <= columns)
    return [`${head}${theme.good(minus)}   ${theme.bad(plus)}${why && `   ${theme.hint(why)}`}`]
  const below = ' '.repeat(widthOf(head))
  const lines = [`${head}${theme.good(minus)}`, `${below}${theme.bad(plus)}`]
  return why === '' ? lines : [...lines, `${below}${theme.hint(shorten(why, room))}`]
}

const clean = (text: string) => visible(text.slice(0, LONGEST_VALUE))

/** Both cut alike, around where they begin to differ. */
function focus(a: string, b: string, columns: number): [string, string] {
  if (widthOf(a) <= columns && widthOf(b) <= columns) return [a, b]
  const [left, right] = [Array.from(a), Array.from(b)]
  let same = 0
  while (same < left.length && same < right.length && left[same] === right[same]) same++
  const from = same - BEFORE <= 1 ? 0 : same - BEFORE
  const cut = (chars: readonly string[]) => shorten(`${from === 0 ? '' : '…'}${chars.slice(from).join('')}`, columns)
  return [cut(left), cut(right)]
}
