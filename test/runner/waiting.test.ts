/** Tests how long a run waits: for the quiet at the end, and between what happens and the next act of a person. */
import { describe, expect, it } from 'vitest'
import { nextMacrotask } from '../../src/base/runtime/clock.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import type { Core } from '../../src/platform/simulator/core.ts'
import { awaitPace, settle } from '../../src/running/runner/waiting.ts'

/** A journal on a clock that moves to the next entry or to the end of a wait, and on by `step` with each reading. */
function fakeCore(later: readonly Partial<Entry>[], step = 0, nowMs = 0) {
  const entries: Partial<Entry>[] = []
  const coming = later.map((entry, index) => ({ ...entry, seq: index + 1 }))
  let now = nowMs
  const arrive = () => {
    while (coming[0] !== undefined && coming[0].at_ms! <= now) entries.push(coming.shift()!)
  }
  arrive()
  const journal = {
    firstSeq: 1,
    get nextSeq() {
      return entries.length + 1
    },
    get atMs() {
      now += step
      return now
    },
    find: (seq: number) => entries[seq - 1],
    query: ({ after = 0 }) => entries.slice(after),
    async waitFor(_: unknown, { withinMs }: { withinMs: number }) {
      now = Math.min(now + withinMs, coming[0]?.at_ms ?? Infinity)
      arrive()
    },
  }
  const work = { activity: { isBusy: () => false } }
  const clock = { mode: 'real' }
  const core = { journal, work, clock, dispatcher: { nextDue: () => null }, hasConnection: true }
  return { core: core as unknown as Core, now: () => now }
}

const call = (at_ms: number): Partial<Entry> => ({ kind: 'api', endpoint: 'start', at_ms, chat_id: 'a' })
const { signal } = new AbortController()

describe('the quiet at the end', () => {
  it.each<[string, Partial<Entry>[], boolean, number]>([
    ['ends when nothing happens', [], false, 50],
    ['begins again with each call', [call(30), call(60)], false, 110],
    ['has a maximum', Array.from({ length: 300 }, (_, index) => call(index * 10)), false, 2000],
    ['is longer when a late call may explain a failure', [], true, 350],
    ['ends after that call', [call(200)], true, 250],
  ])('%s', async (_, entries, awaitCall, endMs) => {
    const { core, now } = fakeCore(entries)
    await settle({ core }, { quietMs: 50, awaitCall, signal })
    expect(now()).toBe(endMs)
  })

  it.each([0.1, 3, 7, 49, 51])(
    'ends also when its last moment passes between two readings of the clock',
    async step => {
      const { core, now } = fakeCore([], step)
      await settle({ core }, { quietMs: 50, awaitCall: false, signal })
      expect(now()).toBeLessThan(50 + 5 * step)
    },
  )
})

const act = (kind: string, more: object = {}) => ({ kind, at_ms: 100, chat_id: 'a', ...more }) as Partial<Entry>

describe('the pace of people', () => {
  it.each<[string, Partial<Entry>, object, boolean]>([
    ['after a call', act('api', { endpoint: 'start' }), { chatId: 'a' }, true],
    ['after a call that changes nothing', act('api', { endpoint: 'message' }), { chatId: 'a' }, false],
    ['after a call of another chat', act('api', { endpoint: 'start', chat_id: 'b' }), { chatId: 'a' }, false],
    ['of an agent, who sees all chats', act('api', { endpoint: 'start', chat_id: 'b' }), { chatId: null }, true],
    ['after an event', act('delivery'), { chatId: 'a' }, true],
    ['after an event whose effect was seen', act('delivery'), { chatId: 'a', observedSeq: 1 }, false],
    ['after an act of the agent', act('driver', { verb: 'accept' }), { chatId: 'a' }, true],
    ['after the inbox was read', act('driver', { verb: 'inbox' }), { chatId: 'a' }, false],
    ['long after a call', act('api', { endpoint: 'start', at_ms: -100 }), { chatId: 'a' }, false],
  ])('%s', async (_, entry, sight, waits) => {
    const { core } = fakeCore([entry], 0, 101)
    const stop = new AbortController()
    let hasEnded = false
    const pace = awaitPace(core, sight as { chatId: string }, stop.signal).then(() => {
      hasEnded = true
    })
    await nextMacrotask()
    expect(hasEnded).toBe(!waits)
    stop.abort()
    await pace
  })
})
