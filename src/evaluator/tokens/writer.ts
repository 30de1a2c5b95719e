/** The step that made a user write. */
import type { Entry } from '../../journal/entry.ts'
import { type Plan, type PlannedStep, stepsOf } from '../../scenario/plan.ts'
import type { StepRef } from '../verdict.ts'
import type { Written } from './texts.ts'

/** The last step of that chat begun before it, of those that make users write. */
export function writerOf(plan: Plan, entries: readonly Entry[], { seq, chatId }: Written): StepRef | null {
  const begun = entries.findLast(
    entry =>
      entry.seq < seq &&
      entry.kind === 'note' &&
      entry.note === 'step_started' &&
      (entry.verb === 'user' || entry.verb === 'press') &&
      (entry.chat_id ?? chatId) === chatId,
  )
  if (begun?.kind !== 'note') return null
  const step = [...stepsOf([...plan.steps, ...plan.finally])].find(({ number }) => number === begun.step)
  return step === undefined ? null : refOf(plan, step)
}

const refOf = (plan: Plan, { number, id, name, label, conversation, place }: PlannedStep): StepRef => ({
  number,
  of: plan.count,
  id,
  name,
  label,
  conversation,
  place,
})
