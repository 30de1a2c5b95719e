/** Checks waits for entries: immediate, later, timed out, aborted. */
import { expect, test } from 'vitest'
import { createTimestamps } from '../../src/base/runtime/clock.ts'
import type { Entry, EntryContent } from '../../src/platform/journal/entry.ts'
import { createJournal, WaitTimeoutError } from '../../src/platform/journal/journal.ts'
import { post, world } from '../support/test-simulator.ts'

const note = (name: string): EntryContent => ({ kind: 'note', note: name })
const named = (name: string) => (entry: Entry) => 'note' in entry && entry.note === name
const journalOf = () => createJournal({ limit: 100, memoryLimit: 1e9, time: createTimestamps(() => 0).nextText })

test('resolves every pending wait with a later entry', async () => {
  const journal = journalOf()
  const waiting = [journal.waitFor(named('b')), journal.waitFor(named('b')), journal.waitFor(named('c'))]
  journal.append(note('a'), null)
  journal.append(note('b'), null)
  journal.append(note('c'), null)
  expect((await Promise.all(waiting)).map(entry => entry.seq)).toEqual([2, 2, 3])
})

test('withinMs: rejects with WaitTimeoutError', async () => {
  const journal = journalOf()
  const late = journal.waitFor(named('a'), { withinMs: 20 })
  await expect(late).rejects.toThrow('No matching entry within 20 ms.')
  await expect(late).rejects.toBeInstanceOf(WaitTimeoutError)
  journal.append(note('a'), null)
})

test('rejects on abort, also on an earlier abort', async () => {
  const journal = journalOf()
  const stop = new AbortController()
  const waiting = journal.waitFor(named('a'), { signal: stop.signal })
  stop.abort()
  await expect(waiting).rejects.toThrow('Stopped waiting: aborted.')
  await expect(journal.waitFor(named('a'), { signal: stop.signal })).rejects.toThrow('Stopped waiting: aborted.')
})

test('a condition that throws rejects its own wait only', async () => {
  const { sim } = world()
  const broken = sim.journal.waitFor(entry => (entry as never as { no: { such: boolean } }).no.such)
  const fine = sim.journal.waitFor(entry => entry.kind === 'api')
  const failed = expect(broken).rejects.toBeInstanceOf(TypeError)
  const chat = await sim.chat()
  expect((await post(sim, 'start', chat)).status).toBe(200)
  await failed
  expect(await fine).toMatchObject({ status: 200 })
})

test('the condition of an ended wait is not called again', async () => {
  const journal = journalOf()
  let asked = 0
  const waiting = journal.waitFor(entry => {
    asked++
    return named('b')(entry)
  })
  for (const name of ['a', 'b', 'c', 'd']) journal.append(note(name), null)
  await waiting
  expect(asked).toBe(2)
})
