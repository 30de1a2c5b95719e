/** Computes the verdict on a run: the result of every step, the failures in their order, and the outcome. */
import { peerLoss } from '../../base/runtime/connection-failure.ts'
import { isStackFrame } from '../../base/text/error-text.ts'
import type { DriverFailure, TargetOutput } from '../../platform/journal/run-failures.ts'
import { earlyEndText, endedText } from '../../platform/wording/failures.ts'
import {
  causedBy,
  createOrphan,
  type Failure,
  type FailureDetails,
  type FailureKind,
  type Finding,
  type Hint,
  hintFields,
} from '../finding.ts'
import { lint } from '../rules/lint.ts'
import type { Variables } from '../scenario/interpolation.ts'
import type { Plan, PlannedStep } from '../scenario/plan.ts'
import { isRunEvent, type RunEventOf } from '../scenario/run-events.ts'
import { echoes } from './echo.ts'
import { type JournalIndex, seqsOf } from './journal-index.ts'
import { type EvaluatedStep, internalFailure, type StepResult, stepRef } from './step-evaluator.ts'
import { failedWorkFailure, missingVerb, stoppedFailure } from './stimulus.ts'
import {
  type AttributedFailure,
  type CallReview,
  contractViolations,
  forbiddenCalls,
  unexpectedCalls,
} from './unclaimed-calls.ts'
import type { Outcome, Reason, StepVerdict, Verdict, Warning } from './verdict.ts'
import { evictedText, stepText } from './words.ts'

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
    if (index.findEnd(entry.step) === null) return { ...nothing, outcome: 'error', reason: INCOMPLETE }
    const step = index.steps.get(entry.step)
    if (step?.action.verb === entry.verb) continue
    const change = step === undefined ? 'no longer exists' : `is now ${step.label}`
    const text = `the scenario has other steps than the run: step ${entry.step} was ${entry.label} and ${change}; run it again`
    return { ...nothing, outcome: 'error', reason: { code: 'other_steps', text } }
  }
  // The journal lost the entry with which every scenario begins.
  const firstSeq = index.entries[0]?.seq ?? 1
  if (index.started === null && firstSeq > 1)
    return { ...nothing, outcome: 'inconclusive', reason: { code: 'evicted', text: evictedText(firstSeq) } }

  const results: EvaluatedResult[] = []
  for (const step of index.steps.values()) {
    const isReached = index.findStart(step.number) !== null
    results.push({ step, result: isReached ? evaluation.resultOf(step, true) : null })
  }
  const echoed = echoes(plan, index.history)
  const attributed = attributedFailures(evaluation, results, echoed)
  const stepsWithWarnings = new Set<EvaluatedStep>()
  const output = index.entries.findLast(entry => isRunEvent(entry, 'target_output'))
  // An echo explains the failures that follow from it, so it comes before them.
  const placed = echoed.map(failure => ({ at: Math.max(0, ...failure.entrySeqs), failure }))
  const warnings: Warning[] = []
  for (const attributedFailure of attributed) {
    const { at, rule, conversation, details, step } = attributedFailure
    const place = { step: step === null ? null : stepRef(step, plan.count), conversation, soft: step?.soft ?? false }
    const failure = withTargetOutput(index, { ...details, ...place }, output)
    // An intermediary that refuses what the user does, or ends by itself, breaks more than a recommendation.
    const isRequired = isRefusedEvent(index, step, details) || failure.hintCode === 'target_ended'
    const isRecommended = step?.level === 'should' && isAboutIntermediary(details) && !isRequired
    const severity = isRecommended && attributedFailure.severity === 'fail' ? 'warn' : attributedFailure.severity
    if (severity === 'fail') placed.push({ at, failure })
    if (severity !== 'warn') continue
    const { happened, entrySeqs } = failure
    const code = isRecommended ? 'recommended' : rule
    const recommended = { ...failure, level: 'SHOULD' } as const
    warnings.push({ code, level: 'SHOULD', happened, details: {}, conversation, entrySeqs, failure: recommended })
    if (step !== null) stepsWithWarnings.add(step)
  }
  const findings: Finding[] = []
  for (const finding of lint(plan, index.history)) {
    if (finding.code !== 'content-type' || plan.strict.contract !== 'fail') findings.push(finding)
    else placed.push({ at: finding.entrySeqs[0] ?? 0, failure: contentTypeFailure(finding) })
  }
  const failures = placed.sort((a, b) => a.at - b.at).map(({ failure }) => failure)
  const decided = computeOutcome(evaluation, results, failures, stepsWithWarnings)
  return {
    ...decided,
    failures,
    warnings: [...warnings, ...findings],
    steps: results.map(result => stepVerdict(evaluation, result, stepsWithWarnings)),
    captures: variables.captures(),
    ...(output !== undefined && decided.outcome !== 'pass' && { targetOutput: readTargetOutput(output) }),
  }
}

