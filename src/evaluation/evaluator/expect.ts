/** Evaluates `expect`: claims the expected calls as they arrive, and explains which one did not. */

import { formatDuration } from '../../base/text/quantities.ts'
import { failureText } from '../../platform/wording/failures.ts'
import { type Cause, causedBy, createFailure, type FailureDetails, type Hint } from '../finding.ts'
import { MISSING, valueAt } from '../scenario/interpolation.ts'
import type { Action, Expectation, ExpectTree } from '../scenario/plan.ts'
import { fillRequirements, type Requirement } from './assignment.ts'
import {
  accepts,
  type CallMiss,
  type CallQuery,
  callMisses,
  conversationOfQuery,
  describeMiss,
  describeRequirement,
  findDecisive,
  hasObstacle,
  type Moment,
  type ObstacleCode,
  obstaclesText,
} from './claims.ts'
import { AVAILABILITY, callReference, type IndexedCall, isLater, ruleOf, seqsOf } from './journal-index.ts'
import {
  type Deadline,
  type EvaluatedStep,
  type EvaluationContext,
  FAILED,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'
import { type RefusedEvent, refusedEventHint, unreachableReason } from './stimulus.ts'
import {
  callNamed,
  callText,
  callWithKey,
  firstDifferenceText,
  howOften,
  inChat,
  listed,
  offset,
  seconds,
  stepText,
  timesText,
  treeText,
  within,
  withinText,
} from './words.ts'

/** One leaf of an `expect`, and the calls that it claims. */
export interface ClaimingLeaf {
  readonly leaf: Expectation
  readonly calls: readonly IndexedCall[]
}

/** One alternative of an `expect`, with the calls of each of its leaves. */
interface Attempt {
  readonly isMet: boolean
  readonly leaves: readonly ClaimingLeaf[]
  readonly calls: readonly IndexedCall[]
}

type ExpectOptions = Omit<Extract<Action, { verb: 'expect' }>, 'verb'>

export class ExpectEvaluator implements StepEvaluator {
  readonly step: EvaluatedStep
  /** The leaves of the best attempt so far, and the calls of all of them. */
  leaves: readonly ClaimingLeaf[] = []
  claimed: readonly IndexedCall[] = []
  readonly #context: EvaluationContext
  readonly #deadline: Deadline
  readonly #from: Moment
  readonly #floor: IndexedCall | null
  readonly #availabilityFloor: IndexedCall | null
  readonly #captured: Record<string, unknown> = {}
  readonly #tree: ExpectTree
  readonly #alternatives: readonly Alternative[]
  #state: 'open' | 'met' | 'failed' = 'open'
  /** Why it failed although no call is missing. */
  #failure: FailureDetails | null = null

  constructor(context: EvaluationContext, step: EvaluatedStep, { tree, withinMs }: ExpectOptions) {
    this.#context = context
    this.step = step
    const isAboutBot = leavesOf(tree).every(({ call }) => call === 'availability')
    this.#deadline = context.windows.deadlineOf(step, isAboutBot ? AVAILABILITY : step.conversation, withinMs)
    this.#from = context.windows.turnStart(step)
    this.#floor = context.claims.floorOf(step.conversation)
    this.#availabilityFloor = context.claims.floorOf(AVAILABILITY)
    const { value, problem } = context.fill(step, tree)
    this.#tree = value
    this.#alternatives = problem === null ? expandTree(value) : []
    if (problem !== null) this.#fail(unusable(tree, 'unfillable', problem))
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
    const pool: IndexedCall[] = []
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

  #tryAlternative({ leaves, requirements }: Alternative, pool: readonly IndexedCall[]): Attempt {
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

  #capture({ capture }: Expectation, call: IndexedCall): void {
    const { body, endpoint, entry } = call
    const { response, status, alias, method, path, request } = entry
    const values = { body, response, status, endpoint, alias, method, path, headers: request.headers }
    for (const [name, place] of Object.entries(capture)) {
      const value = valueAt(place, values)
      if (value !== MISSING) this.#captured[name] = value
      else
        this.#fail(
          unusable(this.#tree, 'capture_missing', `${callText(call)} has no ${place} to capture as ${name}`, call),
        )
    }
  }

  status(nowMs: number): StepStatus {
    if (this.#state === 'met') return { state: 'met', captured: this.#captured }
    if (this.#state === 'failed' || nowMs >= this.#deadline.atMs) return FAILED
    const missing: Expectation[] = []
    for (const { leaf, calls } of this.leaves) if (calls.length < leaf.times.min) missing.push(leaf)
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
    const missing = this.leaves.find(({ leaf, calls }) => calls.length < leaf.times.min)
    if (missing === undefined) throw new Error(`Failed to explain step ${step.number}: no call is missing.`)
    const { leaf, calls } = missing
    const ended = context.windows.findEnd(step)
    const misses = callMisses(context, this.queryOf(leaf), this.claimed, ended?.at_ms ?? null)
    const [best] = misses
    const mark = best?.call.seq ?? ended?.seq
    const hint = findHint(context, best, step)
    const isMatch = best !== undefined && !hasObstacle(best, 'call', 'claimed')
    const common = {
      expected: `expect ${treeText(this.#tree)}${inChat(context.chatName(step.conversation))} ${withinText(this.#deadline)}`,
      rules: rulesOf([leaf]),
      nearest: misses.map(describeMiss),
      entrySeqs: mark === undefined ? [] : [mark],
      hint,
    }
    const requirement = describeRequirement(leaf)
    const seqs = seqsOf(calls)
    if (isMatch) {
      const none =
        leaf.times.min === 1 ? `no call of ${callWithKey({ ...leaf, body: null })} matches` : tooFew(seqs, leaf, '')
      const nearest = `${callText(best.call)} ${offset(best.afterMs)}: ${explainMiss(best)}`
      const { obstacles, differences, afterMs } = best
      return createFailure('expect', {
        ...common,
        code: 'no_matching_call',
        happened: `${none}; nearest: ${nearest}`,
        details: { requirement, seqs, call: callReference(best.call), afterMs, obstacles, differences },
        cause: notMatchingCause(leaf, best),
      })
    }
    const limit = ` ${within(this.#deadline.ms)}`
    const detail = calls.length > 0 && best === undefined ? null : explainMissing(context, step, leaf, best)
    let none = `${callWithKey(leaf)} was not called${limit}`
    if (leaf.times.min !== 1) none = tooFew(seqs, leaf, limit)
    else if (detail?.code === 'claimed') none = `${callWithKey(leaf)} was not called again${limit}`
    return createFailure('expect', {
      ...common,
      code: 'no_call',
      happened: `${none}${detail?.text ?? ''}`,
      details: { requirement, seqs, withinMs: this.#deadline.ms, why: detail?.code, refused: hint?.refused },
      cause: detail?.cause ?? causedBy('not_called', `\`${leaf.call}\` is not called`, leaf.call),
    })
  }
}

/** `start was called only once within 5s (#9), expected exactly 3 times` */
function tooFew(seqs: readonly number[], leaf: Expectation, limit: string): string {
  const expected = `expected ${howOften(leaf.times)}`
  if (seqs.length === 0) return `${callWithKey(leaf)} was not called${limit}, ${expected}`
  return `${callWithKey(leaf)} was called only ${timesText(seqs.length)}${limit} (${listed(seqs)}), ${expected}`
}

function explainMiss({ obstacles, differences: [first, ...more] }: CallMiss): string {
  if (first !== undefined && obstacles.length === 1) return firstDifferenceText(first, more.length)
  return obstaclesText(obstacles)
}

const HOW_CALLED: Readonly<Partial<Record<ObstacleCode, string>>> = {
  late: 'too late',
  before: 'too early',
  earlier: 'in another order',
  order: 'in another order',
  answered_late: 'and answered too late',
  key: 'with a bad key',
  chat: 'for another chat',
  bot: 'for another bot',
  alias: 'under another path',
}

const MAX_FIELDS = 3

function notMatchingCause({ call }: Expectation, { obstacles, differences }: CallMiss): Cause {
  const codes = obstacles.map(({ code }) => code)
  const fields = differences.map(({ path, code }) => [path, code])
  const shown = differences
    .slice(0, MAX_FIELDS)
    .map(({ path, hint }) => `${path || 'the body'}${hint === undefined ? '' : ` (${hint})`}`)
  const more = fields.length > MAX_FIELDS ? ` and ${fields.length - MAX_FIELDS} more` : ''
  const how = codes.flatMap(code => HOW_CALLED[code] ?? [])
  if (shown.length > 0) how.push(`with another value of ${shown.join(', ')}${more}`)
  return causedBy('not_matching', `\`${call}\` is called ${how.join(', ') || 'in another way'}`, call, codes, fields)
}

function isBetter(next: Attempt, best: Attempt): boolean {
  if (next.isMet !== best.isMet) return next.isMet
  if (!next.isMet) return next.calls.length > best.calls.length
  const last = lastOf(next.calls)
  const lastOfBest = lastOf(best.calls)
  return last === null ? lastOfBest !== null : lastOfBest !== null && isLater(lastOfBest, last)
}

const callsAt = (pool: readonly IndexedCall[], places: readonly number[]): IndexedCall[] =>
  places.flatMap(place => pool[place] ?? [])

function lastOf(calls: readonly IndexedCall[]): IndexedCall | null {
  let last: IndexedCall | null = null
  for (const call of calls) if (last === null || isLater(call, last)) last = call
  return last
}

/** The first two of these calls that are closer than `apart`. */
export function findClosePair(
  { apartMs }: Expectation,
  calls: readonly IndexedCall[],
): [IndexedCall, IndexedCall] | null {
  for (const [index, second] of calls.entries()) {
    const first = calls[index - 1]
    if (first !== undefined && second.readAt - first.readAt < (apartMs ?? 0)) return [first, second]
  }
  return null
}

export function tooCloseFailure(leaf: Expectation, first: IndexedCall, second: IndexedCall): FailureDetails {
  const gapMs = second.readAt - first.readAt
  const least = formatDuration(leaf.apartMs ?? 0)
  return createFailure('times', {
    code: 'calls_too_close',
    expected: `expect ${treeText({ op: 'call', ...leaf })}`,
    happened: `${callNamed(leaf)} was called again too soon: #${first.seq} and #${second.seq} are ${seconds(gapMs)} apart, expected at least ${least}`,
    details: { requirement: describeRequirement(leaf), gapMs },
    rules: rulesOf([leaf]),
    entrySeqs: [first.seq, second.seq],
    cause: causedBy('too_close', `\`${leaf.call}\` is called again too soon`, leaf.call),
  })
}

/** An `expect` that cannot be evaluated: a `$(...)` without a value, or a capture of a missing field. */
const unusable = (tree: ExpectTree, code: string, happened: string, call?: IndexedCall): FailureDetails =>
  createFailure('expect', {
    ...{ code, happened, expected: `expect ${treeText(tree)}` },
    rules: rulesOf(leavesOf(tree)),
    entrySeqs: call === undefined ? [] : [call.seq],
  })

const rulesOf = (leaves: readonly Expectation[]): string[] => [
  ...new Set(leaves.flatMap(({ call }) => (call === 'any' ? [] : [ruleOf(call)]))),
]

/** Why no call that could be the expected one arrived. */
interface Detail {
  readonly code: string
  readonly text: string
  readonly cause?: Cause
}

/** What arrived instead shows where things went another way. */
function explainMissing(
  { index }: EvaluationContext,
  { conversation }: EvaluatedStep,
  leaf: Expectation,
  nearest: CallMiss | undefined,
): Detail | null {
  const failure = unreachableReason(index)
  if (failure !== null) {
    const text = failureText(failure)
    return { code: 'unreachable', text: `: ${text}`, cause: causedBy('target_unreachable', text, failure) }
  }
  if (index.calls.length === 0) {
    const cause = causedBy('no_call_at_all', 'the intermediary makes no call')
    const text = `: the intermediary made no call ${index.audience === 'test' ? 'at all' : 'for this scenario'}`
    return { code: 'no_call_at_all', text, cause }
  }
  if (nearest !== undefined) {
    const decisive = findDecisive(nearest.obstacles)
    if (decisive?.code === 'claimed')
      return { code: 'claimed', text: `: ${callText(nearest.call)} is ${decisive.text}` }
    return { code: 'other_call', text: `; the nearest call is ${callText(nearest.call)} ${offset(nearest.afterMs)}` }
  }
  const last = index.callsOf(conversationOfQuery({ conversation, leaf })).at(-1)
  return last === undefined ? null : { code: 'last_call', text: `; the last call was ${callText(last)}` }
}

/** What to try after a call that has an obstacle; other words where the reader wrote a test. */
const HINTS: Readonly<Partial<Record<ObstacleCode, Hint & { readonly test?: string }>>> = {
  late: {
    code: 'allow_time',
    text: 'Is it only slow? Allow more with within:, or with timeouts: { expect: … } for the whole scenario.',
    test: "Is it only slow? Allow more with { within: '5s' }.",
  },
  earlier: {
    code: 'any_order',
    text: 'Steps expect calls in their order. Where the order does not matter, put them into one all: [ … ].',
    test: 'Expectations are met in their order. Where the order does not matter, expect them side by side: await Promise.all([ … ]).',
  },
  before: {
    code: 'since',
    text: 'A step looks at calls since the first stimulus of its turn. since: ID looks further back.',
    test: 'An expectation looks from the first thing the user did after the last one. { since } looks further back.',
  },
  key: {
    code: 'bearer_key',
    text: 'Every call carries the header Authorization: Bearer <API_KEY>, with the key of the handover settings page.',
  },
  chat: {
    code: 'chat_id',
    text: 'Is the chat id taken from the event that belongs to this conversation?',
  },
}

/** What to try, the most certain cause first. */
function findHint(
  context: EvaluationContext,
  miss: CallMiss | undefined,
  step: EvaluatedStep,
): (Hint & { readonly refused?: RefusedEvent }) | null {
  const { index } = context
  const stimulus = context.windows.findStimulus(step)
  // No call arrived that could have been the expected one.
  if (miss === undefined || hasObstacle(miss, 'call')) {
    const refused = refusedEventHint(index, step.conversation, stimulus)
    if (refused !== null) return refused
    // A press while the handover is closed, or a message while the bot has the chat, causes no event.
    if ((stimulus?.verb === 'press' || stimulus?.verb === 'user') && stimulus.hasEvent === false) {
      const why = stimulus.verb === 'press' ? 'is the handover closed?' : 'no agent has the chat, so the bot answered.'
      return { code: 'no_event', text: `${stepText(stimulus.name)} caused no webhook event: ${why}` }
    }
  }
  if (index.calls.length === 0 && unreachableReason(index) === null) {
    const hasActed = index.drivers.some(({ verb }) => verb !== 'inbox')
    if (!hasActed && index.started?.driver?.includes('accept'))
      return {
        code: 'no_agent',
        text: 'No agent has accepted the chat: write agent: accept before this step. An intermediary that starts the handover by itself has to know the address of the platform.',
      }
    const url = index.started?.sim.url
    const address = typeof url === 'string' ? ` (${url})` : ''
    return { code: 'platform_address', text: `Does the intermediary know the address of the platform${address}?` }
  }
  if (miss === undefined || hasObstacle(miss, 'claimed')) return null
  const chief = miss.obstacles.find(({ code }) => code in HINTS)
  const hint = chief && HINTS[chief.code]
  if (hint === undefined) return null
  return { code: hint.code, text: (index.audience === 'test' && hint.test) || hint.text }
}

export interface Alternative {
  readonly leaves: readonly Expectation[]
  readonly requirements: readonly Requirement[]
}

function expandTree(tree: ExpectTree): Alternative[] {
  if (tree.op === 'call') return [{ leaves: [tree], requirements: [{ need: tree.times.min, after: [] }] }]
  const parts = tree.of.map(expandTree)
  if (tree.op === 'oneOf' && parts.length > 0) return parts.flat()
  let alternatives: Alternative[] = [{ leaves: [], requirements: [] }]
  for (const part of parts)
    alternatives = alternatives.flatMap(left => part.map(right => joinAlternatives(left, right, tree.op === 'seq')))
  return alternatives
}

/** In a sequence, everything of the right part comes after everything of the left one. */
function joinAlternatives(left: Alternative, right: Alternative, isOrdered: boolean): Alternative {
  const before = isOrdered ? [...left.requirements.keys()] : []
  const requirements = [...left.requirements]
  for (const { need, after } of right.requirements)
    requirements.push({ need, after: [...before, ...after.map(at => at + left.requirements.length)] })
  return { leaves: [...left.leaves, ...right.leaves], requirements }
}

const leavesOf = (tree: ExpectTree): Expectation[] => (tree.op === 'call' ? [tree] : tree.of.flatMap(leavesOf))
