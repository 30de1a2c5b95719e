/** Lists the steps of a scenario: outcome, claimed calls, place in the file, and when each ran. */
import './failures.css'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type { StepVerdict } from '../../../evaluation/evaluator/verdict.ts'
import { offsetText } from '../model/formats.ts'
import { EntryRefList, type EntryRefs } from './entry-ref.tsx'
import { OutcomeMark } from './mark.tsx'

export interface StepListProps {
  readonly steps: readonly StepVerdict[]
  /** `at_ms` of the first entry of the scenario. */
  readonly startMs: number
  readonly refs?: EntryRefs
}

export function StepList({ steps, startMs, refs }: StepListProps) {
  const hasChats = new Set(steps.map(({ conversation }) => conversation)).size > 1
  const ends = steps.flatMap(step => [step.startMs, step.endMs]).filter(ms => ms !== null)
  const frame = { startMs, lengthMs: Math.max(1, ...ends.map(ms => ms - startMs)) }
  return (
    <ol class={`step-list${hasChats ? ' with-chats' : ''}`}>
      {steps.map(step => (
        <StepItem key={step.number} step={step} frame={frame} hasChats={hasChats} refs={refs} />
      ))}
    </ol>
  )
}

/** The time that the steps of a scenario took together. */
interface Frame {
  readonly startMs: number
  readonly lengthMs: number
}

interface StepItemProps extends Pick<StepListProps, 'refs'> {
  readonly step: StepVerdict
  readonly frame: Frame
  readonly hasChats: boolean
}

function StepItem({ step, frame, hasChats, refs }: StepItemProps) {
  const { number, name, label, conversation, outcome, claimed, place } = step
  return (
    <li class={`step ${outcome === 'not reached' ? 'unreached' : outcome}`} value={number}>
      <OutcomeMark outcome={outcome} />
      <span class="step-number">{number}</span>
      {hasChats ? <span class="step-chat">{visible(conversation)}</span> : null}
      <span class="step-label" title={visible(label)}>
        {name === null ? null : <b>{visible(name)} </b>}
        {visible(label)}
      </span>
      <EntryRefList seqs={claimed} refs={refs} />
      <span class="step-line">{place === null ? '' : `:${place.line}`}</span>
      <StepTime step={step} frame={frame} />
    </li>
  )
}

/** A bar that is an SVG needs no style attribute, which the policy of a report forbids. */
function StepTime({ step: { startMs, endMs }, frame }: Pick<StepItemProps, 'step' | 'frame'>) {
  if (startMs === null) return null
  const fromMs = startMs - frame.startMs
  const lengthMs = (endMs ?? frame.startMs + frame.lengthMs) - startMs
  const share = (ms: number) => (Math.max(0, ms) / frame.lengthMs) * 100
  return (
    <>
      <span class="step-at">{offsetText(fromMs)}</span>
      <span class="step-took">{endMs === null ? 'not ended' : formatMs(lengthMs)}</span>
      <svg class="step-bar" aria-hidden="true" focusable="false">
        <rect x={`${Math.min(98, share(fromMs)).toFixed(2)}%`} width={`${Math.max(2, share(lengthMs)).toFixed(2)}%`} />
      </svg>
    </>
  )
}
