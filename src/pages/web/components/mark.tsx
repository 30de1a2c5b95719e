/** Draws the mark of an outcome. Its shape tells it apart without its colour. */
import { OUTCOME_TEXTS } from '../../../evaluation/evaluator/outcomes.ts'
import type { Outcome, StepVerdict } from '../../../evaluation/evaluator/verdict.ts'

const SHAPES = {
  pass: 'M8 .75a7.25 7.25 0 1 0 0 14.5a7.25 7.25 0 1 0 0-14.5M4.8 8.3l2.2 2.2l4.3-4.7',
  fail: 'M5 .9h6L15.1 5v6L11 15.1H5L.9 11V5zM5.4 5.4l5.2 5.2m0-5.2l-5.2 5.2',
  error: 'M8 1.2l7.1 13.1H.9zM8 5.8v4.2m0 1.9v.3',
  inconclusive:
    'M8 .75a7.25 7.25 0 1 0 0 14.5a7.25 7.25 0 1 0 0-14.5M6 6.3c0-2.6 4.1-2.5 4.1 0c0 1.6-2.1 1.7-2.1 3.2m0 1.9v.3',
  blocked: 'M8 .75a7.25 7.25 0 1 0 0 14.5a7.25 7.25 0 1 0 0-14.5M2.9 13.1L13.1 2.9',
  skipped: 'M8 .75a7.25 7.25 0 1 0 0 14.5a7.25 7.25 0 1 0 0-14.5M4.8 8h6.4',
  warn: 'M8 .75a7.25 7.25 0 1 0 0 14.5a7.25 7.25 0 1 0 0-14.5M8 4.2v4.6m0 2.5v.3',
  info: 'M8 .75a7.25 7.25 0 1 0 0 14.5a7.25 7.25 0 1 0 0-14.5M8 7.2v4.6m0-7.4v.3',
  fault: 'M9.5 1.2L3.6 9h4l-1 5.8L12.4 7h-4z',
} as const

export type MarkKind = keyof typeof SHAPES

/** An empty label hides the mark from screen readers, for texts that say the same. */
export function Mark({ kind, label }: { readonly kind: MarkKind; readonly label: string }) {
  return (
    <svg
      class={`mark ${kind}`}
      viewBox="0 0 16 16"
      role={label === '' ? undefined : 'img'}
      aria-hidden={label === ''}
      aria-label={label || undefined}
      focusable="false"
    >
      <path d={SHAPES[kind]} />
    </svg>
  )
}

const WAITING = { running: 'running', queued: 'queued', waiting: 'not run', none: 'not run' }

interface StateMarkProps {
  readonly state: keyof typeof WAITING | Outcome | StepVerdict['outcome']
}

/** The mark of a scenario or a step: an outcome, a run under way, a place in the queue. */
export function StateMark({ state }: StateMarkProps) {
  if (state === 'running' || state === 'queued' || state === 'waiting' || state === 'none')
    return <span class={`state-mark ${state}`} role="img" aria-label={WAITING[state]} />
  if (state === 'not reached') return <Mark kind="skipped" label={state} />
  return <Mark kind={state} label={state === 'warn' ? 'warning' : OUTCOME_TEXTS[state]} />
}
