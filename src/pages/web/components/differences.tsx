/** Shows the fields in which a call differs from what was expected, and marks the characters that differ. */
import './failures.css'
import { visible } from '../../../base/text/terminal-text.ts'
import type { Difference } from '../../../evaluation/finding.ts'

export function Differences({ differences }: { readonly differences: readonly Difference[] }) {
  if (differences.length === 0) return null
  return (
    <table class="differences">
      <thead>
        <tr>
          <th>field</th>
          <th>expected</th>
          <th>received</th>
          <th>
            <span class="visually-hidden">hint</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ path, expected, received, hint }) => {
          const [before, after] = compareTexts(expected, received)
          return (
            <tr key={path}>
              <th scope="row">{visible(path) || 'the whole'}</th>
              <td class="difference-expected">
                <MarkedText parts={before} />
              </td>
              <td class="difference-received">
                <MarkedText parts={after} />
              </td>
              <td>{visible(hint ?? '')}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

export function MarkedText({ parts: { start, changed, end } }: { readonly parts: TextParts }) {
  return (
    <code>
      {visible(start)}
      {changed === '' ? null : <mark>{visible(changed)}</mark>}
      {visible(end)}
    </code>
  )
}

interface TextParts {
  readonly start: string
  /** Empty when nothing is marked. */
  readonly changed: string
  readonly end: string
}

/** Marks where two texts differ; marks nothing when they have little in common. */
export function compareTexts(before: string, after: string): readonly [before: TextParts, after: TextParts] {
  const [a, b] = [shortened(before), shortened(after)]
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++
  if ((start + end) * 2 < shorter) return [splitText(a, a.length, 0), splitText(b, b.length, 0)]
  return [splitText(a, start, end), splitText(b, start, end)]
}

const MAX_CHARS = 2000

/** The characters of a text, with an ellipsis when there are too many to compare. */
const shortened = (text: string): string[] =>
  text.length <= MAX_CHARS ? [...text] : [...text.slice(0, MAX_CHARS), '…']

const splitText = (chars: readonly string[], start: number, end: number): TextParts => ({
  start: chars.slice(0, start).join(''),
  changed: chars.slice(start, chars.length - end).join(''),
  end: end === 0 ? '' : chars.slice(-end).join(''),
})
