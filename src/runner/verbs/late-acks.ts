/** The answers nobody has waited for yet: those to `async` stimuli. Each has the time of any other. */

import { type PlannedStep, stepsOf } from '../../scenario/plan.ts'
import type { RunEventOf } from '../../scenario/run-events.ts'
import { awaitAnswer } from './await-ack.ts'
import type { StepContext } from './step-context.ts'

/** What a fault still keeps back now is not coming any more. Rejects with `Cut`. */
export async function lastAnswers({ context, signal }: Pick<StepContext, 'context' | 'signal'>): Promise<void> {
  const { plan, core } = context
  const marks = core.journal.query({ kind: 'note' }) as RunEventOf<'step_started' | 'step_ended'>[]
  for (const { number } of [...stepsOf([...plan.steps, ...plan.finally])].filter(isAsync)) {
    const begun = marks.find(({ note, step }) => note === 'step_started' && step === number)
    const ended = marks.find(({ note, step }) => note === 'step_ended' && step === number)
    const id = (ended as RunEventOf<'step_ended'> | undefined)?.delivery_id
    if (!id || core.findOnItsWay(id)?.stage.kind === 'kept') continue
    await awaitAnswer({ context, signal, startSeq: begun!.seq }, id, ended!.at_ms)
  }
}

const isAsync = ({ action }: PlannedStep) => 'async' in action && action.async && action.ack !== null
