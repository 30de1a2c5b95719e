/** Computes the verdict on a run: the result of every step, the failures in their order, and the outcome. */
import { peerLoss } from '../../base/runtime/connection-failure.ts'
import { isStackFrame } from '../../base/text/error-text.ts'
import type { TargetOutput } from '../../platform/journal/run-failures.ts'
import { type LintFinding, lint } from '../linter/lint.ts'
import type { Variables } from '../scenario/interpolation.ts'
import type { Plan, PlannedStep } from '../scenario/plan.ts'
import { isRunEvent, type RunEventOf } from '../scenario/run-events.ts'
import { hasObstacle } from './claims.ts'
import { echoes } from './echo.ts'
import type { Failure, StepRef } from './failure.ts'
import { type JournalIndex, seqsOf } from './journal-index.ts'
import {
  type EvaluatedStep,
  type FailureDetails,
  failureDetails,
  internalFailure,
  type StepResult,
} from './step-evaluator.ts'
import { stepName } from './stimulus.ts'
import {
  type AttributedFailure,
  type CallReview,
  contractViolations,
  forbiddenCalls,
  unexpectedCalls,
} from './unclaimed-calls.ts'
import type { FailureWarning, Outcome, Reason, StepVerdict, Verdict } from './verdict.ts'

type TargetOutputEntry = RunEventOf<'target_output'>

/** The state of the evaluation of a scenario. */
export interface Evaluation extends CallReview {
  readonly plan: Plan
  readonly variables: Variables
  /** The result of a step. `isOver`: nothing more will come. */
  resultOf(step: PlannedStep, isOver: boolean): StepResult
  /** The failure of a step that has passed and whose inbox has more items than it allows; null without. */
  excessOf(step: EvaluatedStep): FailureDetails | null
}

interface EvaluatedResult {
  readonly step: PlannedStep
  /** Null: not reached. */
  readonly result: StepResult | null
}

export function computeVerdict(evaluation: Evaluation): Verdict {
  const { index, variables, plan } = evaluation
  const nothing = { failures: [], warnings: [], steps: [], captures: {} }
  // The entries of a saved journal mean nothing when it is of other steps than the plan has.
  for (const entry of index.entries) {
    if (!isRunEvent(entry, 'step_started')) continue
    // A program that was killed, or a file that was changed.
    if (index.findEnd(entry.step) === null)
      return { ...nothing, outcome: 'error', reason: { code: 'incomplete_journal' } }
    const step = index.steps.get(entry.step)
    if (step?.action.verb === entry.verb) continue
    const reason = { code: 'other_steps', step: entry.step, was: entry.label, now: step?.label ?? null } as const
    return { ...nothing, outcome: 'error', reason }
  }
  // The journal lost the entry with which every scenario begins.
  const firstSeq = index.entries[0]?.seq ?? 1
  if (index.started === null && firstSeq > 1)
    return { ...nothing, outcome: 'inconclusive', reason: { code: 'evicted', firstSeq } }

  const results: EvaluatedResult[] = []
  for (const step of index.steps.values()) {
    const isReached = index.findStart(step.number) !== null
    results.push({ step, result: isReached ? evaluation.resultOf(step, true) : null })
  }
  const echoed = echoes(plan, index.entries)
  const attributed = attributedFailures(evaluation, results, echoed)
  const stepsWithWarnings = new Set<EvaluatedStep>()
  const output = index.entries.findLast(entry => isRunEvent(entry, 'target_output'))
  // An echo explains the failures that follow from it, so it comes before them.
  const placed = echoed.map(failure => ({ at: Math.max(0, ...failure.entrySeqs), failure }))
  const warnings: FailureWarning[] = []
  for (const one of attributed) {
    const { at, rule, conversation, details, step } = one
    const place = { step: step === null ? null : stepRef(plan, step), conversation, soft: step?.soft ?? false }
    const failure = withTargetOutput(index, { ...details, ...place }, output)
    // An intermediary that refuses what the user does, or ends by itself, breaks more than a recommendation.
    const isRequired = isRefusedEvent(index, step, details) || failure.hint?.code === 'target_ended'
    const isRecommended = step?.level === 'should' && isAboutIntermediary(details) && !isRequired
    const severity = isRecommended && one.severity === 'fail' ? 'warn' : one.severity
    if (severity === 'fail') placed.push({ at, failure })
    if (severity !== 'warn') continue
    warnings.push({ rule: isRecommended ? 'recommended' : rule, failure, conversation, entrySeqs: details.entrySeqs })
    if (step !== null) stepsWithWarnings.add(step)
  }
  const findings: LintFinding[] = []
  for (const finding of lint(plan, index.entries)) {
    if (finding.rule !== 'content-type' || plan.strict.contract !== 'fail') findings.push(finding)
    else placed.push({ at: finding.entrySeqs[0] ?? 0, failure: contentTypeFailure(finding) })
  }
  const failures = placed.sort((a, b) => a.at - b.at).map(({ failure }) => failure)
  const decided = outcomeOf(evaluation, results, failures, stepsWithWarnings)
  return {
    ...decided,
    failures,
    warnings: [...warnings, ...findings],
    steps: results.map(one => stepVerdict(evaluation, one, stepsWithWarnings)),
    captures: variables.captures(),
    ...(output !== undefined && decided.outcome !== 'pass' && { targetOutput: targetOutputOf(output) }),
  }
}

