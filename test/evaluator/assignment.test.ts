/** Compares the assignment of calls to parts with an exhaustive search. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Fits, fillRequirements, type Requirement } from '../../src/evaluation/evaluator/expect.ts'

interface Problem {
  readonly wishes: readonly Requirement[]
  readonly calls: number
  readonly fits: Fits
}

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

const problems = (ordered: boolean) =>
  fc
    .tuple(fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 4 }), fc.integer({ min: 0, max: 7 }))
    .chain(([needs, calls]) =>
      fc.record({
        wishes: fc.tuple(
          ...needs.map((need, at) =>
            fc.record({
              need: fc.constant(need),
              after: ordered && at > 0 ? fc.subarray([...Array(at).keys()]) : fc.constant([]),
            }),
          ),
        ),
        calls: fc.constant(calls),
        table: fc.array(fc.array(fc.boolean(), { minLength: calls, maxLength: calls }), { minLength: 4, maxLength: 4 }),
      }),
    )
    .map(({ wishes, calls, table }): Problem => ({ wishes, calls, fits: (wish, call) => table[wish]![call]! }))

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
      }
      if (met && used.length > 0) expect(possible(problem, Math.max(...used))).toBe(false)
    }),
    { numRuns: 500 },
  )
})

it('ordered parts get earlier calls', () => {
  fc.assert(
    fc.property(problems(true), ({ wishes, calls, fits }) => {
      const { taken } = fillRequirements(wishes, calls, fits)
      for (const [wish, { after }] of wishes.entries()) {
        for (const call of taken[wish]!) {
          for (const before of after) {
            expect(taken[before]!).toHaveLength(wishes[before]!.need)
            expect(taken[before]!.every(earlier => earlier < call)).toBe(true)
          }
        }
      }
    }),
    { numRuns: 500 },
  )
})

it('a hundred parts that match every call are assigned', () => {
  const wishes = Array.from({ length: 100 }, () => ({ need: 1, after: [] }))
  expect(fillRequirements(wishes, 100, () => true).met).toBe(true)
})

it.each([
  ['that differ', (wish: number, call: number) => wish === call],
  ['that are alike', () => true],
  ['of two kinds', (wish: number, call: number) => wish % 2 === call % 2],
])('24 wishes %s, two of them in order, are filled at once', (_, fitting) => {
  const wishes = Array.from({ length: 24 }, (_, wish) => ({ need: 1, after: wish === 23 ? [0] : [] }))
  let looks = 0
  const fits = (wish: number, call: number) => {
    if (++looks > 50_000) throw new Error('every way is tried')
    return fitting(wish, call)
  }
  expect(fillRequirements(wishes, 24, fits).met).toBe(true)
})
