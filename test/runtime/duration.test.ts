/** Tests parsing and formatting of durations. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DURATION_PATTERN, formatDuration, parseDuration } from '../../src/base/text/quantities.ts'

test.each([
  ['500ms', 500],
  ['5s', 5000],
  ['0s', 0],
  ['1.5s', 1500],
  [' 2s ', 2000],
  ['0.001s', 1],
  ['1.005s', 1005],
  ['4.35s', 4350],
])('%j is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each([
  ...['0.5ms', '0.0001s', '1.0005s', '0.0000001h', `${'9'.repeat(400)}h`, `${'9'.repeat(20)}h`, '9007199254740992ms'],
  ...['', '5', 's', '-1s', '+1s', '1 s', '1d', '1S', '.5s', '5.s', '1e3s', '1s5ms', '٥s', 'Infinitys'],
  ...[5, null, undefined, {}, ['5s'], true],
])('%j is no duration', raw => {
  expect(parseDuration(raw)).toBeNull()
})

test('a duration is parsed back from its text, which has the largest exact unit', () => {
  const sizes = { s: 1000, m: 60_000, h: 3_600_000 } as const
  const unit = fc.constantFrom('s', 'm', 'h')
  fc.assert(
    fc.property(fc.nat({ max: 1_000_000 }), fc.integer({ min: 0, max: 999 }), unit, (whole, part, unit) => {
      const ms = parseDuration(`${whole}.${String(part).padStart(3, '0')}${unit}`)!
      expect(ms).toBe(whole * sizes[unit] + (part * sizes[unit]) / 1000)
      expect(parseDuration(formatDuration(ms))).toBe(ms)
    }),
  )
  fc.assert(fc.property(fc.maxSafeNat(), ms => parseDuration(formatDuration(ms)) === ms))
  const lengths = [0, 1, 1000, 60_000, 90_000, 3_600_000, 5_400_000]
  expect(lengths.map(formatDuration)).toEqual(['0s', '1ms', '1s', '1m', '90s', '1h', '90m'])
})

test('JSON schemas accept every duration that is parsed, also with white space around it', () => {
  const pattern = new RegExp(DURATION_PATTERN)
  for (const text of ['1s', ' 1s', '1s\n', '\t1.5s ', '500ms', '12h']) {
    expect([text, parseDuration(text) !== null, pattern.test(text)]).toEqual([text, true, true])
  }
})
