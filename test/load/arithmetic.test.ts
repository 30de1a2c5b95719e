/** Checks the arithmetic of a load: arrivals, thresholds, times in a journal, and outages. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { arrivalTimes, parseArrivals, rateAt } from '../../src/running/load/arrivals.ts'
import { ownLimitAfter } from '../../src/running/load/limits.ts'
import type { LoadPoint } from '../../src/running/load/load.ts'
import { GroupStatistics, OutageLog } from '../../src/running/load/statistics.ts'
import { evaluateThreshold, parseThresholds } from '../../src/running/load/thresholds.ts'
import { timingsIn } from '../../src/running/load/timings.ts'

const entry = (fields: object): Entry => ({ chat_id: 'a', ...fields }) as unknown as Entry

describe('arrivals', () => {
  it('begins evenly, and the first at once', () => {
    expect([...arrivalTimes(parseArrivals('4/s')!, 1_000)]).toEqual([0, 250, 500, 750])
    expect([...arrivalTimes(parseArrivals('120/m')!, 1_000)]).toEqual([0, 500])
    expect([...arrivalTimes(parseArrivals('1/s for 2s, 2/s')!, 3_000)]).toEqual([0, 1000, 2000, 2500])
  })

  it('a ramp begins as many as its rates say, in order, in every part of it', () => {
    const [rate, seconds] = [fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 60 })]
    fc.assert(
      fc.property(rate, rate, seconds, seconds, (from, to, ramp, hold) => {
        const stages = parseArrivals(`${from}..${to}/s over ${ramp}s, ${to}/s`)!
        const times = [...arrivalTimes(stages, (ramp + hold) * 1000)]
        const expected = ((from + to) / 2) * ramp + to * hold
        expect(Math.abs(times.length - expected)).toBeLessThanOrEqual(1.01)
        expect(times).toEqual(times.toSorted((a, b) => a - b))
        expect(times.every(ms => ms >= 0 && ms <= (ramp + hold) * 1000)).toBe(true)
        expect(rateAt(stages, (ramp * 1000) / 2)).toBeCloseTo((from + to) / 2)
      }),
    )
  })

  it('refuses what is no rate', () => {
    for (const text of ['', '50', '50/h', '5..10/s', '0/s', '10/s, 5/s', '10/s over x', '-1/s', '1/s for 0s'])
      expect(parseArrivals(text), text).toBeNull()
  })
})

it('the limit of this machine is no lower than a rate that it carried', () => {
  const point = (rate: number, busyShare: number, late = 0) =>
    ({ rate, late, process: { busyShare, loopDelayMs: 0 } }) as LoadPoint
  const points = [point(30, 0.4), point(120, 0.9), point(128, 0.99), point(140, 0.9, 3)]
  expect(ownLimitAfter(35, points)).toBe(120)
  expect(ownLimitAfter(200, points)).toBe(200)
  expect(ownLimitAfter(null, points)).toBeNull()
})

describe('thresholds', () => {
  const evaluate = (text: string, measured: number | null) =>
    evaluateThreshold(parseThresholds(text)[0]!, () => measured).isMet

  it('say what fails the load', () => {
    expect(evaluate('user_to_agent.p99 > 2s', 2_000)).toBe(true)
    expect(evaluate('user_to_agent.p99 > 2s', 2_000.1)).toBe(false)
    expect(evaluate('verdict.pass < 90%', 89)).toBe(false)
    expect(evaluate('ack.max >= 1s', 1_000)).toBe(false)
    expect(evaluate('late <= 0', 1)).toBe(true)
    expect(evaluate('ack.p50 > 1ms', null)).toBe(true)
    expect(parseThresholds('refused > 1%, verdict.fail > 3').map(({ unit }) => unit)).toEqual(['percent', 'count'])
  })

  it.each([
    ['user_to_agnet.p99 > 2s', /no metric user_to_agnet\.p99; did you mean user_to_agent\.p99/],
    ['ack.p99 > 2', /ack\.p99 takes a time such as 2s, got "ack\.p99 > 2"/],
    ['verdict.fail > 2s', /verdict\.fail takes a number, or percent such as 1%/],
    ['verdict.fail = 2', /must be a metric, a comparison and a value/],
    ['foo > 1', /no metric foo: one of ack\.min, .*refused/],
  ])('refuses %j', (text, message) => {
    expect(() => parseThresholds(text)).toThrow(message)
  })
})

describe('times in a journal', () => {
  const api = (endpoint: string, at_ms: number, message?: string, chat_id = 'a') =>
    entry({ kind: 'api', endpoint, at_ms, status: 200, request: { body: { message } }, chat_id })
  const driver = (verb: string, at_ms: number, duration_ms: number, more: object = {}) =>
    entry({ kind: 'driver', verb, at_ms, duration_ms, outcome: 'ok', ...more })

  it('the same text again has the time of its own item', () => {
    const user = (at_ms: number) => entry({ kind: 'user', action: 'message', text: 'ok', at_ms })
    const inbox = (at_ms: number, count: number) =>
      driver('inbox', at_ms, 1, { items: Array.from({ length: count }, () => ({ text: 'ok' })) })
    expect(timingsIn([user(0), inbox(5, 1), user(100), inbox(101, 1), inbox(150, 2)]).user_to_agent).toEqual([5, 50])
  })

  it('each act has the first effect of its chat and text', () => {
    const entries = [
      entry({ kind: 'delivery', outcome: 'delivered', duration_ms: 7, at_ms: 10 }),
      entry({ kind: 'delivery', outcome: 'failed', duration_ms: 9, at_ms: 20 }),
      driver('accept', 30, 5),
      api('start', 40),
      entry({ kind: 'user', action: 'message', text: 'Hello', at_ms: 50 }),
      driver('inbox', 60, 1, { items: [] }),
      driver('inbox', 70, 1, { items: [{ text: 'Hello' }] }),
      driver('inbox', 80, 1, { items: [{ text: 'Hello' }] }),
      // The call of an agent's text may come before the driver has answered.
      api('message', 91, 'Hi', 'b'),
      api('message', 92, 'Hi'),
      driver('says', 95, 5, { text: 'Hi' }),
      driver('says', 100, 2, { text: 'Hi' }),
      api('message', 103, 'Hi'),
      driver('says', 110, 2, { text: 'never sent' }),
    ]
    const times = { ack: [7], user_to_agent: [20], agent_to_user: [2, 5], accept_to_start: [15] }
    expect(timingsIn(entries)).toEqual(times)
  })
})

describe('statistics', () => {
  const ended = (outcome: 'pass' | 'fail', ack: number[], lateMs = 0) =>
    ({
      result: { outcome, journal: [api(200), api(429)] },
      timings: { ack, user_to_agent: [], agent_to_user: [], accept_to_start: [] },
      lateMs,
    }) as never
  const api = (status: number) => entry({ kind: 'api', status })

  it('the first time of a conversation that began late counts from its intended time', () => {
    const group = new GroupStatistics()
    group.add(ended('pass', [10, 10], 1_000))
    const { timings, late } = group.result()
    expect([timings.ack!.min, Math.round(timings.ack!.max / 10) * 10, late]).toEqual([10, 1010, 1])
  })
})

describe('outages', () => {
  it('last from the first event that did not arrive until the first that did', () => {
    const delivery = (second: number, code: string) =>
      entry({ kind: 'delivery', outcome: 'failed', time: new Date(second * 1000).toISOString(), failure: { code } })
    const log = new OutageLog()
    log.add([delivery(2, 'connection_refused'), delivery(3, 'not_acknowledged')])
    log.add([delivery(7, 'connection_reset'), delivery(8, 'connection_refused')])
    expect(log.list()).toMatchObject([{ seconds: 1 }, { from: '1970-01-01T00:00:07.000Z', seconds: 1.1 }])
  })
})
