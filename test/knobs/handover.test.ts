/** Requests, starts, ends and the texts around them. */
import { expect, test } from 'vitest'
import { assumedBy, post, sends, takenOver, texts, transcript, world } from './support.ts'

test('request.repeat: a second press sends an event again, or is ignored', async () => {
  const { sim, events } = world()
  const chat = await sim.chat()
  await chat.press('handover')
  await chat.press('handover')
  expect(events()).toEqual(['REQUESTING TAKEOVER', 'REQUESTING TAKEOVER'])
  await sim.configure({ 'request.repeat': 'ignore' })
  expect(await chat.press('handover')).toMatchObject({ messageId: null, deliveryId: null, ack: null })
  await takenOver(sim, {}, chat)
  await chat.press('handover')
  expect(events()).toHaveLength(2)
})

test('request.forwardPending: messages of a pending chat get an answer of the bot, or are also sent to the webhook', async () => {
  const { sim, events } = world()
  const chat = await sim.chat()
  await chat.press('handover')
  await chat.says('Anyone?')
  expect(chat.transcript.at(-1)!.from).toBe('bot')
  expect(events()).toEqual(['REQUESTING TAKEOVER'])
  await sim.configure({ 'request.forwardPending': 'on' })
  await chat.says('Anyone?')
  expect(events()).toEqual(['REQUESTING TAKEOVER', 'MESSAGE FROM USER'])
})

test('bot.delay: the bot answers at once, or later on the clock', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const bots = () => chat.transcript.filter(message => message.from === 'bot').length
  await chat.says('Hi')
  expect(bots()).toBe(1)
  await sim.configure({ 'bot.delay': '2s' })
  await chat.says('Hi again')
  await sim.clock.advance('1999ms')
  expect(bots()).toBe(1)
  await sim.clock.advance('1ms')
  expect(bots()).toBe(2)
})

test('start.unrequested: accepts a start without a request, or answers 409', async () => {
  const { sim } = world()
  const accepted = await post(sim, 'start', await sim.chat())
  expect(accepted.status).toBe(200)
  expect(assumedBy(accepted)).toEqual(['start.unrequested'])
  await sim.configure({ 'start.unrequested': '409' })
  const chat = await sim.chat()
  expect((await post(sim, 'start', chat)).json.error.code).toBe('conflict')
  await chat.press('handover')
  expect((await post(sim, 'start', chat)).status).toBe(200)
})

test('start.again: a second start replaces the first, or gets 409', async () => {
  const { sim, inbox } = world()
  const chat = await sim.chat()
  const first = await post(sim, 'start', chat, { sender: { name: 'Kim' } })
  const second = await post(sim, 'start', chat, { sender: { name: 'Lou' }, supports_attachment: true })
  expect(second.json.chatmessage_id).not.toBe(first.json.chatmessage_id)
  await chat.says('Hi')
  expect(inbox[0]!.json.attachments).toEqual([])
  await sim.configure({ 'start.again': '409' })
  expect((await post(sim, 'start', chat, { sender: { name: 'Max' } })).status).toBe(409)
  await post(sim, 'end', chat)
  expect(texts(chat)).toEqual(['Kim has joined the chat.', 'Lou has joined the chat.', 'Hi', 'Lou has left the chat.'])
})

test('end.idle: answers 200 with an unused message id when no agent is in the chat, or 409', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const idle = await post(sim, 'end', chat)
  expect(idle.json).toMatchObject({ event: 'TAKEOVER ENDED', chatmessage_id: expect.stringMatching(/^[0-9a-f]{24}$/) })
  expect(assumedBy(idle)).toEqual(['end.idle'])
  expect((await transcript(sim, chat)).messages).toEqual([])
  expect((await post(sim, 'end', chat)).json.chatmessage_id).not.toBe(idle.json.chatmessage_id)
  await sim.configure({ 'end.idle': '409' })
  expect((await post(sim, 'end', chat)).status).toBe(409)
})

test('message.requiresTakeover: delivers a message before start, or answers 409', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  expect((await sends(sim, chat, 'You are number 3')).status).toBe(200)
  await sim.configure({ 'message.requiresTakeover': 'on' })
  expect((await sends(sim, chat, 'You are number 2')).status).toBe(409)
  expect(texts(chat)).toEqual(['You are number 3'])
  await takenOver(sim, {}, chat)
  expect((await sends(sim, chat, 'Hello')).status).toBe(200)
})

test.each([
  ['messages.open', 'One moment, I am passing you on to a human colleague.'],
  ['messages.closed', 'Our team is not available right now. Please try again later.'],
])('messages.open, messages.closed: the text of %s', async (knob, usual) => {
  const { sim } = world()
  sim.setAvailability({ availability: knob === 'messages.open' ? 'OPEN' : 'CLOSED' })
  const shown = async () => {
    const chat = await sim.chat()
    await chat.press('handover')
    return texts(chat)
  }
  expect(await shown()).toEqual([usual])
  await sim.configure({ [knob]: 'Et øyeblikk {name}' })
  expect(await shown()).toEqual(['Et øyeblikk {name}'])
})

test('messages.entering, messages.left: set the texts at start and end, with the name of the sender', async () => {
  const { sim } = world()
  const round = async (sender?: object) => {
    const chat = await sim.chat()
    await post(sim, 'start', chat, { sender })
    await post(sim, 'end', chat)
    return texts(chat)
  }
  expect(await round({ name: 'Kim' })).toEqual(['Kim has joined the chat.', 'Kim has left the chat.'])
  expect(await round()).toEqual(['An agent has joined the chat.', 'An agent has left the chat.'])
  await sim.configure({ 'messages.entering': '+{name}{name}', 'messages.left': '-{name}' })
  expect(await round({ name: '$& $1' })).toEqual(['+$& $1$& $1', '-$& $1'])
})
