import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EntryFilter, filterLog } from '../../../src/pages/web/model/entry-filter.ts'
import { createJournalLog, type JournalLog } from '../../../src/pages/web/model/journal-log.ts'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import { createTestSimulator } from '../../support/test-simulator.ts'

const nameOf = (chatId: string) => `chat ${chatId.slice(0, 4)}`

/** The journal of two handovers, with refused and unknown calls and a fault. */
async function recordJournal(): Promise<readonly Entry[]> {
  const { sim, hook } = createTestSimulator()
  const call = (path: string, body: object) =>
    sim.fetch(`http://localhost/api/v2/handover/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  for (const text of ['Where is my parcel?', 'My card is blocked']) {
    const chat = await sim.chat()
    const about = { bot_id: sim.botId, chat_id: chat.id }
    await chat.says(text)
    await chat.press('handover')
    await call('start', about)
    await call('message/', { ...about, message: 42 })
    hook.answerWith(500)
    await chat.says('Hello?')
    await sim.settled()
    hook.answerWith(200)
  }
  await call('strat', {})
  return sim.journal.query()
}

const finish = (filtered: ReturnType<typeof filterLog>, log: JournalLog) => {
  while (filtered.advance(log));
  return filtered
}

const logOf = (entries: readonly Entry[]): JournalLog => createJournalLog(nameOf).add(entries)

describe('the filter of the wire', () => {
  it('shows the same entries and rows whether the journal grows or is complete', async () => {
    const entries = await recordJournal()
    const filters = fc.record<EntryFilter>({
      text: fc.constantFrom('', 'parcel', 'hello', 'POST start', 'no such word'),
      kind: fc.constantFrom(null, 'api', 'delivery', 'user'),
      chat: fc.constantFrom(null, entries[0]!.chat_id!),
      onlyProblems: fc.boolean(),
      after: fc.constantFrom(0, 3),
    })
    fc.assert(
      fc.property(filters, fc.array(fc.nat(entries.length)), (filter, stops) => {
        let growing = createJournalLog(nameOf)
        const filtered = filterLog(growing, filter)
        entries.forEach((entry, index) => {
          growing = growing.add([entry])
          if (stops.includes(index)) finish(filtered, growing)
        })
        const complete = logOf(entries)
        const whole = finish(filterLog(complete, filter), complete)
        const seqs = (list: readonly { readonly seq: number }[]) => list.map(({ seq }) => seq)
        expect(seqs(finish(filtered, growing).entries)).toEqual(seqs(whole.entries))
        expect(seqs(filtered.rows)).toEqual(seqs(whole.rows))
      }),
    )
  })

  it('finds refused calls and failed deliveries as problems', async () => {
    const filter = { text: '', kind: null, chat: null, onlyProblems: true, after: 0 }
    const log = logOf(await recordJournal())
    const found = finish(filterLog(log, filter), log).entries
    expect(found.map(entry => (entry.kind === 'api' || entry.kind === 'delivery' ? entry.status : entry.kind))).toEqual(
      [400, 500, 400, 500, 404],
    )
  })
})

describe('the log of the page', () => {
  it('drops the oldest tenth beyond its bound, also from chats, rows and filters', async () => {
    const entries = await recordJournal()
    const filter = { text: '', kind: 'user', chat: null, onlyProblems: false, after: 0 } as const
    let log = createJournalLog(nameOf, 20)
    const filtered = filterLog(log, filter)
    for (const entry of entries) {
      log = log.add([entry])
      filtered.advance(log)
    }
    expect(log.droppedUntil).toBeGreaterThan(0)
    expect(log.entries.length).toBeLessThanOrEqual(20)
    expect(log.entries).toEqual(entries.slice(-log.entries.length))
    const isKept = ({ seq }: { readonly seq: number }) => seq > log.droppedUntil
    expect(log.rows.every(isKept)).toBe(true)
    expect([...log.chats.values()].flat().every(isKept)).toBe(true)
    expect(filtered.entries).toEqual(entries.filter(entry => isKept(entry) && entry.kind === 'user'))
    expect(log.entry(1)).toBeUndefined()
    expect(log.effects(2)).toEqual([])
  })
})
