/** Lists the steps of a scenario: outcome, claimed calls, place in the file, and when each ran. */
import './failures.css'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type { StepVerdict } from '../../../evaluation/evaluator/verdict.ts'
import { offsetText } from '../model/formats.ts'
import { EntryRefList, type EntryRefs } from './entry-ref.tsx'
import { StateMark } from './mark.tsx'

export interface StepListProps {
  readonly steps: readonly StepVerdict[]
  /** `at_ms` of the first entry of the scenario. */
  readonly startMs: number
  readonly refs?: EntryRefs
}

export function StepList({ steps, startMs, refs }: StepListProps) {
  const chats = new Set<string>()
  /** The time that all steps took together. */
  let totalMs = 1
  for (const step of steps) {
    chats.add(step.conversation)
    totalMs = Math.max(totalMs, (step.startMs ?? startMs) - startMs, (step.endMs ?? startMs) - startMs)
  }
  return (
    <ol class={`step-list${chats.size > 1 ? ' with-chats' : ''}`}>
      {steps.map(step => {
        const { number, name, label, conversation, outcome, claimed, place, endMs } = step
        return (
          <li key={number} class={`step ${outcome === 'not reached' ? 'unreached' : outcome}`} value={number}>
            <StateMark state={outcome} />
            <span class="step-number">{number}</span>
            {chats.size > 1 ? <span class="step-chat">{visible(conversation)}</span> : null}
            <span class="step-label" title={visible(label)}>
              {name === null ? null : <b>{visible(name)} </b>}
              {visible(label)}
            </span>
            <EntryRefList seqs={claimed} refs={refs} />
            <span class="step-line">{place === null ? '' : `:${place.line}`}</span>
            {step.startMs === null ? null : (
              <StepTime
                fromMs={step.startMs - startMs}
                endMs={endMs === null ? null : endMs - startMs}
                totalMs={totalMs}
              />
            )}
          </li>
        )
      })}
    </ol>
  )
}

interface StepTimeProps {
  readonly fromMs: number
  /** Null for a step that is still running. */
  readonly endMs: number | null
  readonly totalMs: number
}

/** A bar that is an SVG needs no style attribute, which the policy of a report forbids. */
function StepTime({ fromMs, endMs, totalMs }: StepTimeProps) {
  const lengthMs = (endMs ?? totalMs) - fromMs
  const x = Math.min(98, (Math.max(0, fromMs) / totalMs) * 100)
  const width = Math.max(2, (Math.max(0, lengthMs) / totalMs) * 100)
  return (
    <>
      <span class="step-at">{offsetText(fromMs)}</span>
      <span class="step-took">{endMs === null ? 'not ended' : formatMs(lengthMs)}</span>
      <svg class="step-bar" aria-hidden="true" focusable="false">
        <rect x={`${x.toFixed(2)}%`} width={`${width.toFixed(2)}%`} />
      </svg>
    </>
  )
}
