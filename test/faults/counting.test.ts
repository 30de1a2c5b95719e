/** Decides to which calls and events a fault applies: skip, every, times, chats, and several faults. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FaultNameTakenError, FaultRegistry } from '../../src/platform/faults/registry.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'

const START = { endpoint: 'start', chatId: 'c1' }
const optional = (least: number) => fc.option(fc.integer({ min: least, max: 5 }), { nil: undefined })
const counts = fc.record({ skip: optional(0), every: optional(1), times: optional(1) })

function registryOf(...specs: FaultSpec[]): FaultRegistry {
  const faults = new FaultRegistry()
  for (const spec of specs) faults.add(spec)
  return faults
}

test('any combination of skip, every and times', () => {
  fc.assert(
    fc.property(counts, fc.nat({ max: 40 }), ({ skip, every, times }, calls) => {
      const numbers = Array.from({ length: calls }, (_, index) => index + 1)
      const due = numbers.filter(number => number > (skip ?? 0)).filter((_, index) => (index + 1) % (every ?? 1) === 0)
      const faults = registryOf({ on: 'api', reset: true, skip, every, times })
      expect(numbers.filter(() => faults.takeApi(START) !== null)).toEqual(due.slice(0, times))
    }),
  )
})

test.each([
  [{ api: 'start' }, ['start']],
  [{ api: ['start', 'end'] }, ['start', 'end']],
  ['api', ['start', 'end', 'chat']],
  [{ api: 'any' }, ['start', 'end', 'chat']],
] as [FaultSpec['on'], string[]][])('%j matches %j', (on, endpoints) => {
  const faults = registryOf({ on, reset: true } as FaultSpec)
  const matches = (endpoint: string) => faults.takeApi({ endpoint, chatId: 'c1' }) !== null
  expect(['start', 'end', 'chat'].filter(matches)).toEqual(endpoints)
})

test('a fault of a chat matches and counts only its calls', () => {
  const faults = registryOf({ on: 'api', chat_id: 'c2', reset: true, skip: 1 })
  const chats = ['c1', 'c2', undefined, 'c1', 'c2', 'c2']
  const hits = chats.map(chatId => faults.takeApi({ endpoint: 'message', chatId }) !== null)
  expect(hits).toEqual([false, false, false, false, true, true])
})

test('several faults apply one after the other to the same aspect of an answer, and together to others', () => {
  const taken = (...specs: FaultSpec[]) => {
    const faults = registryOf(...specs)
    return Array.from({ length: 4 }, () => faults.takeApi(START)?.faults.join() ?? '')
  }
  const [one, other] = [{ on: 'api', respond: { status: 503 } } as const, { on: 'api', latency: '1s' } as const]
  expect(taken({ ...one, name: 'a', times: 2 }, { ...one, name: 'b', times: 1 })).toEqual(['a', 'a', 'b', ''])
  expect(taken({ ...other, name: 'a' }, { ...one, name: 'b', every: 2 })).toEqual(['a', 'a,b', 'a', 'a,b'])
})

test('faults get names that are not taken', () => {
  const faults = registryOf({ name: 'fault-2', on: 'api', reset: true })
  const names = ['fault-1', 'fault-3'].map(() => faults.add({ on: 'api', reset: true }).name)
  expect(names).toEqual(['fault-1', 'fault-3'])
  expect(() => faults.add({ name: 'fault-2', on: 'api', reset: true })).toThrow(FaultNameTakenError)
})
