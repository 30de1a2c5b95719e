/**
 * Assigns calls to requirements: `all` in any order, `seq` in order, `oneOf` by the alternative that is complete first.
 * Exact, not greedy: a call that another requirement needs is assigned to that one. Pure; calls are numbers in their
 * order.
 */

import type { Expectation, ExpectTree } from '../scenario/plan.ts'

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
  const free = requirements.every(({ after }) => after.length === 0)
  return free ? inAnyOrder(requirements, calls, fits) : inOrder(requirements, calls, fits)
}

/** Bipartite matching by augmenting paths, the calls one by one: the first calls that can serve together do. */
function inAnyOrder(requirements: readonly Requirement[], calls: number, fits: Fits): Filled {
  const slots = requirements.flatMap(({ need }, requirement) => Array.from({ length: need }, () => requirement))
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
  const taken = requirements.map((_, requirement) =>
    assigned.filter((call, slot): call is number => call !== null && slots[slot] === requirement).sort((a, b) => a - b),
  )
  return { met: !assigned.includes(null), taken }
}

/** How many calls each requirement has, and one assignment that leads there. */
interface State {
  readonly counts: readonly number[]
  readonly taken: readonly (readonly number[])[]
}

/** Extends every useful state call by call; of several ways to one state, the first stays. */
function inOrder(requirements: readonly Requirement[], calls: number, fits: Fits): Filled {
  const equals = equalsOf(requirements, calls, fits)
  const isFull = ({ counts }: State) =>
    requirements.every(({ need }, requirement) => countOf(counts, requirement) >= need)
  const empty: State = { counts: requirements.map(() => 0), taken: requirements.map(() => []) }
  let states: readonly State[] = [empty]
  let best = empty
  for (let call = 0; call < calls && !isFull(best); call++) {
    states = states.flatMap(state => {
      const next = stepsFrom(state, call, requirements, fits, equals)
      return next.length > 0 ? next : [state]
    })
    states = undominated(states)
    best = states.reduce((most, one) => (sum(one.counts) > sum(most.counts) ? one : most), best)
  }
  return { met: isFull(best), taken: best.taken }
}

/** Drops a state when another one has all its calls and more: so a call that fits is always used. */
function undominated(states: readonly State[]): State[] {
  const first = [...new Map(states.toReversed().map(state => [state.counts.join(), state])).values()].reverse()
  const most = first.toSorted((a, b) => sum(b.counts) - sum(a.counts))
  const useful: State[] = []
  for (const state of most)
    if (!useful.some(one => state.counts.every((count, requirement) => countOf(one.counts, requirement) >= count)))
      useful.push(state)
  return first.filter(state => useful.includes(state))
}

/** For each requirement the first that equals it: the order in which equal ones are filled does not matter. */
function equalsOf(requirements: readonly Requirement[], calls: number, fits: Fits): number[] {
  const followers = (requirement: number) =>
    requirements.flatMap(({ after }, other) => (after.includes(requirement) ? [other] : []))
  const keys = requirements.map(({ need, after }, requirement) => {
    const row = Array.from({ length: calls }, (_, call) => (fits(requirement, call) ? 1 : 0)).join('')
    return `${row} ${need} ${after} ${followers(requirement)}`
  })
  return keys.map(key => keys.indexOf(key))
}

function stepsFrom(
  state: State,
  call: number,
  requirements: readonly Requirement[],
  fits: Fits,
  equals: readonly number[],
): State[] {
  const { counts, taken } = state
  const open = (requirement: number) => countOf(counts, requirement) < (requirements[requirement]?.need ?? 0)
  const hasEarlierEqual = (requirement: number) =>
    equals.some((first, other) => other < requirement && first === equals[requirement] && open(other))
  return requirements.flatMap(({ after }, requirement) => {
    if (!open(requirement) || after.some(open) || hasEarlierEqual(requirement) || !fits(requirement, call)) return []
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
const countOf = (counts: readonly number[], requirement: number) => counts[requirement] ?? 0
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

export const leavesOf = (tree: ExpectTree): Expectation[] => (tree.op === 'call' ? [tree] : tree.of.flatMap(leavesOf))
