/** The answers nobody has waited for yet: those to `async` stimuli. Each has the time of any other. */
import type { MarkOf } from '../../scenario/marks.ts'
import { type PlannedStep, stepsOf } from '../../scenario/plan.ts'
import { awaitAnswer } from './answered.ts'
import type { Scene } from './verb.ts'

/** What a fault still keeps back now is not coming any more. Rejects with `Cut`. */
export async function lastAnswers({ stage, signal }: Pick<Scene, 'stage' | 'signal'>): Promise<void> {
  const { plan, core } = stage
  const marks = core.journal.query({ kind: 'note' }) as MarkOf<'step_started' | 'step_ended'>[]
  for (const { number } of [...stepsOf([...plan.steps, ...plan.finally])].filter(isAsync)) {
    const begun = marks.find(({ note, step }) => note === 'step_started' && step === number)
    const ended = marks.find(({ note, step }) => note === 'step_ended' && step === number)
    const id = (ended as MarkOf<'step_ended'> | undefined)?.delivery_id
    if (!id || core.findOnItsWay(id)?.stage.kind === 'kept') continue
    await awaitAnswer({ stage, signal, startSeq: begun!.seq }, id, ended!.at_ms)
  }
}

const isAsync = ({ action }: PlannedStep) => 'async' in action && action.async && action.ack !== null