/** The platform describes JSON bodies and their header (E0.2): other findings are about what it leaves open. */
const contentTypeFailure = (finding: LintFinding): Failure => ({
  ...failureDetails(
    'contract',
    { code: 'no_warning', rule: finding.rule },
    { code: 'warning', finding },
    { rules: ['E0.2'], entrySeqs: finding.entrySeqs },
  ),
  step: null,
  conversation: finding.conversation,
  soft: false,
})

const targetOutputOf = ({ ended, lines, file }: TargetOutputEntry): TargetOutput => ({
  ended,
  lines: Array.isArray(lines) ? lines.map(String) : [],
  file,
})

/** Explains a missing answer, call or inbox item by the end of the target, and an answer that never came by an exception. */
function withTargetOutput(index: JournalIndex, failure: Failure, output: TargetOutputEntry | undefined): Failure {
  if (output === undefined) return failure
  const { happened, step } = failure
  if (!output.ended) {
    const isUnanswered = happened.code === 'not_acknowledged' && happened.result.status === null
    const hasException = targetOutputOf(output).lines.some(line => isStackFrame(line) || line.startsWith('Traceback '))
    return isUnanswered && hasException ? { ...failure, hint: { code: 'exception' } } : failure
  }
  const isAfterEnd = step !== null && (index.findEnd(step.number)?.seq ?? 0) > output.seq
  let isExplained = false
  if (happened.code === 'not_acknowledged') isExplained = happened.result.status === null
  else if (happened.code === 'driver_failed') isExplained = peerLoss(happened.failure) !== null
  else if (['no_call', 'no_answer', 'item_missing'].includes(happened.code)) isExplained = isAfterEnd
  return isExplained ? { ...failure, hint: { code: 'target_ended', failure: output.ended } } : failure
}

const stepRef = (plan: Plan, { number, id, name, label, conversation, place }: EvaluatedStep): StepRef => ({
  number,
  of: plan.count,
  id,
  name,
  label,
  conversation,
  place,
})

/** In the order in which they occurred: the first is most likely the cause of the others. */
function attributedFailures(
  evaluation: Evaluation,
  results: readonly EvaluatedResult[],
  echoed: readonly Failure[],
): AttributedFailure[] {
  const { index, plan, guard } = evaluation
  const failures: AttributedFailure[] = []
  const add = (at: number, step: EvaluatedStep | null, conversation: string | null, details: FailureDetails) =>
    failures.push({ at, step, conversation, severity: 'fail', rule: details.kind, details })
  for (const { step, result } of results) {
    const at = index.findEnd(step.number)?.seq ?? Number.MAX_SAFE_INTEGER
    const excess = result?.outcome === 'pass' ? evaluation.excessOf(step) : null
    if (result?.failure !== undefined) add(at, step, step.conversation, result.failure)
    else if (excess !== null) add(excess.entrySeqs[0] ?? at, step, step.conversation, excess)
  }
  failures.push(...contractViolations(evaluation), ...forbiddenCalls(evaluation, plan, evaluation.variables))
  const reported = new Set<number>()
  for (const { entrySeqs } of echoed) for (const seq of entrySeqs) reported.add(seq)
  for (const { severity, step, details } of failures)
    if (severity === 'fail' || step !== null) for (const seq of explainedSeqs(details)) reported.add(seq)
  failures.push(...unexpectedCalls(evaluation, reported))
  // The time limit of the scenario passed between two steps, so that no step reports it.
  const { ended } = index
  const explainsEnd = ({ result }: EvaluatedResult) =>
    result?.failure?.kind === 'stopped' || result?.failure?.kind === 'environment'
  if (ended?.stopped !== undefined && !results.some(explainsEnd)) {
    const happened = { code: 'stopped', cause: ended.stopped } as const
    const expected = { code: 'own_end', scenario: plan.name } as const
    add(ended.seq, null, null, failureDetails('stopped', expected, happened, { entrySeqs: [ended.seq] }))
  }
  // Slow patterns that no step reports: of `never`, or found when calls were compared with a step that had passed.
  for (const number of guard.slow.keys()) {
    const step = index.steps.get(number ?? 0) ?? null
    const details = guard.failureOf(number)
    const isReported = failures.some(one => one.rule === 'scenario' && one.step?.number === number)
    if (details !== null && !isReported) add(Number.MAX_SAFE_INTEGER, step, step?.conversation ?? null, details)
  }
  // Errors of the simulator: what it did after them proves nothing about the intermediary.
  for (const note of index.internalErrors)
    add(note.seq, null, index.findConversation(note.chat_id), internalFailure(note))
  return failures.sort((a, b) => a.at - b.at)
}

