/** Shows two journal entries side by side: the fields that differ, and folded those that are equal. */
import './entries.css'
import type { ComponentChildren } from 'preact'
import { isMap, jsonOr } from '../../../base/objects.ts'
import { counted } from '../../../base/text/quantities.ts'
import { labelOf, lineOf } from '../../../evaluation/timeline/entry-line.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { kindName } from '../model/formats.ts'
import { compareTexts, MarkedText } from './differences.tsx'

export interface EntryComparisonProps {
  readonly left: Entry
  readonly right: Entry
  /** Beside the title, such as a button that closes it. */
  readonly tools?: ComponentChildren
}

export function EntryComparison({ left, right, tools }: EntryComparisonProps) {
  // In the order of the left entry; fields that only the right one has follow.
  const [before, after] = [fieldsOf(left), fieldsOf(right)]
  const paths = [...new Set([...before.keys(), ...after.keys()])]
  const fields = paths.map(path => {
    const [left, right] = [before.get(path) ?? null, after.get(path) ?? null]
    return { path, left: left, right: right, isEqual: left === right }
  })

  // Bodies say most.
  const unequal = fields.filter(({ isEqual }) => !isEqual).sort((a, b) => rankOf(a) - rankOf(b))
  const different = unequal.filter(({ path }) => !VOLATILE.test(path))
  const volatile = unequal.filter(({ path }) => VOLATILE.test(path))
  const equal = fields.filter(({ isEqual }) => isEqual)
  return (
    <section class="entry-details entry-comparison" aria-label={`Entries ${left.seq} and ${right.seq}`} tabIndex={-1}>
      <header class="entry-head">
        <h3>
          #{left.seq} and #{right.seq}:{' '}
          {different.length === 0
            ? volatile.length === 0
              ? 'no field differs'
              : 'only ids, times and lengths differ'
            : `${counted(different.length, 'field')} differ${different.length === 1 ? 's' : ''}`}
        </h3>
        {tools}
      </header>
      <Fields left={left} right={right} fields={different} />
      {volatile.length === 0 ? null : (
        <details class="entry-raw">
          <summary>{counted(volatile.length, 'field')} with ids, times and lengths</summary>
          <Fields left={left} right={right} fields={volatile} />
        </details>
      )}
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
          {[left, right].map(entry => (
            <th key={entry.seq} scope="col">
              #{entry.seq} {kindName(entry.kind)} <bdi>{labelOf(lineOf(entry))}</bdi>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {fields.map(({ path, left: before, right: after, isEqual }) => {
          const [left, right] = compareTexts(before ?? '', after ?? '')
          return (
            <tr key={path}>
              <th scope="row">{path}</th>
              <td class="comparison-left">{before === null ? <Absent /> : <MarkedText parts={left} />}</td>
              <td class="comparison-right">
                {isEqual ? <Absent text="the same" /> : after === null ? <Absent /> : <MarkedText parts={right} />}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

const Absent = ({ text = 'absent' }) => <span class="comparison-absent">{text}</span>

interface FieldPair {
  /** `request.body.sender.name` */
  readonly path: string
  /** As JSON, or the text itself; null when the entry does not have the field. */
  readonly left: string | null
  readonly right: string | null
  readonly isEqual: boolean
}

/** Differ between most entries, and say little. */
const VOLATILE =
  /(^|[._-])(id|time|timestamp|date|bytes|traceparent|cause|request-id|hmac|signature)$|(_ms|_at|content-length)$/i
const isOfBody = (path: string) => /^(request\.body|response|payload|status)/.test(path) && !path.includes('.headers.')
const rankOf = ({ path }: FieldPair): number => (isOfBody(path) ? 0 : 1)

/** More fields are not compared. */
const MAX_FIELDS = 2_000

/** Leaves out fields that differ between all entries. */
function fieldsOf({ v, seq, at_ms, ...rest }: Entry): Map<string, string> {
  const fields = new Map<string, string>()
  addFields(fields, '', rest)
  return fields
}

function addFields(fields: Map<string, string>, path: string, value: unknown): void {
  if (value === undefined || fields.size >= MAX_FIELDS) return
  const parsed = typeof value === 'string' && path.endsWith('.body') ? jsonOr(value, value) : value
  const parts = Array.isArray(parsed) ? Object.entries(parsed) : isMap(parsed) ? Object.entries(parsed) : []
  if (parts.length === 0) fields.set(path, typeof parsed === 'string' ? parsed : JSON.stringify(parsed))
  for (const [name, part] of parts)
    addFields(fields, Array.isArray(parsed) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`, part)
}
