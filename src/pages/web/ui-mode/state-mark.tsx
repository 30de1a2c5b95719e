/** Draws the state of a scenario or a step: a run under way, a place in the queue, or an outcome. */
import type { Outcome, StepVerdict } from '../../../evaluation/evaluator/verdict.ts'
import { OutcomeMark } from '../components/mark.tsx'

const TEXTS = { running: 'running', queued: 'queued', waiting: 'not run', none: 'not run' }

export type ShownState = keyof typeof TEXTS | Outcome | StepVerdict['outcome']

export function StateMark({ state }: { readonly state: ShownState }) {
  if (state === 'running' || state === 'queued' || state === 'waiting' || state === 'none')
    return <span class={`state-mark ${state}`} role="img" aria-label={TEXTS[state]} />
  return <OutcomeMark outcome={state} />
}
