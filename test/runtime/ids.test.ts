/** Tests ids, random numbers and timestamps. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTimestamps, isoMicros } from '../../src/base/runtime/clock.ts'
import { createRandom, hashWords, type IdForm, makeId } from '../../src/base/runtime/random.ts'
import { unicodeText } from '../support/unicode-text.ts'

/** Drawn once; they must never change, or every recorded run changes with them. */
test.each<[IdForm, number, string, string]>([
  ['uuid', 1, 'chat 1', 'c394b674-c865-4926-9541-db8f3c7cb8b6'],
  ['uuid', 1, 'بحث 🫐', '7316e396-76b9-4f0f-b1b8-bede93e01eca'],
  ['hex24', 1, 'chat 1', 'c394b674c865b926d541db8f'],
  ['hex24', -7, '', '9752a3c4477ef0acbc9bf02e'],
  ['hex32', 1, 'chat 1', 'c394b674c865b926d541db8f3c7cb8b6'],
])('the %s of seed %i and %j is %s', (form, seed, label, id) => {
  expect(makeId(form, seed, label)).toBe(id)
})

test.each<[IdForm, RegExp]>([
  ['uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
  ['hex24', /^[0-9a-f]{24}$/],
  ['hex32', /^[0-9a-f]{32}$/],
])(
  'ids %s have their form and are repeatable for any seed and label, and differ for 10,000 labels',
  (form, pattern) => {
    fc.assert(
      fc.property(fc.integer(), unicodeText(), (seed, label) => {
        const id = makeId(form, seed, label)
        expect(id).toMatch(pattern)
        expect(makeId(form, seed, label)).toBe(id)
      }),
    )
    const ids = Array.from({ length: 10_000 }, (_, index) => makeId(form, index % 10, `chat ${index}`))
    expect(new Set(ids).size).toBe(10_000)
  },
)

test('random numbers equal the recorded values, and depend on seed and label', () => {
  expect(hashWords('chat 1', 1)).toEqual([3281303156, 3362109734, 3577863055, 1014806710])
  expect(hashWords('', 4294967295)).toEqual([2538775492, 1199501484, 3164336174, 47668503])
  const stream = (seed: number, label: string) => {
    const random = createRandom(seed, label)
    return Array.from({ length: 8 }, () => random.below(1000))
  }
  expect(stream(1, 'delivery order')).toEqual([78, 480, 193, 362, 505, 121, 564, 245])
  expect(stream(2, 'delivery order')).not.toEqual(stream(1, 'delivery order'))
  expect(stream(1, 'other')).not.toEqual(stream(1, 'delivery order'))
})

test('random numbers are in their range', () => {
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

test('timestamps are strictly increasing for any clock, and start again after a reset', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 4e12 }), { minLength: 2 }), readings => {
      let now = 0
      const stamps = createTimestamps(() => now)
      let last = -1
      for (const reading of readings) {
        now = reading
        const stamp = stamps.next()
        expect(Number.isInteger(stamp)).toBe(true)
        expect(stamp).toBeGreaterThanOrEqual(reading * 1000)
        expect(stamp).toBeGreaterThan(last)
        last = stamp
      }
      stamps.reset()
      expect(stamps.next()).toBe(now * 1000)
    }),
  )
})

test('timestamps are written as ISO 8601 with microseconds and Z, and sort as text', () => {
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
