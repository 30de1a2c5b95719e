/** Compares the assignment of calls to parts with an exhaustive search. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Fits, fillRequirements, type Requirement } from '../../src/evaluation/evaluator/assignment.ts'

type Problem = Readonly<{ wishes: readonly Requirement[]; calls: number; fits: Fits }>

/** Whether all parts can be assigned among the first calls, by exhaustive search. */
function possible({ wishes, fits }: Problem, calls: number): boolean {
  const counts = wishes.map(() => 0)
  const open = (wish: number) => counts[wish]! < wishes[wish]!.need
  const from = (call: number): boolean => {
    if (!wishes.some((_, wish) => open(wish))) return true
    if (call >= calls) return false
    for (const [wish, { after }] of wishes.entries()) {
      if (!open(wish) || after.some(open) || !fits(wish, call)) continue
      counts[wish]!++
      if (from(call + 1)) return true
      counts[wish]!--
    }
    return from(call + 1)
  }
  return from(0)
}

/** A wish may come after some of the four wishes before it. */
const wish = (index: number, isOrdered: boolean) =>
  fc.record({
    need: fc.integer({ min: 0, max: 2 }),
    after: isOrdered ? fc.subarray([...Array(index).keys()]) : fc.constant([]),
  })

const problems = (isOrdered: boolean): fc.Arbitrary<Problem> =>
  fc.record({
    wishes: fc
      .integer({ min: 1, max: 4 })
      .chain(count => fc.tuple(...Array.from({ length: count }, (_, index) => wish(index, isOrdered)))),
    calls: fc.integer({ min: 0, max: 7 }),
    fits: fc
      .array(fc.boolean(), { minLength: 28, maxLength: 28 })
      .map(table => (wish: number, call: number) => table[wish * 7 + call]!),
  })

it.each([
  ['in any order', false],
  ['with an order between them', true],
])('%s: met exactly when it can be, by as few of the first calls as can be', (_, ordered) => {
  fc.assert(
    fc.property(problems(ordered), problem => {
      const { wishes, calls, fits } = problem
      const { met, taken } = fillRequirements(wishes, calls, fits)
      expect(met).toBe(possible(problem, calls))
      const used = taken.flat()
      expect(new Set(used).size).toBe(used.length)
      for (const [wish, own] of taken.entries()) {
        expect(own.every(call => fits(wish, call))).toBe(true)
        expect(own.length).toBeLessThanOrEqual(wishes[wish]!.need)
        expect(own).toEqual([...own].sort((a, b) => a - b))
        for (const before of own.length === 0 ? [] : wishes[wish]!.after) {
          expect(taken[before]!).toHaveLength(wishes[before]!.need)
          expect(taken[before]!.every(earlier => earlier < own[0]!)).toBe(true)
        }
      }
      if (met && used.length > 0) expect(possible(problem, Math.max(...used))).toBe(false)
    }),
    { numRuns: 500 },
  )
})

it.each([
  ['that differ', (wish: number, call: number) => wish === call],
  ['that are alike', () => true],
  ['of two kinds', (wish: number, call: number) => wish % 2 === call % 2],
])('40 wishes %s, two of them in order, are filled at once', (_, fitting) => {
  const wishes = Array.from({ length: 40 }, (_, wish) => ({ need: 1, after: wish === 39 ? [0] : [] }))
  let looks = 0
  const fits = (wish: number, call: number) => {
    if (++looks > 50_000) throw new Error('every way is tried')
    return fitting(wish, call)
  }
  expect(fillRequirements(wishes, 40, fits).met).toBe(true)
})
