/** How far a value is from what was wanted: to show the most alike first. */
import type { Difference } from '../verdict.ts'

/** 0 when nothing differs; a difference that is explained counts half, one between similar texts a little less than one. */
export const distanceOf = (differences: readonly Difference[]): number =>
  differences.reduce(
    (sum, { hint, expected, actual }) => sum + (hint === undefined ? 1 - likeness(expected, actual) / 3 : 0.5),
    0,
  )

/** From 0 to 1: the share of neighbouring pairs of characters two texts have in common (Dice). */
function likeness(a: string, b: string): number {
  const [pairs, others] = [pairsOf(a), pairsOf(b)]
  const common = [...pairs].filter(pair => others.has(pair)).length
  return pairs.size + others.size === 0 ? 0 : (2 * common) / (pairs.size + others.size)
}

const pairsOf = (text: string): Set<string> =>
  new Set([...text].map((_, at, signs) => signs.slice(at, at + 2).join('')))
