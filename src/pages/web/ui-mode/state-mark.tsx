/** Draws the state of a scenario or a step: a play under way, a place in the queue, or an outcome. */
import './state-mark.css'
import type { Outcome, StepVerdict } from '../../../evaluation/evaluator/verdict.ts'
import { OutcomeMark } from '../components/mark.tsx'

const TEXTS = { playing: 'playing', queued: 'queued', waiting: 'not played', none: 'not played' }

export type ShownState = keyof typeof TEXTS | Outcome | StepVerdict['outcome']

export function StateMark({ state }: { readonly state: ShownState }) {
  if (state === 'playing' || state === 'queued' || state === 'waiting' || state === 'none')
    return <span class={`state-mark ${state}`} role="img" aria-label={TEXTS[state]} />
  return <OutcomeMark outcome={state} />
}
