/** Which key opens what, which one signs, and what a new key does to the old one. */
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { assumedBy, call, type Delivered, post, takenOver, world } from './support.ts'

const stop = async (sim: PlatformSimulator, chat: ChatHandle, key: string) =>
  (await post(sim, 'typing_stop', chat, {}, { key })).status
const read = async (sim: PlatformSimulator, chat: ChatHandle, key: string) =>
  (await call(sim, `/api/v1/chats/${chat.id}`, { key })).status
const signedWith = (key: string, { text, headers }: Delivered) =>
  createHmac('sha256', key).update(text).digest('base64') === headers.get('kindly-hmac')

test('keys.handover: opens the handover endpoints and signs', async () => {
  const { sim, inbox } = world()
  const chat = await takenOver(sim)
  await chat.says('One')
  expect(await stop(sim, chat, 'sim-handover-key')).toBe(200)
  await sim.configure({ 'keys.handover': 'new-key', 'typing.webhook': 'off' })
  await chat.says('Two')
  expect(sim.apiKey).toBe('new-key')
  expect(await stop(sim, chat, 'sim-handover-key')).toBe(401)
  expect(await stop(sim, chat, 'new-key')).toBe(200)
  expect(signedWith('sim-handover-key', inbox[0]!)).toBe(true)
  expect(signedWith('new-key', inbox.at(-1)!)).toBe(true)
})

test('keys.bot: reads transcripts and nothing else', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  expect([await read(sim, chat, 'sim-bot-key'), await stop(sim, chat, 'sim-bot-key')]).toEqual([200, 403])
  await sim.configure({ 'keys.bot': 'reader' })
  expect([await read(sim, chat, 'sim-bot-key'), await read(sim, chat, 'reader')]).toEqual([401, 200])
})

test('keys.shared: the handover key is refused for transcripts with the reason, or each key opens everything', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const hinted = await call(sim, `/api/v1/chats/${chat.id}`)
  expect([hinted.status, hinted.json.error.code]).toEqual([403, 'missing_scope'])
  expect(hinted.json.error.message).toContain("'Read chats'")
  expect(assumedBy(hinted)).toEqual(['errors.body', 'keys.shared'])
  await sim.configure({ 'keys.shared': 'on' })
  expect([await read(sim, chat, sim.apiKey), await stop(sim, chat, sim.botApiKey)]).toEqual([200, 200])
})

test('keys.more: a key of another bot sets the availability of that bot and signs its events', async () => {
  const { sim, inbox } = world()
  const close = (key: string) => call(sim, '/api/v2/handover/availability', { key, body: { availability: 'CLOSED' } })
  expect((await close('other-key')).status).toBe(401)
  await sim.configure({ 'keys.more': ['other-key:2002'] })
  expect((await close('other-key')).json.bot_id).toBe('2002')
  const [main, other] = [await sim.chat(), await sim.chat({ botId: 2002 })]
  expect((await main.press('handover')).deliveryId).not.toBeNull()
  expect((await other.press('handover')).deliveryId).toBeNull()
  await call(sim, '/api/v2/handover/availability', { key: 'other-key', body: { availability: 'OPEN' } })
  await other.press('handover')
  expect(signedWith('other-key', inbox[1]!)).toBe(true)
  expect(inbox[1]!.json.bot.id).toBe(2002)
})

test('keys.more: the answer gives the bot of the key as a string', async () => {
  const { sim } = world()
  const reply = await call(sim, '/api/v2/handover/availability', { body: { availability: 'OPEN' } })
  expect(reply.json.bot_id).toBe('1042')
  expect(assumedBy(reply)).toContain('keys.more')
})

test('keys.graceful: refuses the old key at once, or accepts it for a while; the new key signs', async () => {
  const { sim, inbox } = world({ knobs: { 'typing.webhook': 'off' } })
  const chat = await takenOver(sim)
  await sim.configure({ 'keys.handover': 'second' })
  expect(await stop(sim, chat, 'sim-handover-key')).toBe(401)
  await sim.configure({ 'keys.graceful': '10m' })
  await sim.configure({ 'keys.handover': 'third' })
  await chat.says('Hi')
  expect(signedWith('third', inbox[0]!)).toBe(true)
  await sim.clock.advance('599s')
  expect([await stop(sim, chat, 'second'), await stop(sim, chat, 'third')]).toEqual([200, 200])
  await sim.clock.advance('1s')
  expect([await stop(sim, chat, 'second'), await stop(sim, chat, 'third')]).toEqual([401, 200])
})

test('keys.graceful: another change does not give an old key more time', async () => {
  const { sim } = world({ knobs: { 'keys.graceful': '10m' } })
  const chat = await sim.chat()
  await sim.configure({ 'keys.handover': 'second' })
  await sim.clock.advance('9m')
  await sim.configure({ 'bot.delay': '1s' })
  await sim.clock.advance('1m')
  expect(await stop(sim, chat, 'sim-handover-key')).toBe(401)
})

test('keys.graceful: a reset does not give an old key more time', async () => {
  const { sim } = world({ knobs: { 'keys.graceful': '10m' } })
  await sim.clock.advance('24h')
  await sim.configure({ 'keys.handover': 'second' })
  sim.reset()
  await sim.clock.advance('10m')
  expect(await stop(sim, await sim.chat(), 'sim-handover-key')).toBe(401)
})

test('keys.more: the effective assumptions show whether there are keys, but not the keys', () => {
  const shown = (keys: string) => {
    const { sim } = world({ knobs: { 'keys.more': keys } })
    return sim.assumptions().find(({ name }) => name === 'keys.more')?.knobs
  }
  expect(shown('off')).toMatchObject([{ name: 'keys.more', value: 'off' }])
  expect(shown('other-key:2002')).toMatchObject([{ name: 'keys.more', value: '***' }])
})