/** The calls that a failure names: they are not reported again as unexpected. */
export function explainedSeqs({ entrySeqs, nearest }: Pick<FailureDetails, 'entrySeqs' | 'nearest'>): number[] {
  return [...entrySeqs, ...seqsOf(nearest.filter(miss => !hasObstacle(miss, 'claimed', 'call')))]
}

/** Whether a failure is one of the intermediary, and not of the environment, of the scenario or of the run. */
const isAboutIntermediary = ({ kind }: FailureDetails): boolean =>
  !['environment', 'scenario', 'internal', 'evicted', 'stopped'].includes(kind)

/** Whether the webhook answered an event of the user otherwise than with 200 (WH2, WH3); a late 200 is another matter. */
function isRefusedEvent(index: JournalIndex, step: EvaluatedStep | null, { happened }: FailureDetails): boolean {
  const verb = index.steps.get(step?.number ?? 0)?.action.verb
  if ((verb !== 'user' && verb !== 'press') || happened.code !== 'not_acknowledged') return false
  return happened.ack === 200 && !happened.copy && happened.result.sent && happened.result.status !== 200
}

/** Whether the run ended while the step still waited. Such a failure says nothing about the intermediary. */
const isEndedByRun = ({ happened }: Pick<Failure, 'happened'>): boolean =>
  'cause' in happened && happened.cause !== null && happened.cause.code !== 'time_limit'

function stepVerdict(
  evaluation: Evaluation,
  { step, result }: EvaluatedResult,
  stepsWithWarnings: ReadonlySet<EvaluatedStep>,
): StepVerdict {
  const { index, expects, guard, plan } = evaluation
  const { number } = step
  let outcome: StepVerdict['outcome'] = 'pass'
  if (guard.slow.has(number)) outcome = 'error'
  else if (result === null) outcome = 'not reached'
  else if (result.outcome === 'fail' && stepsWithWarnings.has(step)) outcome = 'warn'
  else if (result.failure && isEndedByRun(result.failure)) outcome = 'inconclusive'
  else if (result.outcome !== 'open') outcome = result.outcome
  return {
    ...stepRef(plan, step),
    outcome,
    startMs: index.findStart(number)?.at_ms ?? null,
    endMs: index.findEnd(number)?.at_ms ?? null,
    claimed: seqsOf(expects.get(number)?.claimed ?? []),
  }
}

/** error before fail before inconclusive before pass. */
function outcomeOf(
  { index, plan }: Evaluation,
  results: readonly EvaluatedResult[],
  failures: readonly Failure[],
  stepsWithWarnings: ReadonlySet<EvaluatedStep>,
): { outcome: Outcome; reason: Reason | null } {
  if (index.started === null) return { outcome: 'error', reason: { code: 'not_a_scenario' } }
  if (index.ended === null) return { outcome: 'error', reason: { code: 'incomplete_journal' } }
  for (const code of ['internal', 'scenario', 'environment'] as const) {
    const failure = failures.find(({ kind }) => kind === code)
    if (failure !== undefined) return { outcome: 'error', reason: { code, failure } }
  }
  let evicted: Failure | undefined
  let stopped: Failure | undefined
  for (const failure of failures) {
    if (isEndedByRun(failure)) stopped ??= failure
    else if (failure.kind === 'evicted' && evicted === undefined) evicted = failure
    else return { outcome: 'fail', reason: null }
  }
  if (stopped !== undefined) return { outcome: 'inconclusive', reason: { code: 'stopped', failure: stopped } }
  if (evicted !== undefined) return { outcome: 'inconclusive', reason: { code: 'check_evicted', failure: evicted } }
  for (const { result } of results)
    if (result?.outcome === 'inconclusive' && result.reason) return { outcome: 'inconclusive', reason: result.reason }
  // A verb that `requires` names may be in no step.
  const verbs = index.started.driver ?? null
  const verb = plan.needs.find(need => !verbs?.includes(need))
  if (verb !== undefined)
    return { outcome: 'inconclusive', reason: { code: 'need_missing', scenario: plan.name, verb, verbs } }
  // A recommended step that failed ends the steps of its chat.
  const endedBy = [...stepsWithWarnings].filter(({ soft }) => !soft).map(({ conversation }) => conversation)
  const skipped = results.find(({ result, step }) => result === null && !endedBy.includes(step.conversation))?.step
  if (skipped === undefined) return { outcome: 'pass', reason: null }
  return { outcome: 'error', reason: { code: 'step_not_run', step: stepName(skipped) } }
}
