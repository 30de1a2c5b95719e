/** Computes the verdict on a play: the result of every step, the failures in their order, and the outcome. */
import { lint } from '../linter/lint.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { isRunEvent } from '../scenario/run-events.ts'
import { echoes } from './echo.ts'
import type { AttributedFailure, Evaluation } from './evaluation.ts'
import type { Failure } from './failure.ts'
import type { JournalIndex } from './journal-index.ts'
import { has } from './near-misses.ts'
import { slowPatternFailure } from './pattern-tester.ts'
import { stepName, stepRef } from './references.ts'
import { type FailureDetails, failureDetails, internalFailure, type StepResult } from './step-evaluator.ts'
import { unexpectedCalls } from './unexpected-calls.ts'
import type { FailureWarning, Outcome, Reason, StepVerdict, Verdict } from './verdict.ts'
import { contractViolations, forbiddenCalls } from './violations.ts'

export function computeVerdict(evaluation: Evaluation): Verdict {
  const { index, variables } = evaluation
  const other = otherSteps(index)
  if (other !== null) return { ...NOTHING, outcome: 'error', reason: other }
  const evicted = evictedBeginning(index)
  if (evicted !== null) return { ...NOTHING, outcome: 'inconclusive', reason: evicted }
  const results = [...index.steps.values()].map(step => ({ step, result: resultOf(evaluation, step) }))
  const echoed = echoes(index.plan, index.entries)
  const attributed = attributedFailures(evaluation, results, echoed)
  const failures = failuresOf(evaluation, attributed, echoed)
  const warnings = attributed.filter(({ severity }) => severity === 'warn')
  return {
    ...outcomeOf(evaluation, results, failures),
    failures,
    warnings: [...warnings.map(one => warningOf(evaluation, one)), ...lint(index.plan, index.entries)],
    steps: results.map(({ step, result }) => stepVerdict(evaluation, step, result)),
    captures: variables.captures(),
  }
}

const NOTHING = { failures: [], warnings: [], steps: [], captures: {} }

/** Finds out whether a saved journal is of other steps than the plan has: then its entries mean nothing. */
function otherSteps({ entries, steps }: JournalIndex): Reason | null {
  for (const entry of entries) {
    if (!isRunEvent(entry, 'step_started')) continue
    const { step, verb, label } = entry
    const now = steps.get(step)
    if (now?.action.verb !== verb) return { code: 'other_steps', step, was: label, now: now?.label ?? null }
  }
  return null
}

/** Finds out whether the journal lost the entry with which every scenario begins. */
function evictedBeginning({ started, entries: [first] }: JournalIndex): Reason | null {
  return started === null && first !== undefined && first.seq > 1 ? { code: 'evicted', firstSeq: first.seq } : null
}

/** An echo explains the failures that follow from it, so it comes before them. */
function failuresOf(
  evaluation: Evaluation,
  attributed: readonly AttributedFailure[],
  echoed: readonly Failure[],
): Failure[] {
  const hard = attributed.filter(({ severity }) => severity === 'fail')
  const all = [
    ...echoed.map(failure => ({ at: Math.max(0, ...failure.entrySeqs), failure })),
    ...hard.map(one => ({ at: one.at, failure: failureOf(evaluation, one) })),
  ]
  return all.sort((a, b) => a.at - b.at).map(({ failure }) => failure)
}

/** The failure of a step that has ended, or null. */
export function failureOfStep(evaluation: Evaluation, step: PlannedStep): Failure | null {
  const [first] = stepFailures(evaluation, { step, result: resultOf(evaluation, step) })
  return first === undefined ? null : failureOf(evaluation, first)
}

interface Evaluated {
  readonly step: PlannedStep
  /** Null: not reached. */
  readonly result: StepResult | null
}

const resultOf = (evaluation: Evaluation, step: PlannedStep): StepResult | null =>
  evaluation.index.begun(step.number) === null ? null : evaluation.resultOf(step, true)

/** In the order in which they occurred: the first is most likely the cause of the others. */
function attributedFailures(
  evaluation: Evaluation,
  results: readonly Evaluated[],
  echoed: readonly Failure[],
): AttributedFailure[] {
  const ofSteps = results.flatMap(evaluated => stepFailures(evaluation, evaluated))
  const early = [...ofSteps, ...contractViolations(evaluation), ...forbiddenCalls(evaluation)]
  const reported = new Set([
    ...early.filter(({ severity }) => severity === 'fail').flatMap(explainedEntries),
    ...echoed.flatMap(({ entrySeqs }) => entrySeqs),
  ])
  const all = [...early, ...unexpectedCalls(evaluation, reported), ...earlyEnd(evaluation, results)]
  return [...all, ...slowPatterns(evaluation, ofSteps), ...internalErrors(evaluation)].sort((a, b) => a.at - b.at)
}

/** Errors of the simulator: what it did after them proves nothing about the intermediary. */
const internalErrors = ({ index }: Evaluation): AttributedFailure[] =>
  index.internalErrors.map(note => ({
    at: note.seq,
    step: null,
    conversation: index.conversationOfChat(note.chat_id),
    severity: 'fail',
    rule: 'internal',
    details: internalFailure(note),
  }))

/** The slow patterns that no step reports: of `never`, or found when calls were compared with a step that had passed. */
function slowPatterns({ index, patterns }: Evaluation, ofSteps: readonly AttributedFailure[]): AttributedFailure[] {
  const reported = new Set(ofSteps.filter(({ rule }) => rule === 'scenario').map(({ step }) => step?.number))
  const others = patterns.slow.filter(({ step }) => step === null || !reported.has(step))
  return others.map(slow => {
    const step = index.steps.get(slow.step ?? 0) ?? null
    const details = slowPatternFailure(slow)
    const conversation = step?.conversation ?? null
    return { at: Number.MAX_SAFE_INTEGER, step, conversation, severity: 'fail', rule: details.kind, details }
  })
}

