/**
 * Which calls fill which wishes: `all` in any order, `seq` in order, `oneOf` by the way that is complete first. Exact,
 * not greedy: a call is never given away that another wish needs. Pure; calls are numbers in their order.
 */
import type { Expectation, ExpectTree } from '../scenario/action.ts'
import { type InterpolationScope, interpolate } from '../scenario/interpolation.ts'

export interface Requirement {
  /** How many calls it needs. */
  readonly need: number
  /** Wishes that must be filled by earlier calls. */
  readonly after: readonly number[]
}

export interface Filled {
  /** Every need is met. */
  readonly met: boolean
  /** Calls of each wish, in their order. */
  readonly taken: readonly (readonly number[])[]
}

export type Fits = (requirement: number, call: number) => boolean

/** With as few of the first calls as can be; when not all can be filled, as many as can. */
export function fillRequirements(requirements: readonly Requirement[], calls: number, fits: Fits): Filled {
  if (requirements.length === 1) return firstOnes(requirements[0]!.need, calls, fits)
  const free = requirements.every(({ after }) => after.length === 0)
  return free ? inAnyOrder(requirements, calls, fits) : inOrder(requirements, calls, fits)
}

function firstOnes(need: number, calls: number, fits: Fits): Filled {
  const taken: number[] = []
  for (let call = 0; call < calls && taken.length < need; call++) if (fits(0, call)) taken.push(call)
  return { met: taken.length === need, taken: [taken] }
}

/** Bipartite matching by augmenting paths, the calls one by one: the first calls that can serve together do. */
function inAnyOrder(requirements: readonly Requirement[], calls: number, fits: Fits): Filled {
  const seats = requirements.flatMap(({ need }, requirement) => Array.from({ length: need }, () => requirement))
  const sitting: (number | null)[] = seats.map(() => null)

  function place(call: number, tried: Set<number>): boolean {
    for (const [seat, requirement] of seats.entries()) {
      if (tried.has(seat) || !fits(requirement, call)) continue
      tried.add(seat)
      const other = sitting[seat] ?? null
      if (other !== null && !place(other, tried)) continue
      sitting[seat] = call
      return true
    }
    return false
  }

  for (let call = 0; call < calls && sitting.includes(null); call++) place(call, new Set())
  const taken = requirements.map((_, requirement) =>
    sitting.filter((call, seat): call is number => call !== null && seats[seat] === requirement).sort((a, b) => a - b),
  )
  return { met: !sitting.includes(null), taken }
}

/** What has been filled, and one way of doing it. */
interface State {
  readonly counts: readonly number[]
  readonly taken: readonly (readonly number[])[]
}

/** Call by call every state worth having; of the ways to one state the first. */
function inOrder(requirements: readonly Requirement[], calls: number, fits: Fits): Filled {
  const twins = twinsOf(requirements, calls, fits)
  const isFull = ({ counts }: State) => requirements.every(({ need }, requirement) => counts[requirement]! >= need)
  const empty: State = { counts: requirements.map(() => 0), taken: requirements.map(() => []) }
  let states: readonly State[] = [empty]
  let best = empty
  for (let call = 0; call < calls && !isFull(best); call++) {
    states = states.flatMap(state => {
      const next = stepsFrom(state, call, requirements, fits, twins)
      return next.length > 0 ? next : [state]
    })
    states = worthHaving(states)
    best = states.reduce((most, one) => (sum(one.counts) > sum(most.counts) ? one : most), best)
  }
  return { met: isFull(best), taken: best.taken }
}

/** A state that has all another has and more can do whatever that one can: so a call that fits is never passed over. */
function worthHaving(states: readonly State[]): State[] {
  const first = [...new Map(states.toReversed().map(state => [keyOf(state), state])).values()].reverse()
  const most = first.toSorted((a, b) => sum(b.counts) - sum(a.counts))
  const kept: State[] = []
  for (const state of most) if (!kept.some(one => hasAllOf(one, state))) kept.push(state)
  return first.filter(state => kept.includes(state))
}

const hasAllOf = (one: State, other: State): boolean =>
  other.counts.every((count, requirement) => one.counts[requirement]! >= count)

/** For each wish the first that is the same in all respects: of such it does not matter which is filled. */
function twinsOf(requirements: readonly Requirement[], calls: number, fits: Fits): number[] {
  const followers = (requirement: number) =>
    requirements.flatMap(({ after }, other) => (after.includes(requirement) ? [other] : []))
  const looks = requirements.map(({ need, after }, requirement) => {
    const row = Array.from({ length: calls }, (_, call) => (fits(requirement, call) ? 1 : 0)).join('')
    return `${row} ${need} ${after} ${followers(requirement)}`
  })
  return looks.map(look => looks.indexOf(look))
}

function stepsFrom(
  state: State,
  call: number,
  requirements: readonly Requirement[],
  fits: Fits,
  twins: readonly number[],
): State[] {
  const { counts, taken } = state
  const open = (requirement: number) => counts[requirement]! < requirements[requirement]!.need
  const earlierTwin = (requirement: number) =>
    twins.some((twin, other) => other < requirement && twin === twins[requirement] && open(other))
  return requirements.flatMap(({ after }, requirement) => {
    if (!open(requirement) || after.some(open) || earlierTwin(requirement) || !fits(requirement, call)) return []
    return [
      {
        counts: plusOne(counts, requirement),
        taken: taken.map((list, at) => (at === requirement ? [...list, call] : list)),
      },
    ]
  })
}

const plusOne = (counts: readonly number[], at: number) =>
  counts.map((count, requirement) => (requirement === at ? count + 1 : count))
const keyOf = ({ counts }: State) => counts.join()
const sum = (counts: readonly number[]) => counts.reduce((a, b) => a + b, 0)

export interface Alternative {
  readonly leaves: readonly Expectation[]
  readonly requirements: readonly Requirement[]
}

export const alternativesOf = (tree: ExpectTree): Alternative[] => {
  if (tree.op === 'call') return [{ leaves: [tree], requirements: [{ need: tree.times.min, after: [] }] }]
  const parts = tree.of.map(alternativesOf)
  if (tree.op === 'oneOf' && parts.length > 0) return parts.flat()
  return parts.reduce(
    (before, next) => before.flatMap(one => next.map(two => joined(one, two, tree.op === 'seq'))),
    [NOTHING],
  )
}

const NOTHING: Alternative = { leaves: [], requirements: [] }

/** In a sequence everything of the second part comes after everything of the first. */
function joined(one: Alternative, two: Alternative, ordered: boolean): Alternative {
  const count = one.requirements.length
  const before = ordered ? one.requirements.map((_, at) => at) : []
  const moved = two.requirements.map(({ need, after }) => ({
    need,
    after: [...before, ...after.map(at => at + count)],
  }))
  return { leaves: [...one.leaves, ...two.leaves], requirements: [...one.requirements, ...moved] }
}

/** Throws `InterpolationError`. */
export function filledTree(tree: ExpectTree, scope: InterpolationScope): ExpectTree {
  if (tree.op !== 'call') return { ...tree, of: tree.of.map(part => filledTree(part, scope)) }
  return { ...tree, body: tree.body === null ? null : interpolate(tree.body, scope) }
}

export const leavesOf = (tree: ExpectTree): Expectation[] => (tree.op === 'call' ? [tree] : tree.of.flatMap(leavesOf))
