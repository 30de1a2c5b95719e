/** Evaluates a step that does something: whether it could be done, and what the webhook answered. */

import type { DriverFailure } from '../../platform/journal/run-failures.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { DriverCallEntry } from '../scenario/run-events.ts'
import { plainText } from '../scenario/value-text.ts'
import { ackResult, wasReachable } from './deliveries.ts'
import type { Expected, FailureHint, FailureKind, Happened } from './failure.ts'
import type { JournalIndex } from './journal-index.ts'
import { stepName } from './references.ts'
import { failureDetails, PASSED, type StepResult } from './step-evaluator.ts'

/** `over`: nothing more will come, so what is still open is decided as well. */
export function stimulusResult(index: JournalIndex, step: PlannedStep, over: boolean): StepResult {
  return failedStepResult(index, step) ?? ackResult(index, step, over) ?? PASSED
}

/** The result of a step of any kind that could not be played, or not to its end; null when it was played. */
export function failedStepResult(index: JournalIndex, step: PlannedStep): StepResult | null {
  const ended = index.endOf(step.number)
  if (ended === null) return null
  if (ended.missing !== undefined) {
    const verbs = index.started?.driver ?? null
    return {
      outcome: 'inconclusive',
      reason: { code: 'verb_missing', step: stepName(step), verb: ended.missing, verbs },
    }
  }
  if (ended.interrupted) return interruptedResult(index, step, ended.seq)
  const refused = driverResult(index, step)
  const { failure } = ended
  if (refused !== null || failure === undefined) return refused
  const kind = failure.code === 'target_not_started' ? 'environment' : kindOf(step)
  return failed(kind, step, { code: 'step_failed', label: step.label, failure }, ended.seq)
}

function kindOf({ action: { verb } }: PlannedStep): FailureKind {
  if (verb === 'agent') return 'driver'
  return verb === 'expect' || verb === 'none' || verb === 'check' || verb === 'sees' ? verb : 'stimulus'
}

function failed(kind: FailureKind, step: PlannedStep, happened: Happened, seq: number, more: Partial<Failing> = {}) {
  const { hint, expected = { code: 'step_done', label: step.label } } = more
  const failure = failureDetails(kind, expected, happened, { entrySeqs: [seq], ...(hint && { hint }) })
  return { outcome: kind === 'environment' ? 'error' : 'fail', failure } satisfies StepResult
}

interface Failing {
  readonly hint: FailureHint | undefined
  readonly expected: Expected
}

function interruptedResult({ plan, ended }: JournalIndex, step: PlannedStep, seq: number): StepResult {
  const happened: Happened = { code: 'stopped_at_step', cause: ended?.stopped ?? null, step: stepName(step) }
  const expected: Expected =
    ended?.stopped?.code === 'time_limit'
      ? { code: 'end_within', ms: plan.timeouts.scenarioMs }
      : { code: 'own_end', scenario: plan.name }
  return failed('stopped', step, happened, seq, { expected })
}

/** Null when the driver did as asked. A failed reading of the inbox is forgiven when a later one succeeded. */
function driverResult(index: JournalIndex, step: PlannedStep): StepResult | null {
  const begun = index.begun(step.number)
  const last = index.drivers.filter(({ cause }) => cause === begun?.seq).at(-1)
  if (last === undefined || last.outcome === 'ok') return null
  const absent = last.outcome === 'unreachable' && !wasReachable(index)
  const happened = driverFailed(step, last)
  return failed(absent ? 'environment' : 'driver', step, happened, last.seq, { hint: driverHint(last) })
}

const LONGEST_ANSWER = 120

const driverFailed = ({ label }: PlannedStep, { how, status, failure, answer = '' }: DriverCallEntry): Happened => ({
  code: 'driver_failed',
  label,
  how,
  status: status ?? null,
  failure: failure ?? null,
  answer: plainText(answer.trim(), LONGEST_ANSWER),
})

function driverHint({ status, outcome, failure }: DriverCallEntry): FailureHint | undefined {
  if (failure !== undefined && NOT_STARTED.includes(failure.code)) return { code: 'command_folder' }
  if (failure?.code === 'connection_closed' || failure?.code === 'connection_reset') return { code: 'broke_off' }
  if (outcome === 'unreachable') return { code: 'desk_address' }
  if (status === 404) return { code: 'desk_path' }
  return status === 409 ? { code: 'earlier_run' } : undefined
}

const NOT_STARTED: readonly string[] = [
  'program_not_found',
  'program_not_executable',
  'folder_not_found',
  'program_not_started',
] satisfies DriverFailure['code'][]
