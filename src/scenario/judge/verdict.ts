/** The verdict on a play: how every step came out, what failed and why, and what it comes to. */
import { lint } from '../lint/lint.ts'
import type { PlannedStep } from '../plan.ts'
import { echoes } from '../tokens/echo.ts'
import type { Failure, LintFinding, Outcome, StepOutcome, StepRef, StepVerdict, Verdict } from '../verdict.ts'
import type { Charge } from './charge.ts'
import { contractBreaches } from './contract.ts'
import type { Facts } from './facts.ts'
import { leftovers } from './leftovers.ts'
import { brokenInvariants } from './never.ts'
import type { Court } from './referee.ts'
import type { Ruling } from './ruling.ts'
import { otherSteps } from './same-steps.ts'
import type { Told } from './watch.ts'
import { driverHas, stepName } from './words.ts'

export function verdictOf(court: Court): Verdict {
  const { facts, captures } = court
  const other = otherSteps(facts)
  if (other !== null) return { ...NOTHING, outcome: 'error', reason: other }
  const rulings = [...facts.steps.values()].map(step => ({ step, ruling: rulingOf(court, step) }))
  const echoed = echoes(facts.plan, facts.entries)
  const charges = chargesOf(court, rulings, echoed)
  const failures = failuresOf(court, charges, echoed)
  const warnings = [
    ...charges.filter(({ severity }) => severity === 'warn').map(warningOf),
    ...lint(facts.plan, facts.entries),
  ]
  return {
    ...outcomeOf(court, rulings, failures),
    failures,
    warnings,
    steps: rulings.map(({ step, ruling }) => stepVerdict(court, step, ruling)),
    captures: captures.all,
  }
}

const NOTHING = { failures: [], warnings: [], steps: [], captures: {} }

/** A text that came back tells more than the failures it leads to, so it stands where it came back. */
function failuresOf(court: Court, charges: readonly Charge[], echoed: readonly Failure[]): Failure[] {
  const all = [
    ...echoed.map(failure => ({ at: Math.max(0, ...failure.marks), failure })),
    ...charges
      .filter(({ severity }) => severity === 'fail')
      .map(charge => ({ at: charge.at, failure: failureOf(court, charge) })),
  ]
  return all.sort((a, b) => a.at - b.at).map(({ failure }) => failure)
}

/** What is to be said of a step that has ended; null when it did as it should. */
export function failureOfStep(court: Court, step: PlannedStep): Failure | null {
  const [charge] = stepCharges(court, { step, ruling: rulingOf(court, step) })
  return charge === undefined ? null : failureOf(court, charge)
}

interface Ruled {
  readonly step: PlannedStep
  readonly ruling: Ruling | null
}

const rulingOf = (court: Court, step: PlannedStep): Ruling | null =>
  court.facts.begun(step.number) === null ? null : court.ruling(step, true)

/** In the order in which they came about: the first is most likely the cause of the others. */
function chargesOf(court: Court, rulings: readonly Ruled[], echoed: readonly Failure[]): Charge[] {
  const ofSteps = rulings.flatMap(ruled => stepCharges(court, ruled))
  const early = [...ofSteps, ...contractBreaches(court), ...brokenInvariants(court)]
  const told = new Set([
    ...early.filter(({ severity }) => severity === 'fail').flatMap(explains),
    ...echoed.flatMap(({ marks }) => marks),
  ])
  const stopped = earlyEnd(court, rulings)
  const all = [...early, ...leftovers(court, told), ...stopped]
  return all.sort((a, b) => a.at - b.at)
}

/** The calls a failure has told of: they are not told again as calls nobody expected. */
const explains = ({ told }: Charge): number[] => [
  ...told.marks,
  ...told.nearest.filter(({ why }) => !/^already claimed|^it is /.test(why)).map(({ seq }) => seq),
]

