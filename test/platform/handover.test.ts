import { expect, it } from 'vitest'
import { AGENT, lastMessage, takenOver, transcriptLines } from '../support/chats.ts'
import { setUpChat, setUpHandover } from '../support/test-simulator.ts'

const BOT_ANSWER = { from: 'bot', text: 'Hi there! What can I help you with?' }

it('W1 ST1 ST2 a fresh chat is bot-handled and the bot answers the user', async () => {
  const { hook, chat } = await setUpChat()
  expect(chat.status).toBe('bot')
  await chat.says('hello')
  expect(transcriptLines(chat)).toEqual(['user: hello', 'bot: Hi there! What can I help you with?'])
  expect(hook.events()).toEqual([])
})

it('ST4 ST5 ST19 EV3 a press while open sends REQUESTING TAKEOVER; until start, the bot still answers', async () => {
  const { hook, api, chat } = await setUpChat()
  expect((await chat.press('handover')).ack?.status).toBe(200)
  expect([chat.status, hook.payloadsOf('REQUESTING TAKEOVER')[0]?.chat.id]).toEqual(['pending', chat.id])
  await chat.says('hello')
  expect(lastMessage(chat)).toMatchObject(BOT_ANSWER)
  expect(hook.events()).toEqual(['REQUESTING TAKEOVER'])
  expect((await api.chat(chat.id)).body.chat.taken_over).toBeNull()
})

it.each([
  ['bot', undefined, 'An agent has joined the chat.'],
  ['pending', AGENT, 'Kari has joined the chat.'],
])('ST6 ST7 ST8 EV13 E4.1 E4.2 E4.3 E4.5 E4.6 start takes over: %s', async (status, sender, text) => {
  const { api, chat } = await setUpChat()
  if (status === 'pending') await chat.press('handover')
  expect(chat.status).toBe(status)
  const started = await api.start({ chat_id: chat.id, ...(sender && { sender }) })
  expect(started).toMatchObject({ status: 200, body: { event: 'TAKEOVER STARTED', chat_id: chat.id } })
  expect(lastMessage(chat)).toMatchObject({ id: started.body.chatmessage_id, from: 'bot', text })
  expect(chat.status).toBe('agent')
})

it('W2 ST3 ST11 ST12 EV6 a user message goes to the webhook, stays taken over, gets no bot answer', async () => {
  const { sim, hook, chat } = await setUpHandover()
  const before = chat.transcript.length
  const { ack, messageId } = await chat.says('Where is my parcel?')
  expect(ack?.status).toBe(200)
  expect(hook.payloadsOf('MESSAGE FROM USER').map(payload => payload.message)).toEqual(['Where is my parcel?'])
  await sim.clock.advance('24h')
  expect(chat.status).toBe('agent')
  expect(chat.transcript.slice(before)).toMatchObject([{ id: messageId, from: 'user' }])
})

it.each([
  [undefined, 'Kari has left the chat.'],
  [{ name: 'Ola' }, 'Ola has left the chat.'],
])('ST13 ST14 ST15 ST16 EV14 W2 E5.1 E5.2 E5.3 E5.4 E5.5 end hands back: %j', async (sender, text) => {
  const { api, hook, chat } = await setUpHandover()
  const ended = await api.end({ chat_id: chat.id, ...(sender && { sender }) })
  expect(ended).toMatchObject({ status: 200, body: { event: 'TAKEOVER ENDED', chat_id: chat.id } })
  expect(lastMessage(chat)).toMatchObject({ id: ended.body.chatmessage_id, from: 'bot', text })
  expect(chat.status).toBe('bot')
  expect((await chat.says('hello')).ack).toBeNull()
  expect(lastMessage(chat)).toMatchObject(BOT_ANSWER)
  expect(hook.events()).toEqual([])
})

it('ST6 ST7 a second start while taken over replaces sender and attachment support', async () => {
  const { api, hook, chat } = await setUpHandover({ start: { supports_attachment: true } })
  const again = await api.start({ chat_id: chat.id, sender: { name: 'Ola' } })
  expect([again.status, again.headers.get('x-handover-sim-unspecified')]).toEqual([200, 'start.again'])
  expect(lastMessage(chat)).toMatchObject({ id: again.body.chatmessage_id, text: 'Ola has joined the chat.' })
  await chat.says('hi')
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]).not.toHaveProperty('attachments')
})

it('ST13 an end without a takeover confirms, adds no message and returns a new id', async () => {
  const { api, chat } = await setUpChat({ chat: { history: [{ user: 'hi' }] } })
  const ended = await api.end({ chat_id: chat.id })
  expect(ended.body.event).toBe('TAKEOVER ENDED')
  expect(ended.headers.get('x-handover-sim-unspecified')).toBe('end.idle')
  expect(chat.transcript.map(message => message.id)).not.toContain(ended.body.chatmessage_id)
  expect(transcriptLines(chat)).toEqual(['user: hi'])
})

it('ST6 a takeover changes no other chat', async () => {
  const { chat: other, ...setup } = await setUpChat()
  const chat = await takenOver(setup)
  await other.says('hello')
  expect([chat.status, other.status, lastMessage(other).from]).toEqual(['agent', 'bot', 'bot'])
  expect(setup.hook.events()).toEqual([])
})
