/** Chats that end by themselves. */
import { expect, test } from 'vitest'
import { transcript, world } from './support.ts'

test('chat.idleTimeout: a chat never ends, or ends after that time without a message', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const active = async () => (await transcript(sim, chat)).active
  await sim.clock.advance('9000h')
  expect(await active()).toBe(true)
  await sim.configure({ 'chat.idleTimeout': '30m' })
  await chat.says('Hi')
  await sim.clock.advance('29m')
  await chat.says('Hi')
  await sim.clock.advance('29m')
  expect(await active()).toBe(true)
  await sim.clock.advance('1m')
  expect(await active()).toBe(false)
  await chat.says('Back again')
  expect(await active()).toBe(true)
})

test('chat.idleTimeout: a change counts from the latest message of every chat', async () => {
  const { sim } = world()
  const chat = await sim.chat({ history: [{ user: 'Hi' }] })
  await sim.clock.advance('10m')
  await sim.configure({ 'chat.idleTimeout': '15m' })
  await sim.clock.advance('299s')
  expect(chat.view().active).toBe(true)
  await sim.clock.advance('1s')
  expect(chat.view().active).toBe(false)
})

test('chat.idleTimeout: no chat ends after it is switched off', async () => {
  const { sim } = world({ knobs: { 'chat.idleTimeout': '15m' } })
  const chat = await sim.chat()
  await sim.configure({ 'chat.idleTimeout': 'off' })
  await sim.clock.advance('1h')
  expect(chat.view().active).toBe(true)
})
