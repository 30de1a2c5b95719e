/** The ways in which an expectation can be met: one per choice of its `oneOf`s, each a list of wishes. */
import type { Expectation, ExpectTree } from '../scenario/action.ts'
import { fill, type Scope } from '../scenario/interpolation.ts'
import type { Requirement } from './assignment.ts'

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

/** Throws `Unfillable`. */
export function filledTree(tree: ExpectTree, scope: Scope): ExpectTree {
  if (tree.op !== 'call') return { ...tree, of: tree.of.map(part => filledTree(part, scope)) }
  return { ...tree, body: tree.body === null ? null : fill(tree.body, scope) }
}

export const leavesOf = (tree: ExpectTree): Expectation[] => (tree.op === 'call' ? [tree] : tree.of.flatMap(leavesOf))
