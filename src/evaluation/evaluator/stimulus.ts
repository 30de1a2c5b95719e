/** Evaluates a step that does something: whether it could be done, and what the webhook answered. */

import type { DriverFailure } from '../../platform/journal/run-failures.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { DriverCallEntry } from '../scenario/run-events.ts'
import { plainText } from '../scenario/value-text.ts'
import { ackResult, wasReachable } from './deliveries.ts'
import type { Expected, FailureHint, FailureKind, StepName } from './failure.ts'
import type { JournalIndex } from './journal-index.ts'
import { failureDetails, PASSED, type StepResult } from './step-evaluator.ts'

/** `isOver`: nothing more will come, so what is still open is decided as well. */
export function stimulusResult(index: JournalIndex, step: PlannedStep, isOver: boolean): StepResult {
  const failed = failedStepResult(index, step)
  if (failed !== null) return failed
  const { action, number } = step
  const end = index.findEnd(number)
  if (!('ack' in action) || action.ack === null || !end?.delivery_id) return PASSED
  const isReplay = action.verb === 'deliver' && action.replay !== null
  const start = index.getStart(number)
  return ackResult(index, { id: end.delivery_id, ack: action.ack, isAsync: action.async, isReplay, start, end }, isOver)
}

/** The result of a step of any kind that could not be run, or not to its end; null when it ran. */
export function failedStepResult(index: JournalIndex, step: PlannedStep): StepResult | null {
  const { label, action, number } = step
  const ended = index.findEnd(number)
  if (ended === null) return null
  if (ended.missing !== undefined) {
    const verbs = index.started?.driver ?? null
    const reason = { code: 'verb_missing', step: stepName(step), verb: ended.missing, verbs } as const
    return { outcome: 'inconclusive', reason }
  }
  const entrySeqs = [ended.seq]
  if (ended.interrupted) {
    const cause = index.ended?.stopped ?? null
    const { name, timeouts } = index.settings
    const expected: Expected =
      cause?.code === 'time_limit'
        ? { code: 'end_within', ms: timeouts.scenarioMs }
        : { code: 'own_end', scenario: name }
    const happened = { code: 'stopped_at_step', cause, step: stepName(step) } as const
    return { outcome: 'fail', failure: failureDetails('stopped', expected, happened, { entrySeqs }) }
  }
  const refused = driverResult(index, label, index.findStart(number)?.seq)
  const { failure } = ended
  if (refused !== null || failure === undefined) return refused
  const { verb } = action
  let kind: FailureKind = 'stimulus'
  if (failure.code === 'target_not_started') kind = 'environment'
  else if (verb === 'agent') kind = 'driver'
  else if (verb === 'expect' || verb === 'none' || verb === 'check' || verb === 'sees') kind = verb
  const happened = { code: 'step_failed', label, failure } as const
  return {
    outcome: kind === 'environment' ? 'error' : 'fail',
    failure: failureDetails(kind, { code: 'step_done', label }, happened, { entrySeqs }),
  }
}

const LONGEST_ANSWER = 120

/** Null when the driver did as asked. A failed reading of the inbox is forgiven when a later one succeeded. */
export function driverResult(index: JournalIndex, label: string, startSeq: number | undefined): StepResult | null {
  const last = index.drivers.findLast(({ cause }) => cause === startSeq)
  if (last === undefined || last.outcome === 'ok') return null
  const { how, status = null, failure = null, answer = '', seq } = last
  const isAbsent = last.outcome === 'unreachable' && !wasReachable(index)
  const hint = driverHint(last)
  const text = plainText(answer.trim(), LONGEST_ANSWER)
  const happened = { code: 'driver_failed', label, how, status, failure, answer: text } as const
  const more = { entrySeqs: [seq], ...(hint && { hint }) }
  return {
    outcome: isAbsent ? 'error' : 'fail',
    failure: failureDetails(isAbsent ? 'environment' : 'driver', { code: 'step_done', label }, happened, more),
  }
}

function driverHint({ status, outcome, failure }: DriverCallEntry): FailureHint | undefined {
  if (failure !== undefined && NOT_STARTED.includes(failure.code)) return { code: 'command_folder' }
  if (failure?.code === 'connection_closed' || failure?.code === 'connection_reset') return { code: 'broke_off' }
  if (outcome === 'unreachable') return { code: 'desk_address' }
  if (status === 404) return { code: 'desk_path' }
  return status === 409 ? { code: 'earlier_run' } : undefined
}

export const stepName = ({ number, id, label }: StepName): StepName => ({ number, id, label })

const NOT_STARTED: readonly string[] = [
  'program_not_found',
  'program_not_executable',
  'folder_not_found',
  'program_not_started',
] satisfies DriverFailure['code'][]
