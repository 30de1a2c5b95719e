/** Evaluates `expect`: claims the expected calls as they arrive. */

import { MISSING, valueAt } from '../scenario/interpolation.ts'
import type { Expectation, ExpectTree, PlannedStep } from '../scenario/plan.ts'
import { type Alternative, alternativesOf, filledTree, fillRequirements, leavesOf } from './assignment.ts'
import {
  type Attempt,
  type ClosePair,
  claimedCalls,
  isMissing,
  missingCall,
  tooClose,
  unusable,
} from './expect-failure.ts'
import type { RequirementRef } from './failure.ts'
import { AVAILABILITY, type Call, type ConversationKey, callReference, capturable, isLater } from './journal-index.ts'
import { accepts, type CallQuery, conversationOfQuery } from './near-misses.ts'
import { requirementRef } from './references.ts'
import {
  type EvaluationContext,
  FAILED,
  type FailureDetails,
  interpolationProblem,
  openUntil,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'
import { type Deadline, deadlineOf, type Moment } from './windows.ts'

const NO_CALLS: Attempt = { met: false, leaves: [] }

export class ExpectEvaluator implements StepEvaluator {
  /** The best attempt so far. */
  attempt = NO_CALLS
  readonly step: PlannedStep
  readonly #context: EvaluationContext
  readonly #deadline: Deadline
  readonly #from: Moment
  readonly #floors: Readonly<Record<'own' | 'availability', Call | null>>
  readonly #captured: Record<string, unknown> = {}
  #tree: ExpectTree
  #alternatives: readonly Alternative[] = []
  #decided: 'met' | 'failed' | null = null
  #explain: (() => FailureDetails) | null = null
  /** The calls that the best attempt lacks. */
  #missing: readonly RequirementRef[] | null = null

  constructor(context: EvaluationContext, step: PlannedStep, tree: ExpectTree, withinMs: number | null) {
    const { claims, windows } = context
    this.#context = context
    this.step = step
    this.#tree = tree
    this.#deadline = deadlineOf(
      context,
      step,
      leavesOf(tree).every(({ call }) => call === 'availability') ? AVAILABILITY : step.conversation,
      withinMs,
    )
    this.#from = windows.turnStart(step)
    this.#floors = { own: claims.floorOf(step.conversation), availability: claims.floorOf(AVAILABILITY) }
    this.#fill()
  }

  #fill(): void {
    const tree = this.#tree
    const message = interpolationProblem(() => {
      this.#tree = filledTree(tree, this.#context.scopeOf(this.step.number))
      this.#alternatives = alternativesOf(this.#tree)
    })
    if (message !== null) this.#fail(() => unusable(tree, { code: 'unfillable', message }))
  }

  #fail(explain: () => FailureDetails): void {
    this.#decided = 'failed'
    this.#explain = explain
  }

  /** Describes the calls that a leaf accepts. */
  queryOf(leaf: Expectation): CallQuery {
    const { number, conversation } = this.step
    const floor = leaf.call === 'availability' ? this.#floors.availability : this.#floors.own
    return {
      leaf,
      step: number,
      conversation,
      from: leaf.since === null ? this.#from : this.#context.windows.since(leaf.since),
      floor: leaf.since === null ? floor : null,
      untilMs: this.#deadline.atMs,
    }
  }

  consider(): void {
    if (this.#decided !== null) return
    const pool = this.#pool()
    const attempts = this.#alternatives.map(alternative => this.#tryAlternative(alternative, pool))
    this.attempt = attempts.reduce((best, next) => (isBetter(next, best) ? next : best))
    this.#missing = null
    this.#context.claims.assign(this.step.number, claimedCalls(this.attempt))
    const close = closeCalls(this.attempt)
    if (close !== null) this.#fail(() => tooClose(close))
    else if (this.attempt.met) this.#conclude()
  }

  /** The calls to choose from: of the conversation, and those about availability when they are expected. */
  #pool(): Call[] {
    const leaves = this.#alternatives.flatMap(alternative => alternative.leaves)
    const conversations = new Set(leaves.map(leaf => this.#conversationOf(leaf)))
    const start = Math.min(...leaves.map(leaf => this.queryOf(leaf).from.atMs))
    const calls = [...conversations].flatMap(conversation =>
      callsFrom(this.#context.index.callsOf(conversation), start),
    )
    return conversations.size > 1 ? calls.sort((a, b) => (isLater(a, b) ? 1 : -1)) : calls
  }

  #conversationOf(leaf: Expectation): ConversationKey {
    return conversationOfQuery({ conversation: this.step.conversation, leaf })
  }

  #tryAlternative({ leaves, requirements }: Alternative, pool: readonly Call[]): Attempt {
    const fitting = leaves.map(leaf => {
      const query = this.queryOf(leaf)
      return pool.map(call => accepts(query, call, this.#context))
    })
    const { met, taken } = fillRequirements(
      requirements,
      pool.length,
      (requirement, call) => fitting[requirement]?.[call] ?? false,
    )
    const callsAt = (at: number) => (taken[at] ?? []).flatMap(call => pool[call] ?? [])
    return { met, leaves: leaves.map((leaf, at) => ({ leaf, calls: callsAt(at) })) }
  }

  #conclude(): void {
    this.#decided = 'met'
    for (const { leaf, calls } of this.attempt.leaves) {
      const last = calls.at(-1)
      if (last !== undefined) this.#capture(leaf, last)
    }
  }

  #capture({ capture }: Expectation, last: Call): void {
    for (const [name, path] of Object.entries(capture)) {
      const value = valueAt(path, capturable(last))
      if (value === MISSING)
        this.#fail(() => unusable(this.#tree, { code: 'capture_missing', name, path, call: callReference(last) }, last))
      else this.#captured[name] = value
    }
  }

  status(nowMs: number): StepStatus {
    if (this.#decided !== null) return this.#decided === 'met' ? { state: 'met', captured: this.#captured } : FAILED
    this.#missing ??= this.attempt.leaves.filter(isMissing).map(({ leaf }) => requirementRef(leaf))
    return openUntil(nowMs, this.#deadline.atMs, FAILED, { code: 'calls', missing: this.#missing })
  }

  close(): void {
    for (const { leaf, calls } of this.attempt.leaves) {
      const last = calls.at(-1)
      if (leaf.since === null && last !== undefined) this.#context.claims.raise(this.#conversationOf(leaf), last)
    }
  }

  failure(): FailureDetails {
    const unmet = { step: this.step, tree: this.#tree, deadline: this.#deadline, attempt: this.attempt }
    return this.#explain?.() ?? missingCall(this.#context, { ...unmet, queryOf: leaf => this.queryOf(leaf) })
  }
}

/** The calls read at or after a moment. */
const callsFrom = (calls: readonly Call[], startMs: number): readonly Call[] =>
  calls.slice(calls.findLastIndex(({ readAt }) => readAt < startMs) + 1)

/** A complete attempt before an incomplete one; then the one complete first, else the one with most calls. */
function isBetter(next: Attempt, best: Attempt): boolean {
  if (next.met !== best.met) return next.met
  if (!next.met) return claimedCalls(next).length > claimedCalls(best).length
  const [a, b] = [lastOf(next), lastOf(best)]
  return a === null ? b !== null : b !== null && isLater(b, a)
}

const lastOf = (attempt: Attempt): Call | null =>
  claimedCalls(attempt).reduce<Call | null>((last, call) => (last === null || isLater(call, last) ? call : last), null)

function closeCalls({ leaves }: Attempt): ClosePair | null {
  for (const { leaf, calls } of leaves) {
    const close = closeOf(leaf, calls)
    if (close !== null) return close
  }
  return null
}

/** The first two of these calls that are closer than `apart`. */
export function closeOf(leaf: Expectation, [before, ...later]: readonly Call[]): ClosePair | null {
  let first = before
  for (const second of later) {
    if (first !== undefined && second.readAt - first.readAt < (leaf.apartMs ?? 0)) return { leaf, first, second }
    first = second
  }
  return null
}
