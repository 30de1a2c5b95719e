/** Until when something may come. */

import type { PlannedStep } from '../scenario/plan.ts'
import { formatDuration } from '../text/duration.ts'
import type { ConversationKey } from './journal-index.ts'
import type { EvaluationContext } from './step-evaluator.ts'
import { stepName } from './wording.ts'

export interface Deadline {
  readonly atMs: number
  /** `within 2s of #9` */
  readonly text: string
}

/**
 * `within` counts from the turn's stimulus or the lane's last claimed call, whichever is later, and is meant strictly.
 * A stimulus that takes time itself, so that nothing reaches the intermediary meanwhile, counts from its end.
 * The default is only how long we wait: it counts from the start of the step when that is later still.
 */
export function deadlineOf(
  context: EvaluationContext,
  step: PlannedStep,
  conversation: ConversationKey,
  withinMs: number | null,
): Deadline {
  const begun = context.index.begun(step.number)!.at_ms
  const base = baseOf(context, step, conversation)
  const waitMs = 'waitMs' in step.action ? step.action.waitMs : undefined
  const ms = withinMs ?? waitMs ?? context.index.plan.timeouts.expectMs
  if (base === null || (withinMs === null && base.atMs < begun)) {
    return { atMs: begun + ms, text: `within ${formatDuration(ms)}` }
  }
  return { atMs: base.atMs + ms, text: `within ${formatDuration(ms)} of ${base.name}` }
}

function baseOf({ windows, index, claims }: EvaluationContext, step: PlannedStep, conversation: ConversationKey) {
  const stimulus = windows.stimulus(step)
  const claimed = claims.floorOf(conversation)
  const own = stimulus.step === null ? null : index.steps.get(stimulus.step)!
  const takesTime = own?.action.verb === 'wait' || own?.action.verb === 'target'
  const atMs = takesTime ? (index.endOf(own.number)?.at_ms ?? stimulus.atMs) : stimulus.atMs
  if (claimed !== null && claimed.readAt > atMs) return { atMs: claimed.readAt, name: `#${claimed.seq}` }
  return own === null ? null : { atMs, name: stepName(own) }
}
