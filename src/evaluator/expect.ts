/** Evaluates `expect`: claims the expected calls as they arrive. */
import type { Expectation, ExpectTree } from '../scenario/action.ts'
import { InterpolationError, MISSING, valueAt } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { type Alternative, alternativesOf, type Filled, filledTree, fillRequirements, leavesOf } from './assignment.ts'
import { type Call, callReference, capturable, isLater } from './call.ts'
import { type Attempt, type ClosePair, missingCall, tooClose, unusable } from './expect-failure.ts'
import type { RequirementRef } from './failure.ts'
import { AVAILABILITY } from './journal-index.ts'
import { accepts, type CallQuery, conversationOfQuery } from './near-misses.ts'
import { requirementRef } from './references.ts'
import { type EvaluationContext, FAILED, type FailureDetails, openUntil, type StepEvaluator } from './step-evaluator.ts'
import { type Deadline, deadlineOf } from './windows.ts'

/** Also answers which later calls would have been one too many. */
export interface ExpectEvaluator extends StepEvaluator {
  readonly attempt: Attempt | null
  queryOf(leaf: Expectation): CallQuery
}

export function evaluateExpect(
  context: EvaluationContext,
  step: PlannedStep,
  tree: ExpectTree,
  withinMs: number | null,
): ExpectEvaluator {
  const { index, claims, windows } = context
  const deadline: Deadline = deadlineOf(context, step, conversationOfTree(tree, step.conversation), withinMs)
  const from = windows.turnStart(step)
  const floors = { own: claims.floorOf(step.conversation), availability: claims.floorOf(AVAILABILITY) }
  let filled = tree
  let alternatives: Alternative[] = []
  let attempt: Attempt | null = null
  let decided: 'met' | 'failed' | null = null
  let broken: (() => FailureDetails) | null = null
  const captured: Record<string, unknown> = {}

  try {
    filled = filledTree(tree, context.scopeOf(step.number))
    alternatives = alternativesOf(filled)
  } catch (error) {
    if (!(error instanceof InterpolationError)) throw error
    fail(() => unusable(tree, { code: 'unfillable', message: error.message }))
  }

  function fail(explain: () => FailureDetails): void {
    decided = 'failed'
    broken = explain
  }

  function queryOf(leaf: Expectation): CallQuery {
    const free = leaf.since !== null
    const floor = leaf.call === 'availability' ? floors.availability : floors.own
    return {
      leaf,
      step: step.number,
      conversation: step.conversation,
      from: leaf.since === null ? from : windows.since(leaf.since),
      floor: free ? null : floor,
      untilMs: deadline.atMs,
    }
  }

  function consider(): void {
    if (decided !== null) return
    const pool = poolOf(alternatives)
    const attempts = alternatives.map(alternative => tryAlternative(alternative, pool))
    attempt = attempts.reduce((best, next) => (isBetter(next, best) ? next : best))
    claims.assign(step.number, attempt.taken.flat())
    const close = closeCalls(attempt)
    if (close !== null) fail(() => tooClose(close))
    else if (attempt.met) conclude(attempt)
  }

  /** The calls to choose from: of the conversation, and those about availability when they are expected. */
  function poolOf(all: readonly Alternative[]): Call[] {
    const leaves = all.flatMap(alternative => alternative.leaves)
    const conversations = new Set(leaves.map(leaf => conversationOfQuery({ conversation: step.conversation, leaf })))
    const start = Math.min(...leaves.map(leaf => queryOf(leaf).from.atMs))
    const calls = [...conversations].flatMap(conversation => callsFrom(index.callsOf(conversation), start))
    return conversations.size > 1 ? calls.sort((a, b) => (isLater(a, b) ? 1 : -1)) : calls
  }

  function tryAlternative(alternative: Alternative, pool: readonly Call[]): Attempt {
    const queries = alternative.leaves.map(queryOf)
    const fitting = queries.map(query => pool.map(call => accepts(query, call, context)))
    const filled: Filled = fillRequirements(
      alternative.requirements,
      pool.length,
      (requirement, call) => fitting[requirement]![call]!,
    )
    return { alternative, met: filled.met, taken: filled.taken.map(calls => calls.map(call => pool[call]!)) }
  }

  function conclude({ alternative, taken }: Attempt): void {
    decided = 'met'
    for (const [at, leaf] of alternative.leaves.entries()) {
      const last = taken[at]!.at(-1)
      if (last !== undefined) keepCaptures(leaf, last)
    }
  }

  function keepCaptures({ capture }: Expectation, last: Call): void {
    for (const [name, path] of Object.entries(capture)) {
      const value = valueAt(path, capturable(last))
      if (value === MISSING)
        fail(() => unusable(filled, { code: 'capture_missing', name, path, call: callReference(last) }, last))
      else captured[name] = value
    }
  }

  return {
    step,
    get attempt() {
      return attempt
    },
    queryOf,
    consider,
    status: nowMs => {
      if (decided !== null) return decided === 'met' ? { state: 'met', captured } : FAILED
      return openUntil(nowMs, deadline.atMs, FAILED, { code: 'calls', missing: missingIn(attempt, filled) })
    },
    close() {
      for (const [at, calls] of (attempt?.taken ?? []).entries()) {
        const leaf = attempt!.alternative.leaves[at]!
        const last = calls.at(-1)
        if (leaf.since === null && last !== undefined)
          claims.raise(conversationOfQuery({ conversation: step.conversation, leaf }), last)
      }
    },
    failure: () => broken?.() ?? missingCall(context, { step, tree: filled, deadline, attempt: attempt!, queryOf }),
  }
}

/** The calls read at or after a moment. */
function callsFrom(calls: readonly Call[], startMs: number): Call[] {
  let at = calls.length
  while (at > 0 && calls[at - 1]!.readAt >= startMs) at--
  return calls.slice(at)
}

const conversationOfTree = (tree: ExpectTree, conversation: string) =>
  leavesOf(tree).every(({ call }) => call === 'availability') ? AVAILABILITY : conversation

/** A complete attempt before an incomplete one; then the one complete first, else the one with most calls. */
function isBetter(next: Attempt, best: Attempt): boolean {
  if (next.met !== best.met) return next.met
  if (!next.met) return next.taken.flat().length > best.taken.flat().length
  const [a, b] = [lastOf(next), lastOf(best)]
  return a === null ? b !== null : b !== null && isLater(b, a)
}

const lastOf = ({ taken }: Attempt): Call | null =>
  taken.flat().reduce<Call | null>((last, call) => (last === null || isLater(call, last) ? call : last), null)

function closeCalls({ alternative, taken }: Attempt): ClosePair | null {
  for (const [at, leaf] of alternative.leaves.entries()) {
    const close = closeOf(leaf, taken[at]!)
    if (close !== null) return close
  }
  return null
}

/** The first two of these calls that are closer than `apart`. */
export function closeOf(leaf: Expectation, calls: readonly Call[]): ClosePair | null {
  const second = calls.findIndex((call, n) => n > 0 && call.readAt - calls[n - 1]!.readAt < (leaf.apartMs ?? 0))
  return second > 0 ? { leaf, first: calls[second - 1]!, second: calls[second]! } : null
}

function missingIn(attempt: Attempt | null, tree: ExpectTree): RequirementRef[] {
  const leaves = attempt?.alternative.leaves ?? leavesOf(tree)
  return leaves
    .filter((leaf, at) => (attempt?.taken[at]?.length ?? 0) < leaf.times.min)
    .map(leaf => requirementRef(leaf))
}
