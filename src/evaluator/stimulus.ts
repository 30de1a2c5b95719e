/** What came of a step that does something: whether it could be done, and what the webhook answered. */
import type { DriverFailure, StepFailure } from '../journal/run-failures.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { formatDuration } from '../text/duration.ts'
import { driverFailureText, earlyEndText, stepFailureText } from '../wording/run-failures.ts'
import { ackResult } from './ack.ts'
import type { DriverEntry, JournalIndex } from './journal-index.ts'
import { plainText } from './matching/value-text.ts'
import { wasReachable } from './reachability.ts'
import { PASSED, type StepResult } from './step-evaluator.ts'
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
  if (ended.interrupted) return interruptedResult(index, step, ended.seq)
  const refused = driverResult(index, step)
  if (refused !== null) return refused
  return ended.failure === undefined ? null : couldNot(step, ended.failure, ended.seq)
}

const missingVerb = ({ started }: JournalIndex, step: PlannedStep, verb: string): string =>
  `${stepName(step)} needs ${verb}, and ${driverHas(started?.driver)}`

const couldNot = (step: PlannedStep, failure: StepFailure, seq: number): StepResult => ({
  outcome: isEnvironment(failure) ? 'error' : 'fail',
  told: {
    kind: isEnvironment(failure) ? 'environment' : step.action.verb === 'agent' ? 'driver' : kindOf(step),
    wanted: step.label,
    happened: stepFailureText(failure),
    rules: [],
    nearest: [],
    marks: [seq],
  },
})

const isEnvironment = ({ code }: StepFailure): boolean => code === 'target_not_started'

function kindOf({ action: { verb } }: PlannedStep) {
  return verb === 'expect' || verb === 'none' || verb === 'check' || verb === 'sees' ? verb : 'stimulus'
}

function interruptedResult({ plan, ended }: JournalIndex, step: PlannedStep, seq: number): StepResult {
  const why = ended?.stopped === undefined ? 'the run ended' : earlyEndText(ended.stopped)
  return {
    outcome: 'fail',
    told: {
      kind: 'stopped',
      wanted: `the scenario comes to its end within ${formatDuration(plan.timeouts.scenarioMs)}`,
      happened: `${why}: it was at ${stepName(step)}`,
      rules: [],
      nearest: [],
      marks: [seq],
    },
  }
}

/** Null when it did as asked. One look into the inbox that failed is forgiven when a later one did not. */
function driverResult(index: JournalIndex, step: PlannedStep): StepResult | null {
  const begun = index.begun(step.number)
  const last = index.drivers.filter(({ cause }) => cause === begun?.seq).at(-1)
  if (last === undefined || last.outcome === 'ok') return null
  const gone = last.outcome === 'unreachable' && !wasReachable(index)
  return {
    outcome: gone ? 'error' : 'fail',
    told: {
      kind: gone ? 'environment' : 'driver',
      wanted: step.label,
      happened: whatItSaid(last),
      rules: [],
      nearest: [],
      marks: [last.seq],
      ...hintFor(last),
    },
  }
}

/** Adds the answer where the failure does not contain it. */
function whatItSaid({ how, status, failure, answer = '' }: DriverEntry): string {
  const said =
    failure === undefined ? (status === undefined ? 'it failed' : `answered ${status}`) : driverFailureText(failure)
  const more = answer.trim() === '' || containsAnswer(failure) ? '' : `: ${plainText(answer.trim(), 120)}`
  return `${how}: ${said}${more}`
}

const containsAnswer = (failure: DriverFailure | undefined): boolean =>
  failure !== undefined && (failure.code !== 'command_failed' || failure.stream === 'stdout')

const hintFor = ({ status, outcome, failure }: DriverEntry): { hint?: string } => {
  if (failure !== undefined && NOT_STARTED.includes(failure.code))
    return { hint: 'Commands run in the folder of the driver file, without a shell.' }
  if (failure?.code === 'connection_closed' || failure?.code === 'connection_reset')
    return { hint: 'It broke off while it answered: what does the log of the intermediary say?' }
  if (outcome === 'unreachable')
    return { hint: 'Is the help desk of the intermediary running where the driver file says?' }
  if (status === 404)
    return { hint: 'Does the help desk know this chat yet, and is the path in the driver file right?' }
  if (status === 409) return { hint: OF_BEFORE }
  return {}
}

const NOT_STARTED: readonly string[] = [
  'program_not_found',
  'program_not_executable',
  'folder_not_found',
  'program_not_started',
] satisfies DriverFailure['code'][]

const OF_BEFORE =
  'If the help desk knows this chat from an earlier run: the same seed gives the same chats. Restart it, or give another --seed.'
