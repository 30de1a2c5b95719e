/** The verdict on a play: how every step came out, what failed and why, and what it comes to. */
import { lint } from '../linter/lint.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { RunEventOf } from '../scenario/run-events.ts'
import { earlyEndText } from '../wording/run-failures.ts'
import type { Evaluation } from './evaluation.ts'
import type { JournalIndex } from './journal-index.ts'
import type { AttributedFailure, FailureDetails, StepResult } from './step-evaluator.ts'
import { echoes } from './tokens/echo.ts'
import { unexpectedCalls } from './unexpected-calls.ts'
import type { Failure, FailureWarning, Outcome, StepOutcome, StepRef, StepVerdict, Verdict } from './verdict.ts'
import { brokenInvariants, contractViolations } from './violations.ts'
import { driverHas, stepName } from './wording.ts'

export function verdictOf(evaluation: Evaluation): Verdict {
  const { index, variables } = evaluation
  const other = otherSteps(index)
  if (other !== null) return { ...NOTHING, outcome: 'error', reason: other }
  const results = [...index.steps.values()].map(step => ({ step, resultOf: stepResultOf(evaluation, step) }))
  const echoed = echoes(index.plan, index.entries)
  const charges = chargesOf(evaluation, results, echoed)
  const failures = failuresOf(evaluation, charges, echoed)
  const warnings = [
    ...charges.filter(({ severity }) => severity === 'warn').map(charge => warningOf(evaluation, charge)),
    ...lint(index.plan, index.entries),
  ]
  return {
    ...outcomeOf(evaluation, results, failures),
    failures,
    warnings,
    steps: results.map(({ step, resultOf }) => stepVerdict(evaluation, step, resultOf)),
    captures: variables.captures,
  }
}

const NOTHING = { failures: [], warnings: [], steps: [], captures: {} }

/** A text that came back tells more than the failures it leads to, so it stands where it came back. */
function failuresOf(
  evaluation: Evaluation,
  charges: readonly AttributedFailure[],
  echoed: readonly Failure[],
): Failure[] {
  const all = [
    ...echoed.map(failure => ({ at: Math.max(0, ...failure.marks), failure })),
    ...charges
      .filter(({ severity }) => severity === 'fail')
      .map(charge => ({ at: charge.at, failure: failureOf(evaluation, charge) })),
  ]
  return all.sort((a, b) => a.at - b.at).map(({ failure }) => failure)
}

/** What is to be said of a step that has ended; null when it did as it should. */
export function failureOfStep(evaluation: Evaluation, step: PlannedStep): Failure | null {
  const [charge] = stepCharges(evaluation, { step, resultOf: stepResultOf(evaluation, step) })
  return charge === undefined ? null : failureOf(evaluation, charge)
}

interface Ruled {
  readonly step: PlannedStep
  readonly resultOf: StepResult | null
}

const stepResultOf = (evaluation: Evaluation, step: PlannedStep): StepResult | null =>
  evaluation.index.begun(step.number) === null ? null : evaluation.resultOf(step, true)

/** In the order in which they came about: the first is most likely the cause of the others. */
function chargesOf(evaluation: Evaluation, results: readonly Ruled[], echoed: readonly Failure[]): AttributedFailure[] {
  const ofSteps = results.flatMap(ruled => stepCharges(evaluation, ruled))
  const early = [...ofSteps, ...contractViolations(evaluation), ...brokenInvariants(evaluation)]
  const told = new Set([
    ...early.filter(({ severity }) => severity === 'fail').flatMap(explains),
    ...echoed.flatMap(({ marks }) => marks),
  ])
  const stopped = earlyEnd(evaluation, results)
  const all = [...early, ...unexpectedCalls(evaluation, told), ...stopped]
  return all.sort((a, b) => a.at - b.at)
}

/** The calls a failure has told of: they are not told again as calls nobody expected. */
const explains = ({ told }: AttributedFailure): number[] => [
  ...told.marks,
  ...told.nearest.filter(({ why }) => !/^already claimed|^it is /.test(why)).map(({ seq }) => seq),
]

function stepCharges(evaluation: Evaluation, { step, resultOf }: Ruled): AttributedFailure[] {
  const at = evaluation.index.endOf(step.number)?.seq ?? Number.MAX_SAFE_INTEGER
  const charge = (told: FailureDetails, seq = at): AttributedFailure => ({
    at: seq,
    step,
    conversation: step.conversation,
    severity: 'fail',
    rule: told.kind,
    told,
  })
  if (resultOf?.told !== undefined) return [charge(resultOf.told)]
  const excess = resultOf?.outcome === 'pass' ? evaluation.sees.get(step.number)?.excess() : null
  return excess == null ? [] : [charge(excess, excess.marks[0] ?? at)]
}

