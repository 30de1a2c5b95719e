/** Checks the journal: order, bounds, subscribers. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTimestamps } from '../../src/base/runtime/clock.ts'
import type { EntryContent } from '../../src/platform/journal/entry.ts'
import { createJournal } from '../../src/platform/journal/journal.ts'

const note = (name: string): EntryContent => ({ kind: 'note', note: name })
const journalOf = (limit = 100, memoryLimit = 1e9) =>
  createJournal({ limit, memoryLimit, time: createTimestamps(() => 0).nextText })
const seqs = (entries: Iterable<{ seq: number }>) => [...entries].map(entry => entry.seq)

test('the bounds keep the latest entries in order after any number of entries', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 20 }), fc.nat({ max: 60 }), (limit, count) => {
      const journal = journalOf(limit)
      for (let index = 0; index < count; index++) journal.append(note('one'), null)
      // The note about the eviction is an entry as well.
      const last = count > limit ? count + 1 : count
      const first = Math.max(1, last - limit + 1)
      expect([journal.firstSeq, journal.nextSeq]).toEqual([first, last + 1])
      expect(seqs(journal.query())).toEqual(Array.from({ length: last - first + 1 }, (_, at) => first + at))
      expect([journal.find(first - 1), journal.find(last + 1)]).toEqual([undefined, undefined])
    }),
  )
})

test('entries have a number, a time, a version and a cause', () => {
  const journal = journalOf()
  const first = journal.append(note('one'), null)
  const second = journal.append(note('two'), first.seq)
  expect(first).toEqual({
    v: 1,
    seq: 1,
    time: '1970-01-01T00:00:00.000001Z',
    cause: null,
    at_ms: expect.any(Number),
    kind: 'note',
    note: 'one',
  })
  expect(second).toMatchObject({ seq: 2, time: '1970-01-01T00:00:00.000002Z', cause: 1 })
  expect([journal.nextSeq, journal.firstSeq]).toEqual([3, 1])
})

test('eviction is announced once, before the first eviction, and again after a reset', () => {
  const journal = journalOf(3)
  const heard: unknown[] = []
  journal.subscribe(entry => heard.push('note' in entry && entry.note))
  const fill = () => [...'abcde'].forEach(name => void journal.append(note(name), null))
  fill()
  expect(heard).toEqual(['a', 'b', 'c', 'evicted', 'd', 'e'])
  expect([journal.firstSeq, journal.nextSeq, seqs(journal.query())]).toEqual([4, 7, [4, 5, 6]])
  journal.reset()
  expect([journal.firstSeq, journal.nextSeq, journal.find(1)]).toEqual([1, 1, undefined])
  fill()
  expect(heard.slice(6)).toEqual(['a', 'b', 'c', 'evicted', 'd', 'e'])
})

describe('subscribers', () => {
  test('receive every entry once, in order, until they unsubscribe', () => {
    const journal = journalOf()
    const heard: number[] = []
    const leave = journal.subscribe(entry => heard.push(entry.seq))
    journal.append(note('a'), null)
    journal.reset()
    journal.append(note('b'), null)
    leave()
    leave()
    journal.append(note('c'), null)
    expect(heard).toEqual([1, 1])
  })

  test('may append and unsubscribe while they receive an entry', () => {
    const journal = journalOf()
    const heard: unknown[] = []
    const leave = journal.subscribe(entry => {
      leave()
      heard.push(entry.seq)
      journal.append(note('reaction'), entry.seq)
    })
    journal.append(note('action'), null)
    expect([heard, seqs(journal.query())]).toEqual([[1], [1, 2]])
  })
})

test('a subscriber that throws is removed and journaled; others still receive entries', () => {
  const journal = journalOf()
  const heard: number[] = []
  journal.subscribe(() => {
    throw new Error('mine')
  })
  journal.subscribe(entry => heard.push(entry.seq))
  expect(journal.append(note('one'), null).seq).toBe(1)
  journal.append(note('two'), null)
  expect(journal.query().map(entry => [entry.kind === 'note' && entry.note, entry.cause])).toEqual([
    ['one', null],
    ['subscriber_failed', 1],
    ['two', null],
  ])
  expect(heard.toSorted()).toEqual([1, 2, 3])
})