const NOT_A_SCENARIO: Reason = { code: 'not_a_scenario', text: 'this is not the journal of a scenario' }
const INCOMPLETE: Reason = {
  code: 'incomplete_journal',
  text: 'the journal stops before the end of the scenario',
}

/** A finding of the linter that fails a scenario or a test. */
export function lintFailure(kind: FailureKind, finding: Finding, expected: string): Failure {
  const { code: rule, happened, hint, conversation, entrySeqs } = finding
  const text =
    rule === 'content-type'
      ? 'calls are sent without Content-Type: application/json'
      : `warning ${rule}, which fails because of --strict`
  const cause = causedBy('warning', text, rule)
  return createOrphan(kind, {
    ...{ code: 'warning', expected, happened, details: { rule }, conversation, entrySeqs, cause },
    hint: hint === undefined ? null : { code: rule, text: hint },
  })
}

/** The platform describes JSON bodies and their header (E0.2): other findings are about what it leaves open. */
const contentTypeFailure = (finding: Finding): Failure => ({
  ...lintFailure('contract', finding, noWarning(finding)),
  rules: ['E0.2'],
})

export const noWarning = ({ code }: Finding): string => `no warning ${code}, because of --strict`

const readTargetOutput = ({ ended, lines, file }: TargetOutputEntry): TargetOutput => ({
  ended,
  lines: Array.isArray(lines) ? lines.map(String) : [],
  file,
})

/** Explains a missing answer, call or inbox item by the end of the target, and an answer that never came by an exception. */
function withTargetOutput(index: JournalIndex, failure: Failure, output: TargetOutputEntry | undefined): Failure {
  if (output === undefined) return failure
  const { code, details, step } = failure
  const isUnanswered = code === 'not_acknowledged' && details.status === null
  if (!output.ended) {
    const hasException = readTargetOutput(output).lines.some(
      line => isStackFrame(line) || line.startsWith('Traceback '),
    )
    return isUnanswered && hasException ? { ...failure, ...hintFields(EXCEPTION) } : failure
  }
  const isAfterEnd = step !== null && (index.findEnd(step.number)?.seq ?? 0) > output.seq
  let isExplained = isUnanswered
  if (code === 'driver_failed') isExplained = peerLoss(details.failure as DriverFailure | undefined) !== null
  else if (['no_call', 'no_answer', 'item_missing'].includes(code)) isExplained = isAfterEnd
  if (!isExplained) return failure
  const text = `${endedText(output.ended, 'The intermediary ')}. Look in its last output for the exception, and catch it where it is thrown.`
  const cause = causedBy('target_ended', endedText(output.ended), output.ended)
  return { ...failure, ...hintFields({ code: 'target_ended', text }), cause }
}

const EXCEPTION: Hint = {
  code: 'exception',
  text: 'The intermediary printed an exception: look in its last output, and answer also when a handler fails.',
}

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
    const happened = `the scenario was stopped: ${earlyEndText(ended.stopped)}`
    const entrySeqs = [ended.seq]
    add(ended.seq, null, null, stoppedFailure(index, ended.stopped, { code: 'stopped', happened, entrySeqs }))
  }
  // Slow patterns that no step reports: of `never`, or found when calls were compared with a step that had passed.
  for (const number of guard.slow.keys()) {
    const step = index.steps.get(number ?? 0) ?? null
    const details = guard.failureOf(number)
    const isReported = failures.some(failure => failure.rule === 'scenario' && failure.step?.number === number)
    if (details !== null && !isReported) add(Number.MAX_SAFE_INTEGER, step, step?.conversation ?? null, details)
  }
  // Errors of the simulator: what it did after them proves nothing about the intermediary.
  for (const note of index.internalErrors)
    add(note.seq, null, index.history.conversationOf(note.chat_id), internalFailure(note))
  for (const note of index.failedWork)
    add(note.seq, null, index.history.conversationOf(note.chat_id), failedWorkFailure(note))
  return failures.sort((a, b) => a.at - b.at)
}

