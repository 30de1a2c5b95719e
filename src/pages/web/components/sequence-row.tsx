/** Draws one row of a sequence diagram: an arrow between two lifelines with its label, or a remark. */
import './sequence.css'
import { formatMs } from '../../../base/text/terminal-text.ts'
import type { EntryProblem } from '../../../evaluation/timeline/problems.ts'
import type { TimelineRow } from '../../../evaluation/timeline/timeline.ts'
import { type Lifelines, labelSpace, routeOf, spanOf } from '../model/diagram-geometry.ts'
import { Mark } from './mark.tsx'

interface DiagramHeadProps {
  readonly lifelines: Lifelines
  readonly isWhole?: boolean
}

/** The names of the lifelines above the rows; above a whole timeline, those of the other columns too. */
export function DiagramHead({ lifelines, isWhole = false }: DiagramHeadProps) {
  return (
    <div class="sequence-head" aria-hidden="true">
      {isWhole ? (
        <>
          <span class="sequence-at">s</span>
          <span class="sequence-at diagram-seq">entry</span>
          <span class="sequence-chat diagram-chat">chat</span>
        </>
      ) : null}
      <span class="sequence-heads">
        {Object.entries(lifelines).map(([actor, at]) => (
          <span key={actor} style={{ left: `${at}%` }}>
            {actor}
          </span>
        ))}
      </span>
      {isWhole ? <span class="sequence-answer">answer</span> : null}
    </div>
  )
}

/** The name of a chat, and the class of its colour: `hue-1` to `hue-6`. */
export interface ChatTag {
  readonly name: string
  readonly hue: string
}

export interface SequenceRowProps {
  readonly row: TimelineRow
  readonly lifelines: Lifelines
  /** The entries of a row that may grow: it is drawn again when it does. */
  readonly entryCount?: number
  /** Milliseconds since the row before it, when that is long. */
  readonly quietMs: number | null
  /** Whether it is after the moment that is shown. */
  readonly later: boolean
  /** Of its entries. */
  readonly problem: EntryProblem | null
  /** Set where rows of several chats are shown; null for a row of no chat. */
  readonly chat?: ChatTag | null
}

export function SequenceRow({ row, lifelines, quietMs, later, problem, chat }: SequenceRowProps) {
  const states = [
    row.kind,
    row.ok ? '' : 'refused',
    problem === 'failed' ? 'has-problem' : problem === null ? '' : 'amber',
    later ? 'later' : '',
    chat?.hue ?? '',
  ]
  return (
    <div class={['sequence-row', ...states].filter(Boolean).join(' ')}>
      <span class="sequence-at">{quietMs === null ? '' : `+${formatMs(quietMs)}`}</span>
      {chat === undefined ? null : <span class="sequence-chat">{chat?.name}</span>}
      <Arrow row={row} lifelines={lifelines} />
      <span class="sequence-answer" title={row.answer}>
        <ResponseMark row={row} problem={problem} />
        {row.answer}
      </span>
    </div>
  )
}

/** A tick, a hollow circle for what was not sent, a bolt for what a fault did, a cross: their shapes tell them apart. */
function ResponseMark({ row, problem }: Pick<SequenceRowProps, 'row' | 'problem'>) {
  if (row.kind === 'fault' || row.answer === undefined || row.answer === '') return null
  if (problem !== null) return <ProblemMark problem={problem} />
  const isOpen = row.answer.startsWith('not sent') || (row.isTrial && !row.answer.startsWith('200'))
  return <Mark kind={isOpen ? 'skipped' : row.ok ? 'pass' : 'fail'} label="" />
}

const PROBLEM_MARKS = {
  failed: { kind: 'fail', label: 'failed' },
  finding: { kind: 'inconclusive', label: 'has findings' },
  ordered: { kind: 'fault', label: 'as a fault ordered' },
} as const

export const ProblemMark = ({ problem }: { readonly problem: EntryProblem }) => <Mark {...PROBLEM_MARKS[problem]} />

/** The lifelines of a row, with its arrow and its label. */
export function Arrow({ row, lifelines }: Pick<SequenceRowProps, 'row' | 'lifelines'>) {
  const { label, kind, from, to } = row
  const span = spanOf(row, lifelines)
  const { left, right, side } = labelSpace(span)
  const place = {
    insetInlineStart: `calc(${left}% + 0.5rem)`,
    insetInlineEnd: `calc(${right}% + 0.5rem)`,
    maxWidth: `calc(${100 - left - right}% - 1rem)`,
  }
  const arrow = { insetInlineStart: `${span.left}%`, width: `${span.right - span.left}%` }
  return (
    <span class="sequence-lifelines">
      <span class="sequence-route">{routeOf(row)} </span>
      {span.points === null ? null : <span class={`sequence-arrow ${span.points}`} style={arrow} aria-hidden="true" />}
      <span
        class={`sequence-label ${side}${span.points === null ? ' no-arrow' : ''}`}
        style={place}
        title={label}
        data-from={from === to || from === 'runner' ? undefined : from}
      >
        {kind === 'fault' ? <Mark kind="fault" label="" /> : null}
        <bdi>{label}</bdi>
      </span>
    </span>
  )
}
