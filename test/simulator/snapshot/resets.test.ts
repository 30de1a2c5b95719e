/** Resets simulators with work in flight and checks that nothing from before a reset appears after it. */

import { expect, test } from 'vitest'
import { wallDelay } from '../../../src/base/runtime/clock.ts'
import { createSimulator } from '../../../src/index.ts'
import type { FaultSpec } from '../../../src/platform/faults/schema.ts'
import { coreOf, type PlatformSimulator } from '../../../src/platform/simulator/simulator.ts'
import { AGENT, post } from '../../support/test-simulator.ts'

/** Each mixture of faults, work and waiting occurs twice: they repeat after 120 epochs. */
const RESETS = 240

const FAULTS: readonly FaultSpec[] = [
  { on: 'webhook', delay: '1s', every: 3 },
  { on: { webhook: 'MESSAGE FROM USER' }, duplicate: 2, gap: '1s' },
  { on: { webhook: 'any' }, swap: true, skip: 1, times: 2 },
  { on: { api: 'message' }, latency: '1ms', every: 2 },
  { on: { api: 'transcript' }, slow_body: '5ms' },
]

const DELAYS = { 'bot.delay': '1s', 'chat.idleTimeout': '3s', 'summarize.latency': '2ms' } as const

const ignoreErrors = (work: Promise<unknown>) => void work.catch(() => {})

/** Begins work of every kind without waiting for it. Everything it causes names its epoch. */
async function begin(sim: PlatformSimulator, epoch: number): Promise<void> {
  if (epoch % 2 === 0) for (const spec of FAULTS.slice(epoch % 3)) sim.faults.add(spec)
  const id = `epoch-${epoch}`
  const history = [{ user: 'I would like to know where my parcel is' }, { user: 'Hello?' }]
  const chat = await sim.chat({ id, history })
  // After a reset this function may still run; what it does then belongs to the next epoch.
  if (sim.findChat(id) === undefined) return
  ignoreErrors(post(sim, 'start', chat, { sender: { ...AGENT, language_codes: ['fr'] } }))
  ignoreErrors(post(sim, 'typing_start', chat, { timeout: 1000 }))
  for (const text of ['one', 'two', 'three']) ignoreErrors(chat.says(text))
  if (epoch % 8 !== 0) return
  ignoreErrors(chat.press('handover'))
  for (const name of ['message', 'summarize', 'transcript']) ignoreErrors(post(sim, name, chat, { message: 'Hi' }))
  ignoreErrors(coreOf(sim).dispatcher.trigger({ chatId: id, event: 'X', payload: { id }, sign: 'valid' }))
  ignoreErrors(sim.clock.advance('2s'))
}

test('after many resets nothing from an earlier epoch appears', async () => {
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
  const sim = createSimulator({ webhook: { fetch }, knobs: { 'webhook.retry': ['1s', '2s'], ...DELAYS }, translate })
  let entries = 0
  sim.journal.subscribe(entry => {
    entries++
    const [named] = /epoch-\d+/.exec(JSON.stringify(entry)) ?? [`epoch-${epoch}`]
    if (named !== `epoch-${epoch}`) ghosts.push(`journal in epoch ${epoch}: ${JSON.stringify(entry)}`)
  })
  for (epoch = 1; epoch <= RESETS; epoch++) {
    ignoreErrors(begin(sim, epoch))
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
  expect(entries).toBeGreaterThan(5 * RESETS)
  expect(deliveries).toBeGreaterThan(RESETS / 5)
})

test('a reset drops a call whose body is still being read', async () => {
  const sim = createSimulator()
  const answer = post(sim, 'start', await sim.chat({ id: 'ada' }))
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
