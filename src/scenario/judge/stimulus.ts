/** What came of a step that does something: whether it could be done, and what the webhook answered. */
import { formatDuration } from '../../text/duration.ts'
import type { PlannedStep } from '../plan.ts'
import { ackRuling } from './ack.ts'
import { driverRuling } from './driver.ts'
import type { Facts } from './facts.ts'
import { PASSED, type Ruling } from './ruling.ts'
import { driverHas, stepName } from './words.ts'

/** `over`: nothing more will come, so what is still open is decided as well. */
export function stimulusRuling(facts: Facts, step: PlannedStep, over: boolean): Ruling {
  return brokenRuling(facts, step) ?? ackRuling(facts, step, over) ?? PASSED
}

/** For steps of every kind: they could not be played, or not to their end. Null: they were. */
export function brokenRuling(facts: Facts, step: PlannedStep): Ruling | null {
  const ended = facts.endOf(step.number)
  if (ended === null) return null
  if (ended.missing !== undefined) return { outcome: 'inconclusive', reason: missingVerb(facts, step, ended.missing) }
  if (ended.cut) return cutRuling(facts, step, ended.seq)
  const refused = driverRuling(facts, step)
  if (refused !== null) return refused
  return ended.error === undefined ? null : couldNot(step, ended.error, ended.environment === true, ended.seq)
}

const missingVerb = ({ started }: Facts, step: PlannedStep, verb: string): string =>
  `${stepName(step)} needs ${verb}, and ${driverHas(started?.driver)}`

const couldNot = (step: PlannedStep, error: string, environment: boolean, seq: number): Ruling => ({
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

function cutRuling({ plan, ended }: Facts, step: PlannedStep, seq: number): Ruling {
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
