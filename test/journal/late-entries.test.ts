/** Checks that events and deliveries say the same whether their entries are built at once or when they are read later. */
import { expect, onTestFinished, test } from 'vitest'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { sizeOfEntry } from '../../src/platform/journal/long-bodies.ts'
import { coreOf, createPlatformSimulator, type PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { post, takenOver, world } from '../knobs/support.ts'

const OPTIONS = { knobs: { 'webhook.retry': '1s', 'webhook.idHeader': 'x-delivery' } } as const

const withWebhook = () =>
  world(OPTIONS, (_, { length }) => new Response('answer', { status: length === 1 ? 500 : 200 })).sim

function withoutUrl(): PlatformSimulator {
  const sim = createPlatformSimulator(OPTIONS)
  onTestFinished(() => sim.close())
  return sim
}

/** Causes events of all kinds, a retry, copies and wrong signatures, and then changes what new entries would say. */
async function play(sim: PlatformSimulator): Promise<void> {
  const chat = await takenOver(sim)
  await chat.says('Hello')
  await sim.clock.advance('1s')
  sim.faults.add({ on: { webhook: 'MESSAGE FROM USER' }, sign: 'wrong-key', duplicate: 2, times: 1 })
  await chat.says('Emoji 🫐')
  await post(sim, 'typing_start', chat, { timeout: 1000 })
  await post(sim, 'typing_stop', chat)
  await sim.settled()
  await sim.configure({ 'webhook.json': 'pretty', 'typing.response': 'event', 'webhook.idHeader': 'off' })
}

/** Without what differs between two runs, and with the order of the keys. */
const lasting = (entries: readonly Entry[]) =>
  entries.map(entry => JSON.stringify(entry, (key, value) => (/^(duration|at)_ms$/.test(key) ? 0 : value)))

const KINDS = [
  ['a webhook', withWebhook],
  ['no webhook', withoutUrl],
] as const

test.each(KINDS)('with %s, entries that are read late equal those that are read at once', async (_, create) => {
  const [early, late] = [create(), create()]
  const entries: Entry[] = []
  coreOf(early).journal.subscribe(entry => void entries.push(entry))
  await play(early)
  await play(late)
  expect(entries.filter(({ kind }) => kind === 'delivery').length).toBeGreaterThanOrEqual(4)
  expect(lasting(coreOf(late).journal.query())).toEqual(lasting(entries))
})

test.each(KINDS)('with %s, events and deliveries are counted with the size of their entries', async (_, create) => {
  const sim = create()
  await play(sim)
  const { journal } = coreOf(sim)
  for (const { v, seq, time, cause, at_ms, ...content } of [
    ...journal.query({ kind: 'event' }),
    ...journal.query({ kind: 'delivery' }),
  ])
    expect([seq, content.kind, journal.sizeOf(seq)]).toEqual([seq, content.kind, sizeOfEntry(content)])
})
