/** Tests ids, random numbers and timestamps. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTimestamps, isoMicros } from '../../src/base/runtime/clock.ts'
import { createRandom, hashWords, type IdForm, makeId } from '../../src/base/runtime/random.ts'

describe('ids', () => {
  /** Drawn once; they must never change, or every recorded run changes with them. */
  const GOLDEN: [IdForm, number, string, string][] = [
    ['uuid', 1, 'chat 1', 'c394b674-c865-4926-9541-db8f3c7cb8b6'],
    ['uuid', 2, 'chat 1', 'd28f56c6-f368-4642-afd4-d48744b0d985'],
    ['uuid', 1, 'بحث 🫐', '7316e396-76b9-4f0f-b1b8-bede93e01eca'],
    ['hex24', 1, 'chat 1', 'c394b674c865b926d541db8f'],
    ['hex24', -7, '', '9752a3c4477ef0acbc9bf02e'],
    ['hex32', 1, 'chat 1', 'c394b674c865b926d541db8f3c7cb8b6'],
  ]
  test.each(GOLDEN)('%s of seed %i and %j is %s', (form, seed, label, id) => {
    expect(makeId(form, seed, label)).toBe(id)
  })

  const FORMS: Record<IdForm, RegExp> = {
    uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    hex24: /^[0-9a-f]{24}$/,
    hex32: /^[0-9a-f]{32}$/,
  }
  test('have their form and are repeatable for any seed and label', () => {
    const forms = fc.constantFrom<IdForm>('uuid', 'hex24', 'hex32')
    fc.assert(
      fc.property(forms, fc.integer(), fc.string({ unit: 'binary' }), (form, seed, label) => {
        const id = makeId(form, seed, label)
        expect(id).toMatch(FORMS[form])
        expect(makeId(form, seed, label)).toBe(id)
      }),
    )
  })

  test.each(['uuid', 'hex24', 'hex32'] as const)('%s: 10,000 labels give different ids', form => {
    const ids = new Set<string>()
    for (let seed = 1; seed <= 10; seed++) {
      for (let number = 0; number < 1000; number++) ids.add(makeId(form, seed, `chat ${number}`))
    }
    expect(ids.size).toBe(10_000)
  })
})

describe('random numbers', () => {
  test('equal the recorded values', () => {
    expect(hashWords('chat 1', 1)).toEqual([3281303156, 3362109734, 3577863055, 1014806710])
    expect(hashWords('', 4294967295)).toEqual([2538775492, 1199501484, 3164336174, 47668503])
    const random = createRandom(1, 'delivery order')
    expect(Array.from({ length: 8 }, () => random.below(1000))).toEqual([78, 480, 193, 362, 505, 121, 564, 245])
  })

  test('depend on seed and label', () => {
    const stream = (seed: number, label: string) => {
      const random = createRandom(seed, label)
      return Array.from({ length: 20 }, () => random.next())
    }
    expect(stream(1, 'a')).toEqual(stream(1, 'a'))
    expect(stream(1, 'a')).not.toEqual(stream(2, 'a'))
    expect(stream(1, 'a')).not.toEqual(stream(1, 'b'))
  })

  test('are in their range', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 1_000_000 }), (seed, bound) => {
        const random = createRandom(seed)
        const [next, below] = [random.next(), random.below(bound)]
        expect(next >= 0 && next < 1).toBe(true)
        expect(Number.isInteger(below) && below >= 0 && below < bound).toBe(true)
        expect(random.pick([seed])).toBe(seed)
      }),
    )
  })
})

describe('timestamps', () => {
  test('are strictly increasing for any clock', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4e12 }), { minLength: 2 }), readings => {
        let now = 0
        const stamps = createTimestamps(() => now)
        const taken = readings.map(reading => {
          now = reading
          return stamps.next()
        })
        for (const [index, stamp] of taken.entries()) {
          expect(Number.isInteger(stamp)).toBe(true)
          expect(stamp).toBeGreaterThanOrEqual(readings[index]! * 1000)
          if (index > 0) expect(stamp).toBeGreaterThan(taken[index - 1]!)
        }
      }),
    )
  })

  test('start again after a reset', () => {
    const stamps = createTimestamps(() => 5)
    expect([stamps.next(), stamps.next()]).toEqual([5000, 5001])
    stamps.reset()
    expect(stamps.next()).toBe(5000)
  })

  test('are written as ISO 8601 with microseconds and Z, and sort as text', () => {
    expect(isoMicros(0)).toBe('1970-01-01T00:00:00.000000Z')
    expect(isoMicros(1_704_099_600_000_001)).toBe('2024-01-01T09:00:00.000001Z')
    const times = fc.array(fc.integer({ min: 0, max: 4_102_444_800_000_000 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(times, list => {
        for (const micros of list) {
          const text = isoMicros(micros)
          expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
          expect(Date.parse(`${text.slice(0, 23)}Z`)).toBe(Math.floor(micros / 1000))
          expect(Number(text.slice(23, 26))).toBe(micros % 1000)
        }
        expect(list.map(isoMicros).toSorted()).toEqual(list.toSorted((a, b) => a - b).map(isoMicros))
      }),
    )
  })
})
