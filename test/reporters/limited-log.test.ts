/** The log under load: the first entries of a second, then one line that counts the others. */
import { describe, expect, it } from 'vitest'
import { createLimitedLog } from '../../src/pages/reporters/limited-log.ts'
import { createLog } from '../../src/pages/reporters/log.ts'
import type { LogStyle } from '../../src/pages/reporters/log-filter.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { at, CHAT, call, created, delivery, event, refusedWith, says } from './log-samples.ts'

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
    /** As the journal does it. Returns the entries that had to be built. */
    show: (...entries: Entry[]) => {
      const wanted = entries.filter(entry => {
        const isWanted = log.wants(entry)
        if (isWanted) log.show(entry)
        return isWanted
      })
      return wanted.length
    },
    end: log.end,
    isCounting: () => endOfSecond !== null,
    nextSecond: () => endOfSecond?.(),
    taken,
  }
}

const times = (count: number, make: () => Entry) => Array.from({ length: count }, make)
const message = () => call({ endpoint: 'message', response: { event: 'MESSAGE SENT TO USER' } })
const refused = (code: string) => call({ endpoint: 'end', status: 404, response: { error: { code, message: 'x' } } })
const hiddenIn = (lines: readonly string[]) => lines.filter(line => line.includes(' not shown '))

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
  it('compact: one line counts calls by endpoint, refusals by code and the rest', () => {
    const log = limited()
    log.show(...times(50, message), ...times(1154, message), ...times(2, () => call()))
    log.show(...times(22, () => refused('chat_not_found')), ...times(12, () => refused('no_takeover')))
    log.show(
      ...times(30, () => event('x')),
      ...times(30, delivery),
      says('x'),
      at({ kind: 'note', note: 'x', chat_id: CHAT }),
    )
    log.nextSecond()
    expect(log.taken().slice(60)).toMatchInlineSnapshot(`
      [
        "09:00:01                not shown 1,180 calls (1,154 message, 24 end, 2 start), 30 deliveries, 1 user action, 1 other entry: 24 refused: 12 chat_not_found, 12 no_takeover",
      ]
    `)
  })

  it('pretty: the reasons are aligned below', () => {
    const log = limited('pretty')
    log.show(...times(60, message), ...times(12, () => refusedWith(500)), refusedWith(404))
    log.show(call({ findings: [{ rule: 'R-SENDER.4', message: 'x' }] }), delivery({ sign: 'hex' }))
    log.show(at({ kind: 'note', note: 'internal_error', where: 'timer', message: 'x' }))
    log.nextSecond()
    const lines = log.taken()
    expect(`\n${lines.slice(lines.indexOf(hiddenIn(lines)[0]!)).join('\n')}\n`).toMatchInlineSnapshot(`
      "
      09:00:01                not shown                 11 calls (10 message, 1 start), 4 deliveries, 1
                                                        other entry
                              3 failed                  2 answer 500, 1 answer 404
                              1 with a finding          1 R-SENDER.4
                              1 wrongly accepted        1 answer 200
                              1 from handover-sim       1 internal_error
      "
    `)
  })

  it('shows ten more entries that look wrong', () => {
    const log = limited()
    log.show(...times(100, message), ...times(10, () => refused('chat_not_found')))
    log.nextSecond()
    const lines = log.taken()
    expect(lines.filter(line => line.includes('404 chat_not_found'))).toHaveLength(10)
    expect(hiddenIn(lines)).toEqual([expect.stringContaining('not shown 50 calls (message)')])
  })

  it('quiet: counts only what it would show', () => {
    const log = limited('quiet')
    log.show(...times(100, message), ...times(70, () => refused('chat_not_found')), event('x'))
    log.nextSecond()
    const lines = log.taken()
    expect(lines.filter(line => line.includes('because'))).toHaveLength(60)
    expect(hiddenIn(lines)).toEqual([expect.stringMatching(/not shown +10 calls \(end\)$/)])
    expect(lines.at(-1)).toMatch(/10 refused +10 chat_not_found$/)
  })

  it('needs no entries of calls that it only counts', () => {
    expect(limited().show(...times(100, message), refused('chat_not_found'))).toBe(51)
    expect(limited('quiet').show(...times(100, message), refused('chat_not_found'))).toBe(1)
  })

  it('is followed by seconds with five entries each, until one is calm', () => {
    const log = limited()
    log.show(...times(100, message))
    for (const [entries, shown] of [
      [100, 5],
      [30, 5],
      [30, 30],
    ] as const) {
      log.nextSecond()
      expect(hiddenIn(log.taken())).toHaveLength(1)
      log.show(...times(entries, message))
      expect(log.taken()).toHaveLength(shown)
    }
  })

  it('counts up to its end when the log ends', () => {
    const log = limited()
    log.show(...times(60, message))
    log.end()
    expect(hiddenIn(log.taken())).toEqual([expect.stringContaining('not shown 10 calls (message)')])
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