/** The calls that a failure names: they are not reported again as unexpected. */
export function explainedSeqs({ entrySeqs, nearest }: Pick<FailureDetails, 'entrySeqs' | 'nearest'>): number[] {
  const isOther = (code: string) => code === 'claimed' || code === 'call'
  return [...entrySeqs, ...seqsOf(nearest.filter(({ codes }) => !codes.some(isOther)))]
}

/** Whether a failure is one of the intermediary, and not of the environment, of the scenario or of the run. */
const isAboutIntermediary = ({ kind }: FailureDetails): boolean =>
  !['environment', 'scenario', 'internal', 'evicted', 'stopped'].includes(kind)

/** Whether the webhook answered an event of the user otherwise than with 200 (WH2, WH3); a late 200 is another matter. */
function isRefusedEvent(index: JournalIndex, step: EvaluatedStep | null, failure: FailureDetails): boolean {
  const verb = index.steps.get(step?.number ?? 0)?.action.verb
  if ((verb !== 'user' && verb !== 'press') || failure.code !== 'not_acknowledged') return false
  const { ack, copy, isSent, status } = failure.details
  return ack === 200 && !copy && isSent === true && status !== 200
}

/** Whether the run ended while the step still waited. Such a failure says nothing about the intermediary. */
const isEndedByRun = ({ details }: Pick<Failure, 'details'>): boolean => details.isEndOfRun === true

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
    ...stepRef(step, plan.count),
    outcome,
    startMs: index.findStart(number)?.at_ms ?? null,
    endMs: index.findEnd(number)?.at_ms ?? null,
    claimed: seqsOf(expects.get(number)?.claimed ?? []),
  }
}

/** error before fail before inconclusive before pass. */
function computeOutcome(
  { index, plan }: Evaluation,
  results: readonly EvaluatedResult[],
  failures: readonly Failure[],
  stepsWithWarnings: ReadonlySet<EvaluatedStep>,
): { outcome: Outcome; reason: Reason | null } {
  if (index.started === null) return { outcome: 'error', reason: NOT_A_SCENARIO }
  if (index.ended === null) return { outcome: 'error', reason: INCOMPLETE }
  for (const code of ['internal', 'scenario', 'environment'] as const) {
    const failure = failures.find(({ kind }) => kind === code)
    if (failure !== undefined) return { outcome: 'error', reason: { code, text: failure.happened } }
  }
  let evicted: Failure | undefined
  let stopped: Failure | undefined
  for (const failure of failures) {
    if (isEndedByRun(failure)) stopped ??= failure
    else if (failure.kind === 'evicted' && evicted === undefined) evicted = failure
    else return { outcome: 'fail', reason: null }
  }
  if (stopped !== undefined) return { outcome: 'inconclusive', reason: { code: 'stopped', text: stopped.happened } }
  if (evicted !== undefined)
    return { outcome: 'inconclusive', reason: { code: 'check_evicted', text: evicted.happened } }
  for (const { result } of results)
    if (result?.outcome === 'inconclusive' && result.reason) return { outcome: 'inconclusive', reason: result.reason }
  // A verb that `requires` names may be in no step.
  const verbs = index.started.driver ?? null
  const verb = plan.needs.find(need => !verbs?.includes(need))
  if (verb !== undefined)
    return { outcome: 'inconclusive', reason: missingVerb('need_missing', plan.name, verb, verbs) }
  // A recommended step that failed ends the steps of its chat.
  const endedBy = [...stepsWithWarnings].filter(({ soft }) => !soft).map(({ conversation }) => conversation)
  const skipped = results.find(({ result, step }) => result === null && !endedBy.includes(step.conversation))?.step
  if (skipped === undefined) return { outcome: 'pass', reason: null }
  const text = `${stepText(skipped)} was not run: run the scenario again`
  return { outcome: 'error', reason: { code: 'step_not_run', text } }
}
