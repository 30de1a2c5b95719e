/** Two texts beside each other, with the part marked in which they differ. */
import { html, type Markup } from '../markup.ts'

/** Both as they are when they have little in common: marking all of them would say nothing. */
export function differing(expected: string, actual: string): [wanted: Markup, was: Markup] {
  const [a, b] = [shortened(expected), shortened(actual)]
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++
  if ((start + end) * 2 < shorter) return [marked(a, a.length, 0), marked(b, b.length, 0)]
  return [marked(a, start, end), marked(b, start, end)]
}

const LONGEST = 2000

function shortened(text: string): string[] {
  return text.length <= LONGEST ? [...text] : [...text.slice(0, LONGEST), '…']
}

function marked(chars: readonly string[], start: number, end: number): Markup {
  const [head, middle, tail] = [
    chars.slice(0, start),
    chars.slice(start, chars.length - end),
    end === 0 ? [] : chars.slice(-end),
  ]
  return html`<code>${head.join('')}${middle.length > 0 && html`<mark>${middle.join('')}</mark>`}${tail.join('')}</code>`
}