/** The bound of the scenario passed between two steps: no step tells of it. */
function earlyEnd({ index }: Evaluation, results: readonly Ruled[]): AttributedFailure[] {
  const { ended, plan } = index
  if (ended?.stopped === undefined || results.some(({ resultOf }) => isStop(resultOf))) return []
  return [
    {
      at: ended.seq,
      step: null,
      conversation: null,
      severity: 'fail',
      rule: 'stopped',
      told: {
        kind: 'stopped',
        wanted: `${plan.name} comes to its own end`,
        happened: earlyEndText(ended.stopped),
        rules: [],
        nearest: [],
        marks: [ended.seq],
      },
    },
  ]
}

const isStop = (resultOf: StepResult | null): boolean =>
  resultOf?.told?.kind === 'stopped' || resultOf?.told?.kind === 'environment'

const failureOf = (evaluation: Evaluation, { told, step, conversation }: AttributedFailure): Failure => ({
  ...told,
  step: step === null ? null : refOf(evaluation, step),
  conversation,
  soft: step?.soft ?? false,
})

const warningOf = (evaluation: Evaluation, charge: AttributedFailure): FailureWarning => ({
  rule: charge.rule,
  failure: failureOf(evaluation, charge),
  conversation: charge.conversation,
  marks: charge.told.marks,
})

const refOf = ({ index }: Evaluation, { number, id, name, label, conversation, place }: PlannedStep): StepRef => ({
  number,
  of: index.plan.count,
  id,
  name,
  label,
  conversation,
  place,
})

function stepVerdict(evaluation: Evaluation, step: PlannedStep, resultOf: StepResult | null): StepVerdict {
  const { index, claims } = evaluation
  return {
    ...refOf(evaluation, step),
    outcome: stepOutcome(resultOf),
    startMs: index.begun(step.number)?.at_ms ?? null,
    endMs: index.endOf(step.number)?.at_ms ?? null,
    claimed: claims.claimedBy(step.number).map(({ seq }) => seq),
  }
}

const stepOutcome = (resultOf: StepResult | null): StepOutcome => {
  if (resultOf === null) return 'not reached'
  return resultOf.outcome === 'open' ? 'pass' : resultOf.outcome
}

/** error before fail before inconclusive before pass. */
function outcomeOf(
  { index }: Evaluation,
  results: readonly Ruled[],
  failures: readonly Failure[],
): { outcome: Outcome; reason: string | null } {
  if (index.started === null) return { outcome: 'error', reason: 'this is not the journal of a scenario' }
  if (index.ended === null) return { outcome: 'error', reason: 'the journal stops before the end of the scenario' }
  const surroundings = failures.find(({ kind }) => kind === 'environment')
  if (surroundings !== undefined) return { outcome: 'error', reason: surroundings.happened }
  if (failures.length > 0) return { outcome: 'fail', reason: null }
  const lacking =
    results.find(({ resultOf }) => resultOf?.outcome === 'inconclusive')?.resultOf?.reason ?? missingNeed(index)
  if (lacking !== null) return { outcome: 'inconclusive', reason: lacking }
  const skippedResults = results.find(({ resultOf }) => resultOf === null)?.step
  if (skippedResults === undefined) return { outcome: 'pass', reason: null }
  return { outcome: 'error', reason: `${stepName(skippedResults)} was not played: play the scenario again` }
}

/** What `requires` names may be in no step. */
function missingNeed({ plan, started }: JournalIndex): string | null {
  const has = started?.driver ?? []
  const missing = plan.needs.find(verb => !has.includes(verb))
  return missing === undefined ? null : `${plan.name} requires ${missing}, and ${driverHas(started?.driver)}`
}

/** A saved journal beside a file that was changed since: what it says of step 3 is about another step. */
function otherSteps({ entries, steps }: JournalIndex): string | null {
  for (const entry of entries) {
    if (entry.kind !== 'note' || entry.note !== 'step_started') continue
    const { step, verb, label } = entry as RunEventOf<'step_started'>
    const now = steps.get(step)
    if (now?.action.verb === verb) continue
    const is = now === undefined ? 'is not there any more' : `is now ${now.label}`
    return `the scenario has other steps than the run played: step ${step} was ${label} and ${is}; play it again`
  }
  return null
}