/** The calls that a failure names: they are not reported again as unexpected. */
const explainedEntries = ({ details: { entrySeqs, nearest } }: AttributedFailure): number[] => [
  ...entrySeqs,
  ...nearest.filter(miss => !has(miss, 'claimed', 'call')).map(({ seq }) => seq),
]

function stepFailures(evaluation: Evaluation, { step, result }: Evaluated): AttributedFailure[] {
  const at = evaluation.index.endOf(step.number)?.seq ?? Number.MAX_SAFE_INTEGER
  const attribute = (details: FailureDetails, seq = at): AttributedFailure => ({
    at: seq,
    step,
    conversation: step.conversation,
    severity: 'fail',
    rule: details.kind,
    details,
  })
  if (result?.failure !== undefined) return [attribute(result.failure)]
  const sees = result?.outcome === 'pass' ? evaluation.sees.get(step.number) : undefined
  const excess = evaluation.patterns.within(step.number, () => sees?.excess())
  return excess == null ? [] : [attribute(excess, excess.entrySeqs[0] ?? at)]
}

/** The time limit of the scenario passed between two steps, so that no step reports it. */
function earlyEnd({ index }: Evaluation, results: readonly Evaluated[]): AttributedFailure[] {
  const { ended, plan } = index
  if (
    ended?.stopped === undefined ||
    results.some(({ result }) => result?.failure?.kind === 'stopped' || result?.failure?.kind === 'environment')
  )
    return []
  return [
    {
      at: ended.seq,
      step: null,
      conversation: null,
      severity: 'fail',
      rule: 'stopped',
      details: failureDetails(
        'stopped',
        { code: 'own_end', scenario: plan.name },
        { code: 'stopped', cause: ended.stopped },
        { entrySeqs: [ended.seq] },
      ),
    },
  ]
}

const failureOf = ({ index }: Evaluation, { details, step, conversation }: AttributedFailure): Failure => ({
  ...details,
  step: step === null ? null : stepRef(index.plan, step),
  conversation,
  soft: step?.soft ?? false,
})

const warningOf = (evaluation: Evaluation, attributed: AttributedFailure): FailureWarning => {
  const { rule, conversation, details } = attributed
  return { rule, failure: failureOf(evaluation, attributed), conversation, entrySeqs: details.entrySeqs }
}

function stepVerdict(evaluation: Evaluation, step: PlannedStep, result: StepResult | null): StepVerdict {
  const { index, claims, patterns } = evaluation
  return {
    ...stepRef(index.plan, step),
    outcome: patterns.slowIn(step.number) === null ? stepOutcome(result) : 'error',
    startMs: index.begun(step.number)?.at_ms ?? null,
    endMs: index.endOf(step.number)?.at_ms ?? null,
    claimed: claims.claimedBy(step.number).map(({ seq }) => seq),
  }
}

/** Returns true if the run ended while the step still waited. Such a failure says nothing about the intermediary. */
const endedByRun = ({ happened }: Pick<Failure, 'happened'>): boolean =>
  'cause' in happened && happened.cause !== null && happened.cause.code !== 'time_limit'

const stepOutcome = (result: StepResult | null): StepVerdict['outcome'] => {
  if (result === null) return 'not reached'
  if (result.failure && endedByRun(result.failure)) return 'inconclusive'
  return result.outcome === 'open' ? 'pass' : result.outcome
}

/** error before fail before inconclusive before pass. */
function outcomeOf(
  { index }: Evaluation,
  results: readonly Evaluated[],
  failures: readonly Failure[],
): { outcome: Outcome; reason: Reason | null } {
  if (index.started === null) return { outcome: 'error', reason: { code: 'not_a_scenario' } }
  if (index.ended === null) return { outcome: 'error', reason: { code: 'incomplete_journal' } }
  const internal = failures.find(({ kind }) => kind === 'internal')
  if (internal !== undefined) return { outcome: 'error', reason: { code: 'internal', failure: internal } }
  const unusable = failures.find(({ kind }) => kind === 'scenario')
  if (unusable !== undefined) return { outcome: 'error', reason: { code: 'scenario', failure: unusable } }
  const environment = failures.find(({ kind }) => kind === 'environment')
  if (environment !== undefined) return { outcome: 'error', reason: { code: 'environment', failure: environment } }
  const evicted = failures.find(({ kind }) => kind === 'evicted')
  const stopped = failures.find(endedByRun)
  if (failures.some(one => one !== evicted && !endedByRun(one))) return { outcome: 'fail', reason: null }
  if (stopped !== undefined) return { outcome: 'inconclusive', reason: { code: 'stopped', failure: stopped } }
  if (evicted !== undefined) return { outcome: 'inconclusive', reason: { code: 'check_evicted', failure: evicted } }
  const inconclusive = results.find(({ result }) => result?.outcome === 'inconclusive')?.result
  const missing = inconclusive?.reason ?? missingNeed(index)
  if (missing !== null) return { outcome: 'inconclusive', reason: missing }
  const skipped = results.find(({ result }) => result === null)?.step
  if (skipped === undefined) return { outcome: 'pass', reason: null }
  return { outcome: 'error', reason: { code: 'step_not_played', step: stepName(skipped) } }
}

/** A verb that `requires` names may be in no step. */
function missingNeed({ plan, started }: JournalIndex): Reason | null {
  const verbs = started?.driver ?? null
  const verb = plan.needs.find(need => !verbs?.includes(need))
  return verb === undefined ? null : { code: 'need_missing', scenario: plan.name, verb, verbs }
}
