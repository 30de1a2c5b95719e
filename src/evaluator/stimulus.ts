/** What came of a step that does something: whether it could be done, and what the webhook answered. */

import type { PlannedStep } from '../scenario/plan.ts'
import { formatDuration } from '../text/duration.ts'
import { ackResult } from './ack.ts'
import { driverResult } from './driver-result.ts'
import type { JournalIndex } from './journal-index.ts'
import { PASSED, type StepResult } from './step-result.ts'
import { driverHas, stepName } from './wording.ts'

/** `over`: nothing more will come, so what is still open is decided as well. */
export function stimulusResult(index: JournalIndex, step: PlannedStep, over: boolean): StepResult {
  return brokenStepResult(index, step) ?? ackResult(index, step, over) ?? PASSED
}

/** For steps of every kind: they could not be played, or not to their end. Null: they were. */
export function brokenStepResult(index: JournalIndex, step: PlannedStep): StepResult | null {
  const ended = index.endOf(step.number)
  if (ended === null) return null
  if (ended.missing !== undefined) return { outcome: 'inconclusive', reason: missingVerb(index, step, ended.missing) }
  if (ended.cut) return interruptedResult(index, step, ended.seq)
  const refused = driverResult(index, step)
  if (refused !== null) return refused
  return ended.error === undefined ? null : couldNot(step, ended.error, ended.environment === true, ended.seq)
}

const missingVerb = ({ started }: JournalIndex, step: PlannedStep, verb: string): string =>
  `${stepName(step)} needs ${verb}, and ${driverHas(started?.driver)}`

const couldNot = (step: PlannedStep, error: string, environment: boolean, seq: number): StepResult => ({
  outcome: environment ? 'error' : 'fail',
  told: {
    kind: environment ? 'environment' : step.action.verb === 'agent' ? 'driver' : kindOf(step),
    wanted: step.label,
    happened: error,
    rules: [],
    nearest: [],
    marks: [seq],
  },
})

function kindOf({ action: { verb } }: PlannedStep) {
  return verb === 'expect' || verb === 'none' || verb === 'check' || verb === 'sees' ? verb : 'stimulus'
}

function interruptedResult({ plan, ended }: JournalIndex, step: PlannedStep, seq: number): StepResult {
  const why = ended?.stopped ?? 'the run ended'
  return {
    outcome: ended?.environment ? 'error' : 'fail',
    told: {
      kind: ended?.environment ? 'environment' : 'stopped',
      wanted: `the scenario comes to its end within ${formatDuration(plan.timeouts.scenarioMs)}`,
      happened: `${why}: it was at ${stepName(step)}`,
      rules: [],
      nearest: [],
      marks: [seq],
    },
  }
}
