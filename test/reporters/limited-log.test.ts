/** The log under load: the first entries of a second, then one line that counts the others. */
import { expect, it } from 'vitest'
import { createLimitedLog, createLog } from '../../src/pages/reporters/log.ts'
import type { LogStyle } from '../../src/pages/reporters/log-filter.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { call, created, delivery, event, refusedWith, says } from './log-samples.ts'

/** A log whose seconds end when the test says so. `taken` returns the lines since the last call. */
function limited(style: LogStyle = 'compact') {
  let endOfSecond: (() => void) | null = null
  const written: string[] = []
  const log = createLimitedLog({
    ...{ style, colorLevel: 0 },
    write: more => void written.push(more),
    startTimer(_delayMs, run) {
      endOfSecond = run
      const cancel = () => {
        endOfSecond = null
      }
      return { cancel }
    },
  })
  return {
    show: (...entries: Entry[]) => entries.forEach(log.show),
    end: log.end,
    isCounting: () => endOfSecond !== null,
    nextSecond: () => endOfSecond?.(),
    taken: () => written.splice(0).join('').split('\n').slice(0, -1),
  }
}

const times = (count: number, make: () => Entry) => Array.from({ length: count }, make)
const message = () => call({ endpoint: 'message' })
const refused = () => call({ endpoint: 'end', status: 404, response: { error: { code: 'gone', message: 'x' } } })
const hiddenIn = (lines: readonly string[]) => lines.filter(line => line.includes(' not shown'))

it.each(['pretty', 'compact', 'quiet'] as const)('%s: a calm second is the log without a limit', style => {
  const refusals = times(6, () => refusedWith(500))
  const entries = [created, says('x'), event('x'), delivery(), ...times(40, message), ...refusals]
  const [log, whole] = [limited(style), createLog({ style, colorLevel: 0 })]
  log.show(...entries)
  log.nextSecond()
  log.end()
  expect(`${log.taken().join('\n')}\n`).toBe(entries.map(whole).join(''))
})

const others = [...times(2, () => call()), says('x'), ...times(30, delivery)]

it.each<[style: LogStyle, counts: [calls: number, refused: number], entries: Entry[], shown: number, counted: RegExp]>([
  ['compact', [1204, 22], others, 60, / 1168 calls, 31 other entries: 12 of them failed or have a finding$/],
  ['compact', [100, 10], [], 60, / 50 calls, 0 other entries$/],
  ['quiet', [100, 70], [event('x')], 120, / 10 calls, 0 other entries: 10 of them/],
])(
  '%s: a busy second of %j has one line that counts others and what looks wrong',
  (style, counts, more, shown, counted) => {
    const log = limited(style)
    log.show(...times(counts[0], message), ...times(counts[1], refused), ...more)
    log.nextSecond()
    const lines = log.taken()
    expect(hiddenIn(lines)).toEqual([expect.stringMatching(counted)])
    expect(lines.filter(line => /POST|because/.test(line))).toHaveLength(shown)
  },
)

it('a second after a busy one begins anew, is counted when the log ends, and needs a timer only with an entry', () => {
  const log = limited()
  expect(log.isCounting()).toBe(false)
  log.show(...times(100, message))
  expect(log.isCounting()).toBe(true)
  log.nextSecond()
  expect(hiddenIn(log.taken())).toHaveLength(1)
  log.show(...times(60, message))
  expect(log.taken()).toHaveLength(50)
  log.end()
  expect(hiddenIn(log.taken())).toEqual([expect.stringContaining('not shown 10 calls, 0 other entries')])
  expect(log.isCounting()).toBe(false)
})

it('an answer after the line of a second names its event, and a chat has its language', () => {
  const log = limited('pretty')
  log.show(...times(48, message), event('x', 'd9'), ...times(5, message), created)
  log.nextSecond()
  log.taken()
  log.show(delivery({ delivery_id: 'd9' }), says('x'))
  const named = ['answer 200 to MESSAGE FROM USER', 'c394b674 nb '].map(part => expect.stringContaining(part))
  expect(log.taken()).toEqual(named)
})
