/** The log under load: the first entries of a second, then one line that counts the others. */
import { describe, expect, it } from 'vitest'
import { createLimitedLog, createLog } from '../../src/pages/reporters/log.ts'
import type { LogStyle } from '../../src/pages/reporters/log-filter.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { call, created, delivery, event, refusedWith, says } from './log-samples.ts'

/** A log whose seconds end when the test says so. */
function limited(style: LogStyle = 'compact') {
  let endOfSecond: (() => void) | null = null
  let text = ''
  const log = createLimitedLog({
    style,
    colorLevel: 0,
    write: more => {
      text += more
    },
    startTimer(_delayMs, run) {
      endOfSecond = run
      return {
        cancel: () => {
          endOfSecond = null
        },
      }
    },
  })
  const taken = () => {
    const lines = text.split('\n').slice(0, -1)
    text = ''
    return lines
  }
  return {
    show: (...entries: Entry[]) => entries.forEach(log.show),
    end: log.end,
    isCounting: () => endOfSecond !== null,
    nextSecond: () => endOfSecond?.(),
    taken,
  }
}

const times = (count: number, make: () => Entry) => Array.from({ length: count }, make)
const message = () => call({ endpoint: 'message', response: { event: 'MESSAGE SENT TO USER' } })
const refused = (code: string) => call({ endpoint: 'end', status: 404, response: { error: { code, message: 'x' } } })
const hiddenIn = (lines: readonly string[]) => lines.filter(line => line.includes(' not shown'))

describe('a calm second', () => {
  it.each(['pretty', 'compact', 'quiet'] as const)('%s: is the log without a limit', style => {
    const entries = [
      created,
      says('x'),
      event('x'),
      delivery(),
      ...times(40, message),
      ...times(6, () => refusedWith(500)),
    ]
    const [log, whole] = [limited(style), createLog({ style, colorLevel: 0 })]
    log.show(...entries)
    log.nextSecond()
    log.end()
    expect(`${log.taken().join('\n')}\n`).toBe(entries.map(whole).join(''))
  })

  it('ends without a line, and needs no timer until the next entry', () => {
    const log = limited()
    log.show(message())
    expect(log.isCounting()).toBe(true)
    log.nextSecond()
    expect(log.taken()).toHaveLength(1)
    log.nextSecond()
    log.show(...times(50, message))
    log.nextSecond()
    expect(log.taken()).toHaveLength(50)
  })
})

describe('a busy second', () => {
  it('one line counts the other entries, and those that look wrong', () => {
    const log = limited()
    log.show(...times(50, message), ...times(1154, message), ...times(2, () => call()))
    log.show(...times(22, () => refused('chat_not_found')), says('x'), ...times(30, delivery))
    log.nextSecond()
    expect(log.taken().slice(60)).toEqual([
      expect.stringMatching(/not shown 1168 calls, 31 other entries: 12 of them failed or have a finding$/),
    ])
  })

  it('shows ten more entries that look wrong', () => {
    const log = limited()
    log.show(...times(100, message), ...times(10, () => refused('chat_not_found')))
    log.nextSecond()
    const lines = log.taken()
    expect(lines.filter(line => line.includes('404 chat_not_found'))).toHaveLength(10)
    expect(hiddenIn(lines)).toEqual([expect.stringMatching(/not shown 50 calls, 0 other entries$/)])
  })

  it('quiet: counts only what it would show', () => {
    const log = limited('quiet')
    log.show(...times(100, message), ...times(70, () => refused('chat_not_found')), event('x'))
    log.nextSecond()
    const lines = log.taken()
    expect(lines.filter(line => line.includes('because'))).toHaveLength(60)
    expect(hiddenIn(lines)).toEqual([expect.stringContaining('not shown 10 calls, 0 other entries: 10 of them')])
  })

  it('is followed by a second with as many entries', () => {
    const log = limited()
    log.show(...times(100, message))
    log.nextSecond()
    expect(hiddenIn(log.taken())).toHaveLength(1)
    log.show(...times(30, message))
    expect(log.taken()).toHaveLength(30)
  })

  it('counts up to its end when the log ends', () => {
    const log = limited()
    log.show(...times(60, message))
    log.end()
    expect(hiddenIn(log.taken())).toEqual([expect.stringContaining('not shown 10 calls, 0 other entries')])
    expect(log.isCounting()).toBe(false)
  })

  it('an answer after the line of a second names its event', () => {
    const log = limited('pretty')
    log.show(...times(48, message), event('x', 'd9'), ...times(5, message))
    log.nextSecond()
    log.taken()
    log.show(delivery({ delivery_id: 'd9' }))
    expect(log.taken()).toEqual([expect.stringContaining('answer 200 to MESSAGE FROM USER')])
  })

  it('knows the language of a chat that was created meanwhile', () => {
    const log = limited()
    log.show(...times(60, message), created)
    log.nextSecond()
    log.taken()
    log.show(says('x'))
    expect(log.taken()).toEqual([expect.stringContaining('c394b674 nb ')])
  })
})
