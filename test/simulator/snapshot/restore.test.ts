/** Checks what snapshots contain, what a restore rejects, and what it leaves unchanged. */

import { expect, test } from 'vitest'
import { createSimulator } from '../../../src/index.ts'
import { coreOf } from '../../../src/platform/simulator/simulator.ts'
import { InvalidSnapshotError } from '../../../src/platform/simulator/snapshot/invalid-snapshot.ts'
import type { Snapshot } from '../../../src/platform/simulator/snapshot/schema.ts'
import { call, gate, post, takenOver, texts, transcript, world } from '../../support/test-simulator.ts'

const copy = (snapshot: Snapshot): Snapshot => JSON.parse(JSON.stringify(snapshot))

test('a chat handle shows the restored state', async () => {
  const { sim } = world()
  const ada = await sim.chat()
  await ada.says('First')
  const snapshot = sim.snapshot()
  await ada.says('Second')
  await ada.press('handover')
  await sim.restore(snapshot)
  expect([texts(ada).includes('First'), texts(ada).includes('Second'), ada.status]).toEqual([true, false, 'bot'])
  await ada.says('Third')
  expect(texts(ada)).toContain('Third')
  expect(sim.findChat(ada.id)!.transcript).toEqual(ada.transcript)
})

test('a snapshot contains keys only on request, and a restore without them keeps the current keys', async () => {
  const keys = { 'keys.handover': 'first-secret', 'keys.bot': 'second-secret', 'keys.more': 'third:77' } as const
  const from = world({ knobs: keys }).sim
  await takenOver(from)
  const masked = from.snapshot({ journal: true })
  for (const secret of ['first-secret', 'second-secret', 'third']) expect(JSON.stringify(masked)).not.toContain(secret)

  const to = world({ knobs: { 'keys.handover': 'own-key' } }).sim
  await to.restore(masked)
  expect(to.apiKey).toBe('own-key')
  await to.restore(from.snapshot({ keys: true }))
  expect(to.apiKey).toBe('first-secret')
  expect((await call(to, `/api/v1/chats/${from.chats()[0]!.chatId}`, { key: 'second-secret' })).status).toBe(200)
})

test('a reset after a restore leaves a clean simulator with the settings of the snapshot', async () => {
  const from = world({ clock: { mode: 'virtual', start: '2030-01-01T00:00:00Z' }, bot: { id: 2002 } }).sim
  await post(from, 'typing_start', await takenOver(from), { timeout: 1000 })
  await from.clock.advance('500ms')
  const { sim, inbox } = world()
  await sim.restore(from.snapshot({ journal: true }))
  sim.reset()
  expect([sim.chats(), sim.journal.query(), sim.faults.list()]).toEqual([[], [], []])
  expect([sim.botId, sim.clock.now()]).toEqual([2002, Date.UTC(2030, 0, 1)])
  await sim.clock.advance('1h')
  expect(inbox).toEqual([])
})

test('a restore keeps the base URL and a webhook URL that is set, or takes over the webhook URL', async () => {
  const from = createSimulator({ baseUrl: 'https://a.example.test', webhook: { url: 'http://127.0.0.1:9/a' } })
  const set = createSimulator({ baseUrl: 'https://b.example.test', webhook: { url: 'http://127.0.0.1:9/b' } })
  const unset = createSimulator()
  for (const sim of [set, unset]) await sim.restore(from.snapshot())
  expect([set.baseUrl, set.config()['webhook.url']]).toEqual(['https://b.example.test', 'http://127.0.0.1:9/b'])
  expect(unset.config()['webhook.url']).toBe('http://127.0.0.1:9/a')
})

test('a restore brings uploaded bytes back, also large files', async () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => index % 256)
  const from = world().sim
  const ada = await takenOver(from, { supports_attachment: true })
  await ada.says('Here', { attach: [{ name: 'a b.bin', type: 'application/octet-stream', bytes }] })
  const [file] = ada.transcript.at(-1)!.attachments
  const to = world().sim
  await to.restore(copy(from.snapshot()))
  const answer = await to.fetch(new Request(file!.url))
  expect(new Uint8Array(await answer.arrayBuffer())).toEqual(bytes)
})

test('a restore sends an event in flight once more, with the same id, bytes and attempt', async () => {
  const { opened, open } = gate()
  const from = world({}, () => opened.then(() => 200))
  const said = (await takenOver(from.sim)).says('Hello')
  await from.arrived(1)
  const snapshot = from.sim.snapshot()
  const to = world()
  await to.sim.restore(snapshot)
  await to.sim.settled()
  expect(to.inbox.map(one => one.text)).toEqual(from.inbox.map(one => one.text))
  const delivery_id = snapshot.deliveries[0]!.deliveryId
  expect(to.sim.deliveries).toMatchObject([{ attempt: 1, outcome: 'delivered', delivery_id }])
  open()
  await said
  expect(from.sim.deliveries).toHaveLength(1)
})

test.each([
  { duplicate: 3, gap: '1m' },
  { delay: '1h' },
  { hold: 2 },
  { sign: 'tampered', truncate: true, delay: '1h' },
] as const)('a restore sends an event with the fault %j at once and once, without its fault', async effect => {
  const from = world({}, () => new Promise(() => {}))
  const ada = await takenOver(from.sim)
  from.sim.faults.add({ on: { webhook: 'MESSAGE FROM USER' }, ...effect, times: 1 })
  ada.says('Hello').catch(() => {})
  const to = world()
  await to.sim.restore(from.sim.snapshot())
  await to.sim.settled()
  expect(to.sim.deliveries).toMatchObject([{ attempt: 1, outcome: 'delivered' }])
  expect(to.sim.deliveries[0]).not.toHaveProperty('faults')
  expect(to.sim.faults.list()).toMatchObject([{ hits: 1, holding: 0 }])
  from.sim.reset()
})

