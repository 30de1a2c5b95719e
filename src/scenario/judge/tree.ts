/** The ways in which an expectation can be met: one per choice of its `oneOf`s, each a list of wishes. */
import type { Expectation, ExpectTree } from '../action.ts'
import { fill, type Scope } from '../fill.ts'
import type { Wish } from './solve.ts'

export interface Way {
  readonly leaves: readonly Expectation[]
  readonly wishes: readonly Wish[]
}

export const waysOf = (tree: ExpectTree): Way[] => {
  if (tree.op === 'call') return [{ leaves: [tree], wishes: [{ need: tree.times.min, after: [] }] }]
  const parts = tree.of.map(waysOf)
  if (tree.op === 'oneOf' && parts.length > 0) return parts.flat()
  return parts.reduce(
    (before, next) => before.flatMap(one => next.map(two => joined(one, two, tree.op === 'seq'))),
    [NOTHING],
  )
}

const NOTHING: Way = { leaves: [], wishes: [] }

/** In a sequence everything of the second part comes after everything of the first. */
function joined(one: Way, two: Way, ordered: boolean): Way {
  const count = one.wishes.length
  const before = ordered ? one.wishes.map((_, at) => at) : []
  const moved = two.wishes.map(({ need, after }) => ({ need, after: [...before, ...after.map(at => at + count)] }))
  return { leaves: [...one.leaves, ...two.leaves], wishes: [...one.wishes, ...moved] }
}

/** Throws `Unfillable`. */
export function filledTree(tree: ExpectTree, scope: Scope): ExpectTree {
  if (tree.op !== 'call') return { ...tree, of: tree.of.map(part => filledTree(part, scope)) }
  return { ...tree, body: tree.body === null ? null : fill(tree.body, scope) }
}

export const leavesOf = (tree: ExpectTree): Expectation[] => (tree.op === 'call' ? [tree] : tree.of.flatMap(leavesOf))
