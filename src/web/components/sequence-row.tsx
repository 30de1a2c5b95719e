/** Draws one row of a sequence diagram: an arrow between two lifelines with its label, or a remark. */
import { formatMs } from '../../text/terminal-text.ts'
import type { TimelineRow } from '../../timeline/rows.ts'
import { type ColumnSpan, LIFELINES, labelSpace, routeOf, spanOf } from '../model/diagram-geometry.ts'
import { Mark } from './mark.tsx'

/** The names of the lifelines, above the rows. */
export function DiagramHead() {
  return (
    <div class="sequence-head" aria-hidden="true">
      {LIFELINES.map(({ actor, at }) => (
        <span key={actor} style={{ insetInlineStart: `${at}%` }}>
          {actor}
        </span>
      ))}
    </div>
  )
}

export interface SequenceRowProps {
  readonly row: TimelineRow
  /** Milliseconds since the row before it. */
  readonly quietMs: number | null
  /** Whether it is after the moment that is shown. */
  readonly later: boolean
}

export function SequenceRow({ row, quietMs, later }: SequenceRowProps) {
  const span = spanOf(row)
  const state = row.failed ? 'failed' : row.ok ? '' : 'refused'
  return (
    <div class={['sequence-row', row.kind, state, later ? 'later' : ''].filter(Boolean).join(' ')}>
      <span class="sequence-at">{quietMs === null ? '' : `+${formatMs(quietMs)}`}</span>
      <span class="sequence-lifelines">
        <span class="visually-hidden">{routeOf(row)} </span>
        <Arrow span={span} />
        <RowLabel row={row} span={span} />
      </span>
      <span class="sequence-answer" title={row.answer}>
        {row.failed || !row.ok ? (
          <Mark kind={row.failed ? 'fail' : 'error'} label={row.failed ? 'failed' : 'refused'} />
        ) : null}
        {row.answer}
      </span>
    </div>
  )
}

function RowLabel({ row: { label, kind }, span }: { row: TimelineRow; span: ColumnSpan }) {
  const { left, right, side } = labelSpace(span)
  const place = { insetInlineStart: `calc(${left}% + 0.5rem)`, insetInlineEnd: `calc(${right}% + 0.5rem)` }
  return (
    <span class={`sequence-label ${side}${span.points === null ? ' no-arrow' : ''}`} style={place} title={label}>
      {kind === 'fault' ? <Mark kind="fault" label="" /> : null}
      {label}
    </span>
  )
}

function Arrow({ span: { left, right, points } }: { span: ColumnSpan }) {
  if (points === null) return null
  return (
    <span
      class={`sequence-arrow ${points}`}
      style={{ insetInlineStart: `${left}%`, width: `${right - left}%` }}
      aria-hidden="true"
    />
  )
}
