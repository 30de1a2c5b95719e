/** Shows two journal entries side by side: the fields that differ, and folded those that are equal. */
import './entry-comparison.css'
import type { ComponentChildren } from 'preact'
import type { Entry } from '../../journal/entry.ts'
import { counted } from '../../text/quantities.ts'
import { compareEntries, type FieldPair } from '../model/compare-entries.ts'
import { KIND_NAMES, summaryOf } from '../model/entry-summary.ts'
import { compareTexts, MarkedText } from './differences.tsx'

export interface EntryComparisonProps {
  readonly left: Entry
  readonly right: Entry
  /** Beside the title, such as a button that closes it. */
  readonly tools?: ComponentChildren
}

export function EntryComparison({ left, right, tools }: EntryComparisonProps) {
  const fields = compareEntries(left, right)
  const different = fields.filter(({ isEqual }) => !isEqual)
  const equal = fields.filter(({ isEqual }) => isEqual)
  return (
    <section class="entry-details entry-comparison" aria-label={`Entries ${left.seq} and ${right.seq}`} tabIndex={-1}>
      <header class="entry-head">
        <h3>
          #{left.seq} and #{right.seq}:{' '}
          {different.length === 0
            ? 'no field differs'
            : `${counted(different.length, 'field')} differ${different.length === 1 ? 's' : ''}`}
        </h3>
        {tools}
      </header>
      <Fields left={left} right={right} fields={different} />
      {equal.length === 0 ? null : (
        <details class="entry-raw">
          <summary>{counted(equal.length, 'equal field')}</summary>
          <Fields left={left} right={right} fields={equal} />
        </details>
      )}
    </section>
  )
}

interface FieldsProps extends Pick<EntryComparisonProps, 'left' | 'right'> {
  readonly fields: readonly FieldPair[]
}

function Fields({ left, right, fields }: FieldsProps) {
  if (fields.length === 0) return null
  return (
    <table class="comparison">
      <thead>
        <tr>
          <th scope="col">field</th>
          <EntryHead entry={left} />
          <EntryHead entry={right} />
        </tr>
      </thead>
      <tbody>
        {fields.map(pair => (
          <PairRow key={pair.path} pair={pair} />
        ))}
      </tbody>
    </table>
  )
}

const EntryHead = ({ entry }: { readonly entry: Entry }) => (
  <th scope="col">
    #{entry.seq} {KIND_NAMES[entry.kind]} <bdi>{summaryOf(entry).label}</bdi>
  </th>
)

function PairRow({ pair: { path, left, right, isEqual } }: { readonly pair: FieldPair }) {
  const [before, after] = compareTexts(left ?? '', right ?? '')
  return (
    <tr>
      <th scope="row">{path}</th>
      <td class="comparison-left">{left === null ? <Absent /> : <MarkedText parts={before} />}</td>
      <td class="comparison-right">
        {isEqual ? (
          <span class="comparison-absent">the same</span>
        ) : right === null ? (
          <Absent />
        ) : (
          <MarkedText parts={after} />
        )}
      </td>
    </tr>
  )
}

const Absent = () => <span class="comparison-absent">absent</span>
