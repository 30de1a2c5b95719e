/** What came of a step that does something: whether it could be done, and what the webhook answered. */
import type { PlannedStep } from '../scenario/plan.ts'
import { formatDuration } from '../text/duration.ts'
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

/** Null when it did as asked. One look into the inbox that failed is forgiven when a later one did not. */
export function driverResult(index: JournalIndex, step: PlannedStep): StepResult | null {
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

/** The words of the driver may hold status and answer already. */
function whatItSaid({ how, status, error, answer = '' }: DriverEntry): string {
  const said = error ?? (status === undefined ? 'it failed' : `answered ${status}`)
  const more = answer.trim() === '' || hasItAlready(said, answer) ? '' : `: ${plainText(answer.trim(), 120)}`
  return `${how}: ${said}${more}`
}

/** White space aside: what was read from JSON is shown as it would be written again. */
const hasItAlready = (said: string, answer: string): boolean =>
  said.replace(/\s/g, '').includes(answer.replace(/\s/g, '').slice(0, 60))

const hintFor = ({ status, outcome, failure }: DriverEntry): { hint?: string } => {
  if (failure?.code === 'not_started')
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

const OF_BEFORE =
  'If the help desk knows this chat from an earlier run: the same seed gives the same chats. Restart it, or give another --seed.'
