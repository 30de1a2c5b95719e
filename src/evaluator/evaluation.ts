/**
 * Judges a play by its journal: a reducer over entries. Live it is shown them one by one and asked in between; later it
 * is shown them all. Both come to the same verdict.
 */
import type { Entry } from '../journal/entry.ts'
import type { Verb } from '../scenario/action.ts'
import type { InterpolationScope } from '../scenario/interpolation.ts'
import type { Plan, PlannedStep } from '../scenario/plan.ts'
import type { RunEventOf } from '../scenario/run-events.ts'
import { createVariables } from '../scenario/variables.ts'
import { type CheckEvaluator, evaluateCheck } from './check.ts'
import { createClaimRegistry, createInboxClaims } from './claims.ts'
import { verdictOf } from './compute-verdict.ts'
import type { Evaluator, StepStatus } from './evaluator.ts'
import { type ExpectEvaluator, evaluateExpect } from './expect.ts'
import { AVAILABILITY, type ConversationKey, createJournalIndex } from './journal-index.ts'
import { evaluateNone } from './none.ts'
import { evaluateSees, type SeesEvaluator } from './sees.ts'
import { type EvaluationContext, PASSED, type StepEvaluator, type StepResult } from './step-evaluator.ts'
import { brokenStepResult, stimulusResult } from './stimulus.ts'
import { surplusCalls } from './surplus-calls.ts'
import { stripToken } from './tokens/token.ts'
import type { Verdict } from './verdict.ts'
import { createWindows } from './windows.ts'

/** Everything about one play that the verdict is made of. */
export interface Evaluation extends EvaluationContext {
  readonly expects: ReadonlyMap<number, ExpectEvaluator>
  readonly sees: ReadonlyMap<number, SeesEvaluator>
  /** How a step stands; `over`: nothing more will come. */
  resultOf(step: PlannedStep, over: boolean): StepResult
}

/** The whole journal at once. */
export function evaluate(plan: Plan, entries: readonly Entry[]): Verdict {
  const evaluator = createEvaluator(plan)
  for (const entry of entries) evaluator.see(entry)
  return evaluator.finish()
}

type AnyRunEvent = RunEventOf<'scenario_started' | 'conversation' | 'step_started' | 'step_ended' | 'observed'>

export const createEvaluator = (plan: Plan): Evaluator => createIncrementalEvaluation(plan).evaluator

/** The same for a play that is made up as it goes. */
export interface IncrementalEvaluation {
  readonly evaluation: Evaluation
  readonly evaluator: Evaluator
  /** One more step; its mark comes after it. */
  grow(step: PlannedStep): void
}

export function createIncrementalEvaluation(plan: Plan): IncrementalEvaluation {
  const index = createJournalIndex(plan)
  const variables = createVariables(plan)
  const claims = createInboxClaims()
  const watches = new Map<number, StepEvaluator>()
  const open = new Map<number, StepEvaluator>()
  const concluded = new Map<number, StepStatus['state']>()
  const expects = new Map<number, ExpectEvaluator>()
  const checks = new Map<number, CheckEvaluator>()
  const sees = new Map<number, SeesEvaluator>()
  const evaluation: Evaluation = {
    index,
    claims: createClaimRegistry(),
    windows: createWindows(index),
    variables,
    options: plan.tokens ? { clean: stripToken } : {},
    scopeOf,
    expects,
    sees,
    resultOf,
  }

  function scopeOf(number: number): InterpolationScope {
    const step = index.steps.get(number)
    return variables.scopeOf(step?.conversation ?? plan.conversations[0]?.name ?? '', step?.scope)
  }

  function begin(number: number): void {
    const step = index.steps.get(number)
    const watch = step === undefined ? null : watchFor(step)
    if (watch === null) return
    watches.set(number, watch)
    open.set(number, watch)
    watch.consider()
  }

  function watchFor(step: PlannedStep): StepEvaluator | null {
    const { action, number } = step
    switch (action.verb) {
      case 'expect':
        return kept(expects, number, evaluateExpect(evaluation, step, action.tree, action.withinMs))
      case 'none':
        return evaluateNone(evaluation, step, action, call => surplusCalls(evaluation, step.conversation).has(call))
      case 'check':
        return kept(checks, number, evaluateCheck(evaluation, step, action.check))
      case 'sees':
        return kept(sees, number, evaluateSees(evaluation, claims, step, action))
      default:
        return null
    }
  }

  function end({ step, at_ms, captured }: RunEventOf<'step_ended'>): void {
    const watch = open.get(step)
    if (watch === undefined) return
    const status = watch.look(at_ms)
    concluded.set(step, status.state)
    // The runner recorded what it captured. A journal of a scenario that has changed since may lack it.
    if (status.state === 'met') variables.capture(watch.step.conversation, captured ?? status.captured ?? {})
    watch.close()
    open.delete(step)
  }

  /** An open look at the end of a step is nobody's success. */
  function resultOf(step: PlannedStep, over: boolean): StepResult {
    const watch = watches.get(step.number)
    if (watch === undefined) return stimulusResult(index, step, over)
    if (concluded.get(step.number) === 'met') return PASSED
    return brokenStepResult(index, step) ?? { outcome: 'fail', told: watch.failure() }
  }

  function see(entry: Entry): void {
    const call = index.add(entry)
    if (call !== null) callCame(index.conversationOf(call))
    else if (entry.kind === 'note') markCame(entry as AnyRunEvent)
    else if (entry.kind === 'driver') consider(['sees'], index.conversationOfChat(entry.chat_id))
    else if (entry.kind === 'event') consider(['check'], index.conversationOfChat(entry.chat_id))
  }

  function markCame(mark: AnyRunEvent): void {
    if (mark.note === 'scenario_started') variables.start(mark)
    else if (mark.note === 'conversation') variables.open(mark)
    else if (mark.note === 'step_started') begin(mark.step)
    else if (mark.note === 'step_ended') end(mark)
    else if (mark.note === 'observed' && open.has(mark.step)) checks.get(mark.step)?.observe(mark)
  }

  /** Expectations first: what one of them claims is not unwanted. */
  function callCame(conversation: ConversationKey | null): void {
    consider(['expect'], conversation)
    consider(['none'], conversation)
  }

  function consider(verbs: readonly Verb[], conversation: ConversationKey | null): void {
    const steps = [...open.values()].filter(({ step }) => verbs.includes(step.action.verb))
    const concerned = steps.filter(({ step }) => conversation === AVAILABILITY || conversation === step.conversation)
    for (const watch of concerned.sort((a, b) => a.step.number - b.step.number)) watch.consider()
  }

  const evaluator: Evaluator = {
    see,
    look: (step, nowMs) => open.get(step)?.look(nowMs) ?? { state: concluded.get(step) === 'met' ? 'met' : 'failed' },
    failed(number) {
      const step = index.steps.get(number)
      if (step === undefined || index.endOf(number) === null) return false
      return !['pass', 'open'].includes(resultOf(step, false).outcome)
    },
    finish: () => verdictOf(evaluation),
  }
  function grow(step: PlannedStep): void {
    index.grow(step)
    evaluation.windows.grow(step)
  }
  return { evaluation, evaluator, grow }
}

function kept<W extends StepEvaluator>(watches: Map<number, W>, number: number, watch: W): W {
  watches.set(number, watch)
  return watch
}
