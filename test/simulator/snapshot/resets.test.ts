/** Resets simulators with work in flight and checks that nothing from before a reset appears after it. */

import { expect, test } from 'vitest'
import { wallDelay } from '../../../src/base/runtime/clock.ts'
import { createSimulator } from '../../../src/index.ts'
import type { FaultSpec } from '../../../src/platform/faults/schema.ts'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import { coreOf, type PlatformSimulator } from '../../../src/platform/simulator/simulator.ts'
import { AGENT, call } from '../../support/test-simulator.ts'
import { receiver } from '../../webhooks/receiver.ts'

/** Each mixture of faults, work and waiting occurs twice: they repeat after 120 epochs. */
const RESETS = 240

const FAULTS: readonly FaultSpec[] = [
  { on: 'webhook', delay: '1s', every: 3 },
  { on: { webhook: 'MESSAGE FROM USER' }, duplicate: 2, gap: '1s' },
  { on: { webhook: 'any' }, swap: true, skip: 1, times: 2 },
  { on: { api: 'message' }, latency: '1ms', every: 2 },
  { on: { api: 'transcript' }, slow_body: '5ms' },
]

const KNOBS = {
  'webhook.retry': ['1s', '2s'],
  'bot.delay': '1s',
  'chat.idleTimeout': '3s',
  'summarize.latency': '2ms',
} as const

const ignoreErrors = (work: Promise<unknown>) => void work.catch(() => {})

/** Starts work of every kind without waiting for it. Everything it causes names its epoch. */
function startWork(sim: PlatformSimulator, epoch: number): void {
  const id = `epoch-${epoch}`
  if (epoch % 2 === 0) for (const spec of FAULTS.slice(epoch % 3)) sim.faults.add(spec)
  ignoreErrors(begin(sim, id, epoch % 8 === 0))
}

async function begin(sim: PlatformSimulator, id: string, all: boolean): Promise<void> {
  const chat = await sim.chat({
    id,
    history: [{ user: 'I would like to know where my parcel is' }, { user: 'Hello?' }],
  })
  // After a reset this function may still run; what it does then belongs to the next epoch.
  if (sim.findChat(id) === undefined) return
  const send = (name: string, body: object) =>
    ignoreErrors(call(sim, `/api/v2/handover/${name}`, { body: { bot_id: sim.botId, chat_id: id, ...body } }))
  send('start', { sender: { ...AGENT, language_codes: ['fr'] } })
  send('typing_start', { timeout: 1000 })
  for (const text of ['one', 'two', 'three']) ignoreErrors(chat.says(text))
  if (!all) return
  ignoreErrors(chat.press('handover'))
  send('message', { message: 'Hi', sender: AGENT })
  send('summarize', {})
  send('transcript', {})
  ignoreErrors(coreOf(sim).dispatcher.trigger({ chatId: id, event: 'X', payload: { id }, sign: 'valid' }))
  ignoreErrors(sim.clock.advance('2s'))
}

test('in-process: after many resets nothing from an earlier epoch appears', async () => {
  let epoch = 0
  const ghosts: string[] = []
  let deliveries = 0
  const fetch = async (request: Request) => {
    const arrivedIn = epoch
    deliveries++
    const text = await request.text()
    if (!text.includes(`epoch-${arrivedIn}"`)) ghosts.push(`webhook in epoch ${arrivedIn}: ${text}`)
    if (deliveries % 4 === 0) await wallDelay(1)
    return new Response('', { status: deliveries % 3 === 0 ? 500 : 200 })
  }
  const translate = async (text: string) => (epoch % 2 === 0 ? wallDelay(0).then(() => text) : text)
  const sim = createSimulator({ webhook: { fetch }, knobs: KNOBS, translate })
  let entries = 0
  const isOld = (entry: Entry) => /epoch-\d+/.exec(JSON.stringify(entry))?.[0] ?? `epoch-${epoch}`
  sim.journal.subscribe(entry => {
    entries++
    if (isOld(entry) !== `epoch-${epoch}`) ghosts.push(`journal in epoch ${epoch}: ${JSON.stringify(entry)}`)
  })
  for (epoch = 1; epoch <= RESETS; epoch++) {
    startWork(sim, epoch)
    if (epoch % 8 === 0) await wallDelay(0)
    else for (let turn = 0; turn < epoch % 40; turn++) await Promise.resolve()
    sim.reset()
    if (sim.journal.query().length > 0 || sim.chats().length > 0) ghosts.push(`left over in epoch ${epoch}`)
  }
  epoch++
  await sim.settled()
  expect(ghosts.slice(0, 5)).toEqual([])
  expect(sim.journal.query()).toEqual([])
  expect(sim.clock.now()).toBe(Date.UTC(2024, 0, 1, 9))
  expect({ entries, deliveries, enough: entries > 5 * RESETS && deliveries > RESETS / 5 }).toMatchObject({
    enough: true,
  })
})

test('over HTTP: after a reset no earlier event is sent and no earlier answer is journaled', async () => {
  const late: string[] = []
  let barrier = ''
  const { url, got } = await receiver((one, response) => {
    if (barrier !== '' && !one.bytes.toString().includes(barrier)) late.push(one.bytes.toString())
    response.end()
  })
  const sim = createSimulator({ webhook: { url }, knobs: KNOBS })
  for (let epoch = 1; epoch <= 60; epoch++) {
    barrier = ''
    startWork(sim, epoch)
    await wallDelay(epoch % 4)
    sim.reset()
    // What is on the wire arrives before anything that is sent later.
    const seen = got.length
    const chat = await sim.chat({ id: `after-${epoch}` })
    await chat.press('handover')
    expect(got.length).toBeGreaterThan(seen)
    barrier = `after-${epoch}`
    await wallDelay(1)
    const old = sim.journal.query().filter(entry => JSON.stringify(entry).includes('epoch-'))
    expect(old).toEqual([])
  }
  expect(late).toEqual([])
})

test('a reset drops a call whose body is still being read', async () => {
  const sim = createSimulator()
  await sim.chat({ id: 'ada' })
  const body = { bot_id: sim.botId, chat_id: 'ada', sender: AGENT }
  const answer = call(sim, '/api/v2/handover/start', { body })
  sim.reset()
  await sim.chat({ id: 'ada' })
  expect((await answer).status).toBe(500)
  expect(sim.journal.query({ kind: 'api' })).toEqual([])
  expect(sim.chats()).toMatchObject([{ chatId: 'ada', status: 'bot' }])
})

test('a reset cancels earlier clock advances', async () => {
  const sim = createSimulator()
  const began = sim.clock.now()
  const asked = [sim.clock.advance('1h'), sim.clock.advance('1h')]
  sim.reset()
  const after = sim.clock.advance('1m')
  await Promise.all([...asked, after])
  expect(sim.clock.now() - began).toBe(60_000)
})