function stepCharges(court: Court, { step, ruling }: Ruled): Charge[] {
  const at = court.facts.endOf(step.number)?.seq ?? Number.MAX_SAFE_INTEGER
  const charge = (told: Told, seq = at): Charge => ({
    at: seq,
    step,
    lane: step.lane,
    severity: 'fail',
    rule: told.kind,
    told,
  })
  if (ruling?.told !== undefined) return [charge(ruling.told)]
  const excess = ruling?.outcome === 'pass' ? court.sees.get(step.number)?.excess() : null
  return excess == null ? [] : [charge(excess, excess.marks[0] ?? at)]
}

/** The bound of the scenario passed between two steps: no step tells of it. */
function earlyEnd({ facts }: Court, rulings: readonly Ruled[]): Charge[] {
  const { ended, plan } = facts
  if (ended?.stopped === undefined || rulings.some(({ ruling }) => isStop(ruling))) return []
  return [
    {
      at: ended.seq,
      step: null,
      lane: null,
      severity: 'fail',
      rule: 'stopped',
      told: {
        kind: ended.environment ? 'environment' : 'stopped',
        wanted: `${plan.name} comes to its own end`,
        happened: ended.stopped,
        rules: [],
        nearest: [],
        marks: [ended.seq],
      },
    },
  ]
}

const isStop = (ruling: Ruling | null): boolean =>
  ruling?.told?.kind === 'stopped' || ruling?.told?.kind === 'environment'

const failureOf = (court: Court, { told, step, lane }: Charge): Failure => ({
  ...told,
  step: step === null ? null : refOf(court, step),
  lane,
  soft: step?.soft ?? false,
})

const warningOf = ({ rule, told, lane }: Charge): LintFinding => ({
  rule,
  message: `${told.wanted}: ${told.happened}`,
  lane,
  marks: told.marks,
})

const refOf = ({ facts }: Court, { number, id, name, label, lane, place }: PlannedStep): StepRef => ({
  number,
  of: facts.plan.count,
  id,
  name,
  label,
  lane,
  place,
})

function stepVerdict(court: Court, step: PlannedStep, ruling: Ruling | null): StepVerdict {
  const { facts, ledger } = court
  return {
    ...refOf(court, step),
    outcome: stepOutcome(ruling),
    startMs: facts.begun(step.number)?.at_ms ?? null,
    endMs: facts.endOf(step.number)?.at_ms ?? null,
    claimed: ledger.claimedBy(step.number).map(({ seq }) => seq),
  }
}

const stepOutcome = (ruling: Ruling | null): StepOutcome => {
  if (ruling === null) return 'not reached'
  return ruling.outcome === 'open' ? 'pass' : ruling.outcome
}

/** error before fail before inconclusive before pass. */
function outcomeOf(
  { facts }: Court,
  rulings: readonly Ruled[],
  failures: readonly Failure[],
): { outcome: Outcome; reason: string | null } {
  if (facts.started === null) return { outcome: 'error', reason: 'this is not the journal of a scenario' }
  if (facts.ended === null) return { outcome: 'error', reason: 'the journal stops before the end of the scenario' }
  const surroundings = failures.find(({ kind }) => kind === 'environment')
  if (surroundings !== undefined) return { outcome: 'error', reason: surroundings.happened }
  if (failures.length > 0) return { outcome: 'fail', reason: null }
  const lacking = rulings.find(({ ruling }) => ruling?.outcome === 'inconclusive')?.ruling?.reason ?? missingNeed(facts)
  if (lacking !== null) return { outcome: 'inconclusive', reason: lacking }
  const unplayed = rulings.find(({ ruling }) => ruling === null)?.step
  if (unplayed === undefined) return { outcome: 'pass', reason: null }
  return { outcome: 'error', reason: `${stepName(unplayed)} was not played: play the scenario again` }
}

/** What `requires` names may be in no step. */
function missingNeed({ plan, started }: Facts): string | null {
  const has = started?.driver ?? []
  const missing = plan.needs.find(verb => !has.includes(verb))
  return missing === undefined ? null : `${plan.name} requires ${missing}, and ${driverHas(started?.driver)}`
}
