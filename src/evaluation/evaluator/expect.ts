/** Evaluates `expect`: claims the expected calls as they arrive, and explains which one did not. */

import { InterpolationError, MISSING, valueAt } from '../scenario/interpolation.ts'
import type { Expectation, ExpectTree } from '../scenario/plan.ts'
import {
  accepts,
  type CallMiss,
  type CallQuery,
  callMisses,
  conversationOfQuery,
  hasObstacle,
  type Moment,
  nearMissOf,
  requirementRef,
} from './claims.ts'
import type { FailureHint, Happened, NoCallDetail, ObstacleCode, RequirementRef, RequirementTree } from './failure.ts'
import { AVAILABILITY, type Call, callReference, isLater, ruleOf, seqsOf } from './journal-index.ts'
import {
  type Deadline,
  type EvaluatedStep,
  type EvaluationContext,
  FAILED,
  type FailureDetails,
  failureDetails,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'
import { refusedEventHint, unreachableReason } from './stimulus.ts'

/** One leaf of an `expect`, and the calls that it claims. */
export interface ClaimingLeaf {
  readonly leaf: Expectation
  readonly calls: readonly Call[]
}

/** One alternative of an `expect`, with the calls of each of its leaves. */
interface Attempt {
  readonly isMet: boolean
  readonly leaves: readonly ClaimingLeaf[]
  readonly calls: readonly Call[]
}

export interface ExpectOptions {
  readonly tree: ExpectTree
  /** Fills in the values of `$(...)`. Throws `InterpolationError`. */
  readonly fill: (tree: ExpectTree) => ExpectTree
  /** The limit of the step itself. */
  readonly withinMs: number | null
}

export class ExpectEvaluator implements StepEvaluator {
  readonly step: EvaluatedStep
  /** The leaves of the best attempt so far, and the calls of all of them. */
  leaves: readonly ClaimingLeaf[] = []
  claimed: readonly Call[] = []
  readonly #context: EvaluationContext
  readonly #deadline: Deadline
  readonly #from: Moment
  readonly #floor: Call | null
  readonly #availabilityFloor: Call | null
  readonly #captured: Record<string, unknown> = {}
  readonly #tree: ExpectTree
  readonly #alternatives: readonly Alternative[] = []
  #state: 'open' | 'met' | 'failed' = 'open'
  /** Why it failed although no call is missing. */
  #failure: FailureDetails | null = null

  constructor(context: EvaluationContext, step: EvaluatedStep, { tree, fill, withinMs }: ExpectOptions) {
    this.#context = context
    this.step = step
    const isAboutBot = leavesOf(tree).every(({ call }) => call === 'availability')
    this.#deadline = context.windows.deadlineOf(step, isAboutBot ? AVAILABILITY : step.conversation, withinMs)
    this.#from = context.windows.turnStart(step)
    this.#floor = context.claims.floorOf(step.conversation)
    this.#availabilityFloor = context.claims.floorOf(AVAILABILITY)
    let filled = tree
    try {
      filled = fill(tree)
      this.#alternatives = alternativesOf(filled)
    } catch (error) {
      if (!(error instanceof InterpolationError)) throw error
      this.#fail(unusable(tree, { code: 'unfillable', message: error.message }))
    }
    this.#tree = filled
  }

  #fail(failure: FailureDetails): void {
    this.#state = 'failed'
    this.#failure = failure
  }

  /** Describes the calls that a leaf accepts. */
  queryOf(leaf: Expectation): CallQuery {
    const { number, conversation } = this.step
    const floor = leaf.call === 'availability' ? this.#availabilityFloor : this.#floor
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
    if (this.#state !== 'open') return
    // The calls to choose from: of the conversation, and those about availability when they are expected.
    const queries = this.#alternatives.flatMap(({ leaves }) => leaves.map(leaf => this.queryOf(leaf)))
    const startMs = Math.min(...queries.map(({ from }) => from.atMs))
    const conversations = new Set(queries.map(conversationOfQuery))
    const pool: Call[] = []
    for (const conversation of conversations) {
      const calls = this.#context.index.callsOf(conversation)
      pool.push(...calls.slice(calls.findLastIndex(({ readAt }) => readAt < startMs) + 1))
    }
    if (conversations.size > 1) pool.sort((a, b) => (isLater(a, b) ? 1 : -1))
    // The best attempt: a complete one before an incomplete one; then the one complete first, else the one with most calls.
    let best: Attempt = { isMet: false, leaves: [], calls: [] }
    for (const [index, alternative] of this.#alternatives.entries()) {
      const attempt = this.#tryAlternative(alternative, pool)
      if (index === 0 || isBetter(attempt, best)) best = attempt
    }
    this.#context.claims.assign(this.step.number, this.claimed, best.calls)
    this.leaves = best.leaves
    this.claimed = best.calls
    for (const { leaf, calls } of best.leaves) {
      const close = findClosePair(leaf, calls)
      if (close !== null) return this.#fail(tooCloseFailure(leaf, ...close))
    }
    if (!best.isMet) return
    this.#state = 'met'
    for (const { leaf, calls } of best.leaves) {
      const last = calls.at(-1)
      if (last !== undefined) this.#capture(leaf, last)
    }
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
    const claiming: ClaimingLeaf[] = []
    for (const [at, leaf] of leaves.entries()) claiming.push({ leaf, calls: callsAt(pool, taken[at] ?? []) })
    return { isMet: met, leaves: claiming, calls: callsAt(pool, taken.flat()) }
  }

  #capture({ capture }: Expectation, call: Call): void {
    const { body, endpoint, entry } = call
    const { response, status, alias, method, path, request } = entry
    const values = { body, response, status, endpoint, alias, method, path, headers: request.headers }
    for (const [name, place] of Object.entries(capture)) {
      const value = valueAt(place, values)
      if (value !== MISSING) this.#captured[name] = value
      else
        this.#fail(
          unusable(this.#tree, { code: 'capture_missing', name, path: place, call: callReference(call) }, call),
        )
    }
  }

  status(nowMs: number): StepStatus {
    if (this.#state === 'met') return { state: 'met', captured: this.#captured }
    if (this.#state === 'failed' || nowMs >= this.#deadline.atMs) return FAILED
    const missing: RequirementRef[] = []
    for (const { leaf, calls } of this.leaves) if (calls.length < leaf.times.min) missing.push(requirementRef(leaf))
    return { state: 'open', untilMs: this.#deadline.atMs, awaited: { code: 'calls', missing } }
  }

  close(): void {
    const { conversation } = this.step
    for (const { leaf, calls } of this.leaves) {
      const last = calls.at(-1)
      if (leaf.since === null && last !== undefined)
        this.#context.claims.raiseFloor(conversationOfQuery({ conversation, leaf }), last)
    }
  }

  failure(): FailureDetails {
    if (this.#failure !== null) return this.#failure
    const context = this.#context
    const { step } = this
    const { within } = this.#deadline
    const missing = this.leaves.find(({ leaf, calls }) => calls.length < leaf.times.min)
    if (missing === undefined) throw new Error(`Failed to explain step ${step.number}: no call is missing.`)
    const { leaf, calls } = missing
    const ended = context.windows.findEnd(step)
    const misses = callMisses(context, this.queryOf(leaf), this.claimed, ended?.at_ms ?? null)
    const [best] = misses
    const common = {
      requirement: requirementRef(leaf),
      progress: leaf.times.min === 1 ? null : { min: leaf.times.min, seqs: seqsOf(calls) },
    }
    const mark = best?.call.seq ?? ended?.seq
    const hint = findHint(context, best, step)
    const isMatch = best !== undefined && !hasObstacle(best, 'call', 'claimed')
    const detail = calls.length > 0 && best === undefined ? null : detailOf(context, step, leaf, best)
    return failureDetails(
      'expect',
      { code: 'calls', tree: requirementTree(this.#tree), within, chat: context.chatName(step.conversation) },
      isMatch
        ? {
            code: 'no_matching_call',
            ...common,
            call: callReference(best.call),
            afterMs: best.afterMs,
            obstacles: best.obstacles,
            differences: best.differences,
          }
        : { code: 'no_call', ...common, withinMs: within.ms, detail },
      {
        rules: rulesOf([leaf]),
        nearest: misses.map(nearMissOf),
        entrySeqs: mark === undefined ? [] : [mark],
        ...(hint && { hint }),
      },
    )
  }
}

function isBetter(next: Attempt, best: Attempt): boolean {
  if (next.isMet !== best.isMet) return next.isMet
  if (!next.isMet) return next.calls.length > best.calls.length
  const last = lastOf(next.calls)
  const other = lastOf(best.calls)
  return last === null ? other !== null : other !== null && isLater(other, last)
}

const callsAt = (pool: readonly Call[], places: readonly number[]): Call[] => places.flatMap(place => pool[place] ?? [])

function lastOf(calls: readonly Call[]): Call | null {
  let last: Call | null = null
  for (const call of calls) if (last === null || isLater(call, last)) last = call
  return last
}

/** The first two of these calls that are closer than `apart`. */
export function findClosePair({ apartMs }: Expectation, calls: readonly Call[]): [Call, Call] | null {
  for (const [index, second] of calls.entries()) {
    const first = calls[index - 1]
    if (first !== undefined && second.readAt - first.readAt < (apartMs ?? 0)) return [first, second]
  }
  return null
}

export function tooCloseFailure(leaf: Expectation, first: Call, second: Call): FailureDetails {
  const seqs = [first.seq, second.seq] as const
  const tree = { op: 'call', ...requirementRef(leaf) } as const
  return failureDetails(
    'times',
    { code: 'calls', tree, chat: null, within: null },
    { code: 'calls_too_close', requirement: requirementRef(leaf), seqs, gapMs: second.readAt - first.readAt },
    { rules: rulesOf([leaf]), entrySeqs: seqs },
  )
}

/** An `expect` that cannot be evaluated: a `$(...)` without a value, or a capture of a missing field. */
const unusable = (tree: ExpectTree, happened: Happened, call?: Call): FailureDetails =>
  failureDetails('expect', { code: 'calls', tree: requirementTree(tree), chat: null, within: null }, happened, {
    rules: rulesOf(leavesOf(tree)),
    entrySeqs: call === undefined ? [] : [call.seq],
  })

const requirementTree = (tree: ExpectTree): RequirementTree =>
  tree.op === 'call' ? { op: 'call', ...requirementRef(tree) } : { op: tree.op, of: tree.of.map(requirementTree) }

const rulesOf = (leaves: readonly Expectation[]): string[] => [
  ...new Set(leaves.flatMap(({ call }) => (call === 'any' ? [] : [ruleOf(call)]))),
]

/** What arrived instead shows where things went another way. */
function detailOf(
  { index }: EvaluationContext,
  { conversation }: EvaluatedStep,
  leaf: Expectation,
  other: CallMiss | undefined,
): NoCallDetail {
  const failure = unreachableReason(index)
  if (failure !== null) return { code: 'unreachable', failure }
  if (index.calls.length === 0) return { code: 'no_call_at_all' }
  if (other !== undefined) {
    const call = callReference(other.call)
    const decisive = other.obstacles.find(({ code }) => code === 'claimed' || code === 'call')
    if (decisive?.code === 'claimed') return { code: 'claimed', call, step: decisive.step }
    return { code: 'other_call', call, afterMs: other.afterMs }
  }
  const last = index.callsOf(conversationOfQuery({ conversation, leaf })).at(-1)
  return last === undefined ? { code: 'nothing' } : { code: 'last_call', call: callReference(last) }
}

const HINTS: Readonly<Partial<Record<ObstacleCode, FailureHint>>> = {
  late: { code: 'allow_time' },
  earlier: { code: 'any_order' },
  before: { code: 'since' },
  key: { code: 'bearer_key' },
  chat: { code: 'chat_id' },
}

/** What to try, the most certain cause first. */
function findHint(
  context: EvaluationContext,
  miss: CallMiss | undefined,
  step: EvaluatedStep,
): FailureHint | undefined {
  const { index } = context
  const stimulus = context.windows.findStimulus(step)
  // No call arrived that could have been the expected one.
  if (miss === undefined || hasObstacle(miss, 'call')) {
    const refused = refusedEventHint(index, step.conversation, stimulus)
    if (refused !== null) return refused
    // A press while the handover is closed, or a message while the bot has the chat, causes no event.
    if ((stimulus?.verb === 'press' || stimulus?.verb === 'user') && stimulus.hasEvent === false)
      return { code: 'no_event', action: stimulus.name, verb: stimulus.verb }
  }
  if (index.calls.length === 0 && unreachableReason(index) === null) {
    const hasActed = index.drivers.some(({ verb }) => verb !== 'inbox')
    if (!hasActed && index.started?.driver?.includes('accept')) return { code: 'no_agent' }
    const url = index.started?.sim.url
    return { code: 'platform_address', url: typeof url === 'string' ? url : null }
  }
  if (miss === undefined || hasObstacle(miss, 'claimed')) return undefined
  const chief = miss.obstacles.find(({ code }) => code in HINTS)
  return chief && HINTS[chief.code]
}

export interface Requirement {
  /** How many calls it needs. */
  readonly need: number
  /** Requirements that earlier calls must fill. */
  readonly after: readonly number[]
}

export interface Filled {
  /** Every need is met. */
  readonly met: boolean
  /** Calls of each requirement, in their order. */
  readonly taken: readonly (readonly number[])[]
}

export type Fits = (requirement: number, call: number) => boolean

/** With as few of the first calls as can be; when not all can be filled, as many as can. */
export function fillRequirements(requirements: readonly Requirement[], calls: number, fits: Fits): Filled {
  const [only, ...others] = requirements
  if (only !== undefined && others.length === 0) {
    const taken: number[] = []
    for (let call = 0; call < calls && taken.length < only.need; call++) if (fits(0, call)) taken.push(call)
    return { met: taken.length === only.need, taken: [taken] }
  }
  const isFree = requirements.every(({ after }) => after.length === 0)
  return isFree ? fillInAnyOrder(requirements, calls, fits) : fillInOrder(requirements, calls, fits)
}

/** Bipartite matching by augmenting paths, the calls one by one: the first calls that can serve together do. */
function fillInAnyOrder(requirements: readonly Requirement[], calls: number, fits: Fits): Filled {
  // A slot for each call that a requirement needs.
  const slots: number[] = []
  for (const [requirement, { need }] of requirements.entries())
    for (let count = 0; count < need; count++) slots.push(requirement)
  const assigned: (number | null)[] = slots.map(() => null)

  function place(call: number, tried: Set<number>): boolean {
    for (const [slot, requirement] of slots.entries()) {
      if (tried.has(slot) || !fits(requirement, call)) continue
      tried.add(slot)
      const other = assigned[slot] ?? null
      if (other !== null && !place(other, tried)) continue
      assigned[slot] = call
      return true
    }
    return false
  }

  for (let call = 0; call < calls && assigned.includes(null); call++) place(call, new Set())
  const taken: number[][] = requirements.map(() => [])
  for (const [slot, call] of assigned.entries()) if (call !== null) taken[slots[slot] ?? 0]?.push(call)
  for (const list of taken) list.sort((a, b) => a - b)
  return { met: !assigned.includes(null), taken }
}

/** How many calls each requirement has, and one assignment that leads there. */
interface State {
  readonly counts: readonly number[]
  readonly total: number
  readonly taken: readonly (readonly number[])[]
}

/** Extends every useful state call by call; of several ways to one state, the first stays. */
function fillInOrder(requirements: readonly Requirement[], calls: number, fits: Fits): Filled {
  const need = requirements.reduce((sum, requirement) => sum + requirement.need, 0)
  const equals = equalRequirements(requirements, calls, fits)
  let states: readonly State[] = [{ counts: requirements.map(() => 0), total: 0, taken: requirements.map(() => []) }]
  let [best] = states as [State]
  for (let call = 0; call < calls && best.total < need; call++) {
    const next: State[] = []
    for (const state of states) {
      const extended = extendState(state, call, requirements, fits, equals)
      next.push(...(extended.length > 0 ? extended : [state]))
    }
    states = dropDominated(next)
    for (const state of states) if (state.total > best.total) best = state
  }
  return { met: best.total === need, taken: best.taken }
}

/** The states after one more call: one for each requirement that can take it. */
function extendState(
  { counts, total, taken }: State,
  call: number,
  requirements: readonly Requirement[],
  fits: Fits,
  equals: readonly number[],
): State[] {
  const isOpen = (requirement: number) => (counts[requirement] ?? 0) < (requirements[requirement]?.need ?? 0)
  const states: State[] = []
  for (const [requirement, { after }] of requirements.entries()) {
    if (!isOpen(requirement) || after.some(isOpen) || !fits(requirement, call)) continue
    // Equal requirements are filled one after the other.
    const earlier = equals.findIndex((first, other) => first === equals[requirement] && isOpen(other))
    if (earlier < requirement) continue
    states.push({
      counts: counts.with(requirement, (counts[requirement] ?? 0) + 1),
      total: total + 1,
      taken: taken.with(requirement, [...(taken[requirement] ?? []), call]),
    })
  }
  return states
}

/** Drops a state when another one has all its calls and more: so a call that fits is always used. */
function dropDominated(states: readonly State[]): State[] {
  const useful: State[] = []
  for (const state of states.toSorted((a, b) => b.total - a.total)) {
    const isDominated = useful.some(one => state.counts.every((count, at) => (one.counts[at] ?? 0) >= count))
    if (!isDominated) useful.push(state)
  }
  return states.filter(state => useful.includes(state))
}

/** For each requirement the first that equals it: the order in which equal ones are filled does not matter. */
function equalRequirements(requirements: readonly Requirement[], calls: number, fits: Fits): number[] {
  const keys: string[] = []
  for (const [requirement, { need, after }] of requirements.entries()) {
    let key = `${need} ${after} `
    for (const [other, follower] of requirements.entries()) if (follower.after.includes(requirement)) key += `${other},`
    for (let call = 0; call < calls; call++) key += fits(requirement, call) ? '1' : '0'
    keys.push(key)
  }
  return keys.map(key => keys.indexOf(key))
}

export interface Alternative {
  readonly leaves: readonly Expectation[]
  readonly requirements: readonly Requirement[]
}

function alternativesOf(tree: ExpectTree): Alternative[] {
  if (tree.op === 'call') return [{ leaves: [tree], requirements: [{ need: tree.times.min, after: [] }] }]
  const parts = tree.of.map(alternativesOf)
  if (tree.op === 'oneOf' && parts.length > 0) return parts.flat()
  let alternatives: Alternative[] = [{ leaves: [], requirements: [] }]
  for (const part of parts)
    alternatives = alternatives.flatMap(one => part.map(two => joinAlternatives(one, two, tree.op === 'seq')))
  return alternatives
}

/** In a sequence everything of the second part comes after everything of the first. */
function joinAlternatives(one: Alternative, two: Alternative, isOrdered: boolean): Alternative {
  const before = isOrdered ? [...one.requirements.keys()] : []
  const requirements = [...one.requirements]
  for (const { need, after } of two.requirements)
    requirements.push({ need, after: [...before, ...after.map(at => at + one.requirements.length)] })
  return { leaves: [...one.leaves, ...two.leaves], requirements }
}

const leavesOf = (tree: ExpectTree): Expectation[] => (tree.op === 'call' ? [tree] : tree.of.flatMap(leavesOf))