test('a restore makes the next attempt of a retry at once, and the later ones in their time', async () => {
  const knobs = { 'webhook.retry': ['1h', '1h'] } as const
  const [from, to] = [world({ knobs }, 500), world({ knobs }, 500)]
  await (await takenOver(from.sim)).says('Hello')
  await to.sim.restore(from.sim.snapshot({ journal: true }))
  await to.sim.settled()
  expect(to.sim.deliveries.map(({ attempt }) => attempt)).toEqual([1, 2])
  await to.sim.clock.advance('2h')
  expect(to.sim.deliveries.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
})

test('a restore aborts deliveries in flight and journals nothing from before', async () => {
  const { opened, open } = gate()
  const { sim, arrived } = world({}, () => opened.then(() => 200))
  const ada = await takenOver(sim)
  const snapshot = sim.snapshot({ journal: true })
  const said = ada.says('Hello')
  await arrived(1)
  await sim.restore(snapshot)
  await expect(said).rejects.toThrow('reset')
  open()
  await sim.settled()
  expect(sim.journal.query()).toEqual(snapshot.journal.entries)
  expect(sim.deliveries).toEqual([])
})

test('without the journal seq continues, and first_seq shows that earlier entries are missing', async () => {
  const { sim } = world()
  await takenOver(sim)
  const next = sim.journal.nextSeq
  await sim.restore(sim.snapshot())
  expect(sim.journal.query()).toEqual([])
  expect([sim.journal.firstSeq, sim.journal.nextSeq]).toEqual([next, next])
  await sim.chat()
  expect(sim.journal.query().map(({ seq }) => seq)).toEqual([next])
})

test('a journal with a smaller limit keeps the latest entries', async () => {
  const from = world().sim
  for (let count = 0; count < 5; count++) await from.chat()
  const to = createSimulator({ journalLimit: 2 })
  await to.restore(from.snapshot({ journal: true }))
  expect(to.journal.query().map(({ seq }) => seq)).toEqual([4, 5])
  expect(to.journal.firstSeq).toBe(4)
  await to.chat()
  expect(to.journal.query().map(({ seq }) => seq)).toEqual([5, 6])
})

test('a masked delivery that is resent manually gets a new signature', async () => {
  const from = world().sim
  await (await takenOver(from)).says('Hello')
  const to = world()
  await to.sim.restore(from.snapshot({ journal: true }))
  await coreOf(to.sim).dispatcher.resend(to.sim.deliveries[0]!, false)
  expect(to.inbox[0]!.headers.get('kindly-hmac')).toBe(from.deliveries[0]!.request.headers['Kindly-HMAC'])
})

/** Sets the value at a path of a copy, as a user with an editor may do; `undefined` removes it. */
function edited(snapshot: Snapshot, path: string, value: unknown): Snapshot {
  const document = copy(snapshot)
  const keys = path.split('/')
  const parent = keys.slice(0, -1).reduce<object>((at, key) => Reflect.get(at, key), document)
  Object.assign(parent, { [keys.at(-1)!]: value })
  return copy(document)
}

test.each([
  ['v', undefined, /not a snapshot.*version "v"/],
  ['v', 2, /has version 2/],
  ['extra', 1, /extra is not a known key/],
  ['chats', undefined, /chats is required/],
  ['chats/0/typing', 'yes', /chats\[0\]\.typing must be/],
  ['config/typing.webhok', 'off', /config: typing\.webhok.*did you mean typing\.webhook/],
  ['config/translation.engine', './none.mjs', /translation\.engine must be .*a module is named only by/],
  ['clock', { mode: 'real', nowMs: 0, paused: false }, /taken on a real clock and this one is virtual/],
  ['chats/0/botId', 3, /bot 3 is not among the bots/],
  ['chats/0/messages/0/attachments', ['f'], /file f is not among the files/],
  ['chats/1/id', 'ada', /two have the same id/],
  ['deadlines/0/chatId', 'x', /x is not among the chats/],
  ['chats/0/context/deep', JSON.parse('['.repeat(300) + ']'.repeat(300)), /256 levels/],
  ['journal/entries/1/seq', 9, /without a gap/],
  ['journal/entries/1/request', undefined, /journal\.entries\[1\]/],
  ['chats/0/takeover', null, /belongs to status agent/],
  ['faults/0/spec', { on: 'api', swap: true }, /faults\[0\]\.spec/],
])('a restore rejects %s: %j, and changes nothing', async (path, value, message) => {
  const { sim } = world()
  const ada = await takenOver(sim, {}, await sim.chat({ id: 'ada' }))
  await post(sim, 'typing_start', ada, { timeout: 60_000 })
  sim.faults.add({ on: { api: 'summarize' }, respond: { status: 503 } })
  await sim.chat({ id: 'bob' })
  await sim.settled()
  const good = sim.snapshot({ journal: true })
  const measured = { taken_at: expect.anything(), journal: { ...good.journal, atMs: expect.any(Number) } }
  const failed = await sim.restore(edited(good, path, value)).catch(error => error)
  expect(failed).toBeInstanceOf(InvalidSnapshotError)
  expect(failed.message).toMatch(message)
  await expect(sim.restore(null as never)).rejects.toThrow('not a snapshot')
  expect(sim.snapshot({ journal: true })).toEqual({ ...good, ...measured })
  expect((await transcript(sim, ada)).id).toBe('ada')
  await sim.restore(good)
})
