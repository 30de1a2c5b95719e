/**
 * Checks that entries of calls say what their calls said, also when the journal uses the memory of dropped entries again:
 * a simulator with a short journal is compared with one that builds each entry at once and drops none.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { coreOf, createPlatformSimulator, type PlatformSimulator } from '../../src/platform/simulator/simulator.ts'

const SHORT_LIMIT = 12

type Step = { readonly read: number } | { readonly method: string; readonly path: string; readonly body?: string }

const BOT = { bot_id: 1042, chat_id: 'chat' }
const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  fc.constantFrom('ä'.repeat(600), 'x'.repeat(1_100), '🫐'.repeat(300)),
)
const message = text.map(value => JSON.stringify({ ...BOT, message: value, sender: { name: 'Anna' } }))
const call = (path: string) => (body: string) => ({ method: 'POST', path: `/api/v2/handover/${path}`, body })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: message.map(call('message/')) },
  { weight: 2, arbitrary: fc.constantFrom('typing_start', 'typing_stop').map(path => call(path)(JSON.stringify(BOT))) },
  { weight: 1, arbitrary: fc.constantFrom('{', 'null', '[]', '').map(call('message/')) },
  { weight: 1, arbitrary: fc.constant(call('start')(JSON.stringify({ ...BOT, chat_id: 'other' }))) },
  { weight: 1, arbitrary: fc.constant({ method: 'GET', path: '/api/v1/chats/chat' }) },
  { weight: 3, arbitrary: fc.nat(SHORT_LIMIT).map(read => ({ read })) },
)

async function play(sim: PlatformSimulator, steps: readonly Step[]): Promise<void> {
  const chat = await sim.chat({ id: 'chat' })
  await send(sim, call('start')(JSON.stringify({ ...BOT, chat_id: chat.id, sender: { name: 'Anna' } })))
  for (const one of steps) {
    if ('read' in one) coreOf(sim).journal.find(coreOf(sim).journal.nextSeq - 1 - one.read)
    else await send(sim, one)
  }
}

async function send(sim: PlatformSimulator, { method, path, body }: Exclude<Step, { read: number }>): Promise<void> {
  const key = method === 'GET' ? sim.botApiKey : sim.apiKey
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  await sim.fetch(new Request(sim.baseUrl + path, { method, headers, ...(body === undefined ? {} : { body }) }))
}

const shown = (entries: readonly Entry[]) =>
  entries.map(entry => JSON.stringify(entry, (key, value) => (/^(duration|at)_ms$/.test(key) ? 0 : value)))

test('a short journal says the same of its calls as a long one that builds every entry at once', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async steps => {
    await using long = createPlatformSimulator({})
    await using short = createPlatformSimulator({ journalLimit: SHORT_LIMIT })
    const all: Entry[] = []
    coreOf(long).journal.subscribe(entry => void all.push(entry))
    await play(long, steps)
    await play(short, steps)
    const kept = coreOf(short).journal.query({ kind: 'api' })
    const expected = all.filter(({ kind }) => kind === 'api').slice(-kept.length)
    expect(kept.length).toBeGreaterThan(0)
    expect(shown(kept).map(withoutPlace)).toEqual(shown(expected).map(withoutPlace))
  })
  await fc.assert(property, { numRuns: 60 })
})

/** The short journal has one note more, so its numbers differ. */
const withoutPlace = (json: string) => json.replace(/"(seq|follows)":\d+/g, '"$1":0').replace(/"time":"[^"]*"/, '')
