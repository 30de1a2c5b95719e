/** Decides to which calls and events a fault applies: skip, every, times, chats, and several faults. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FaultNameTakenError, FaultRegistry } from '../../src/platform/faults/registry.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'

const optional = (least: number) => fc.option(fc.integer({ min: least, max: 5 }), { nil: undefined })
const counts = fc.record({ skip: optional(0), every: optional(1), times: optional(1) })

/** The numbers, from 1, of the calls to which the fault applies. */
function hitCalls(spec: FaultSpec, calls: number): number[] {
  const faults = new FaultRegistry()
  faults.add(spec)
  const numbers = Array.from({ length: calls }, (_, index) => index + 1)
  return numbers.filter(() => faults.takeApi({ endpoint: 'start', chatId: 'c1' }) !== null)
}

describe('counting', () => {
  test('any combination of skip, every and times', () => {
    fc.assert(
      fc.property(counts, fc.nat({ max: 40 }), ({ skip, every, times }, calls) => {
        const due = Array.from({ length: calls }, (_, index) => index + 1)
          .filter(number => number > (skip ?? 0))
          .filter((_, index) => (index + 1) % (every ?? 1) === 0)
        const spec = { on: 'api', reset: true, skip, every, times } as const
        expect(hitCalls(spec, calls)).toEqual(due.slice(0, times))
      }),
    )
  })

  test.each([
    [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    [{ times: 2 }, [1, 2]],
    [{ skip: 2, times: 1 }, [3]],
    [{ every: 3 }, [3, 6, 9]],
    [{ skip: 1, every: 3, times: 2 }, [4, 7]],
  ])('%j', (how, numbers) => {
    expect(hitCalls({ on: 'api', reset: true, ...how }, 9)).toEqual(numbers)
  })
})

describe('matching', () => {
  test.each([
    [{ api: 'start' }, ['start']],
    [{ api: ['start', 'end'] }, ['start', 'end']],
    ['api', ['start', 'end', 'chat']],
    [{ api: 'any' }, ['start', 'end', 'chat']],
  ] as [FaultSpec['on'], string[]][])('%j matches %j', (on, endpoints) => {
    const faults = new FaultRegistry()
    faults.add({ on, reset: true })
    const matches = (endpoint: string) => faults.takeApi({ endpoint, chatId: 'c1' }) !== null
    expect(['start', 'end', 'chat'].filter(matches)).toEqual(endpoints)
  })

  test('matches and counts only calls of its chat', () => {
    const faults = new FaultRegistry()
    faults.add({ on: 'api', chat_id: 'c2', reset: true, skip: 1 })
    const chats = ['c1', 'c2', undefined, 'c1', 'c2', 'c2']
    const hit = chats.map(chatId => faults.takeApi({ endpoint: 'message', chatId }) !== null)
    expect(hit).toEqual([false, false, false, false, true, true])
  })

  test('a webhook fault does not match calls', () => {
    const faults = new FaultRegistry()
    faults.add({ on: 'webhook', delay: '1s' })
    expect([faults.active.api, faults.active.webhook]).toEqual([false, true])
    expect(faults.takeApi({ endpoint: 'start', chatId: 'c1' })).toBeNull()
    expect(faults.takeWebhook({ event: 'MESSAGE FROM USER', chatId: 'c1' })).toMatchObject({
      order: { kind: 'delay', ms: 1000 },
    })
  })
})

describe('several faults', () => {
  const take = (specs: readonly FaultSpec[], calls: number) => {
    const faults = new FaultRegistry()
    for (const spec of specs) faults.add(spec)
    return Array.from(
      { length: calls },
      () => faults.takeApi({ endpoint: 'start', chatId: 'c1' })?.faults.join(', ') ?? '',
    )
  }

  test('apply one after the other in the order they were set', () => {
    const first = { name: 'a', on: 'api', respond: { status: 503 }, times: 2 } as const
    const second = { name: 'b', on: 'api', respond: { status: 429 }, times: 1 } as const
    expect(take([first, second], 4)).toEqual(['a', 'a', 'b', ''])
  })

  test('apply together when they change different aspects', () => {
    const slow = { name: 'slow', on: 'api', latency: '1s' } as const
    const flaky = { name: 'flaky', on: { api: 'start' }, drop: 'after', every: 2 } as const
    expect(take([slow, flaky], 4)).toEqual(['slow', 'slow, flaky', 'slow', 'slow, flaky'])
  })

  test('get names that are not taken', () => {
    const faults = new FaultRegistry()
    const names = ['fault-2', undefined, undefined].map(name => faults.add({ name, on: 'api', reset: true }).name)
    expect(names).toEqual(['fault-2', 'fault-1', 'fault-3'])
    expect(() => faults.add({ name: 'fault-2', on: 'api', reset: true })).toThrow(FaultNameTakenError)
  })
})
