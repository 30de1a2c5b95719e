import { expect, it } from 'vitest'
import { AGENT } from '../support/chats.ts'
import { setUp, setUpChat, setUpHandover } from '../support/test-simulator.ts'

const MICROS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const CONVERSATION = [{ user: 'Hei' }, { bot: 'Hei! Hva gjelder det?', buttons: [{ label: 'Ordre' }] }]

it('R-REC.1 E9.1 E9.3 W10 ER2 GET chats/{chatId} answers 200 with chat as the only key', async () => {
  const { api, chat } = await setUpChat({ chat: { history: CONVERSATION } })
  const { status, body } = await api.chat(chat.id)
  expect([status, Object.keys(body)]).toEqual([200, ['chat']])
  expect(body.chat.messages.map(message => message.message)).toEqual(['Hei', 'Hei! Hva gjelder det?'])
})

it('R-REC.2 R-REC.3 R-REC.4 R-REC.9 R-REC.10 the record identifies chat, bot and user', async () => {
  const { api, chat } = await setUpChat({ bot: { id: 55, name: 'Nora', organizationId: 9 }, chat: { language: 'nb' } })
  expect((await api.chat(chat.id)).body.chat).toMatchObject({
    active: true,
    bot_id: 55,
    organization_id: 9,
    id: chat.id,
    bot_name: 'Nora',
    language_code: 'nb',
    recipient_id: chat.userId,
    source: 'chatbubble',
    state: 'chatting',
    taken_over: null,
  })
})

it('R-REC.1 the record has exactly the published fields', async () => {
  const { api, chat } = await setUpChat({ chat: { history: CONVERSATION } })
  const record = (await api.chat(chat.id)).body.chat
  const published =
    'active bot_id organization_id bot_name comments context created first_name full_name gender id labels ' +
    'language_code last_name recipient_id source state taken_over updated messages'
  expect(Object.keys(record).sort()).toEqual(published.split(' ').sort())
  const fields = ['id', 'created', 'from_bot', 'name', 'message', 'buttons', 'exchange_id', 'exchange_type']
  expect(Object.keys(record.messages[0]!).sort()).toEqual(fields.sort())
})

it('R-REC.5 the user has a full name, or no name', async () => {
  const { sim, api } = await setUp()
  const known = await sim.chat({ user: { firstName: 'Ada', lastName: 'Berg', gender: 'female' } })
  const names = { first_name: 'Ada', last_name: 'Berg', full_name: 'Ada Berg', gender: 'female' }
  expect((await api.chat(known.id)).body.chat).toMatchObject(names)
  const unknown = await sim.chat({ user: null })
  const nothing = { first_name: null, last_name: null, full_name: null, gender: null }
  expect((await api.chat(unknown.id)).body.chat).toMatchObject(nothing)
})

it('R-REC.6 R-MSG.2 times have microseconds and Z; updated follows the latest message', async () => {
  const { sim, api, chat } = await setUpChat({ clock: { mode: 'virtual', start: '2025-03-01T12:00:00Z' } })
  await sim.clock.advance('90s')
  await chat.says('hello')
  const { created, updated, messages } = (await api.chat(chat.id)).body.chat
  for (const time of [created, updated, ...messages.map(message => message.created)]) expect(time).toMatch(MICROS)
  expect(created.slice(0, 19)).toBe('2025-03-01T12:00:00')
  expect(updated).toBe(messages.at(-1)?.created)
  expect(updated.slice(0, 19)).toBe('2025-03-01T12:01:30')
})

it('R-REC.7 R-REC.8 labels and context are those of the chat, comments an empty list', async () => {
  const { sim, api } = await setUp()
  const context = { order: '100-1', nested: { items: [1, null, 'x'] } }
  const chat = await sim.chat({ labels: ['vip', 'delivery'], context })
  expect((await api.chat(chat.id)).body.chat).toMatchObject({ comments: [], labels: ['vip', 'delivery'], context })
})

it('R-REC.11 R-MSG.1 R-MSG.3 R-MSG.4 from_bot distinguishes user and bot', async () => {
  const { api, chat } = await setUpChat({
    chat: { history: CONVERSATION, user: { firstName: 'Ada', lastName: 'Berg' } },
  })
  const { messages } = (await api.chat(chat.id)).body.chat
  expect(messages).toMatchObject([
    { from_bot: false, name: 'Ada Berg', message: 'Hei', buttons: [] },
    { from_bot: true, name: 'Nora', message: 'Hei! Hva gjelder det?', buttons: [{ label: 'Ordre' }] },
  ])
  expect(new Set(messages.map(message => message.id)).size).toBe(2)
})

it('R-MSG.5 R-MSG.6 exchange fields are null for the user, set and usersays for the bot', async () => {
  const { api, chat } = await setUpChat({ chat: { history: CONVERSATION } })
  const [user, bot] = (await api.chat(chat.id)).body.chat.messages
  expect(user).toMatchObject({ exchange_id: null, exchange_type: null })
  expect(bot).toMatchObject({ exchange_id: expect.any(String), exchange_type: 'usersays' })
})

it('R-REC.10 taken_over is true while an agent is in the chat', async () => {
  const { api, chat } = await setUpHandover()
  expect((await api.chat(chat.id)).body.chat.taken_over).toBe(true)
  await api.end({ chat_id: chat.id })
  expect((await api.chat(chat.id)).body.chat.taken_over).toBeNull()
})

it('W10 R-REC.11 the record has the whole history: user, bot, notices, agent', async () => {
  const { api, chat } = await setUpHandover({ chat: { history: CONVERSATION } })
  await api.message({ chat_id: chat.id, message: 'Kari here', sender: AGENT })
  await chat.says('Great')
  await api.end({ chat_id: chat.id })
  const { messages } = (await api.chat(chat.id)).body.chat
  expect(messages.map(message => message.message)).toEqual([
    'Hei',
    'Hei! Hva gjelder det?',
    'Kari has joined the chat.',
    'Kari here',
    'Great',
    'Kari has left the chat.',
  ])
})

it('E1.1 E1.2 E1.3 EV10 R-REC.12 answers TRANSCRIPT with id, bot_id and messages', async () => {
  const { sim, api, chat } = await setUpChat({ chat: { history: CONVERSATION } })
  const { status, body } = await api.transcript({ chat_id: chat.id })
  expect(status).toBe(200)
  expect(body).toMatchObject({ event: 'TRANSCRIPT', chat: { id: chat.id, bot_id: sim.botId } })
  expect(body.chat.messages).toHaveLength(2)
  expect(Object.keys(body.chat).length).toBeGreaterThan(3)
})

it('E1.4 messages are those before the handover request', async () => {
  const { api, chat } = await setUpChat({ chat: { history: CONVERSATION } })
  await chat.press('handover')
  await chat.says('are you there?')
  await api.start({ chat_id: chat.id })
  await api.message({ chat_id: chat.id, message: 'Yes', sender: AGENT })
  const { messages } = (await api.transcript({ chat_id: chat.id })).body.chat
  expect(messages.map(message => message.message)).toEqual(['Hei', 'Hei! Hva gjelder det?'])
})

it('E1.4 a later request moves the end of the transcript', async () => {
  const { api, chat } = await setUpChat({ chat: { history: CONVERSATION } })
  await chat.press('handover')
  await api.start({ chat_id: chat.id })
  await api.end({ chat_id: chat.id })
  await chat.press('handover')
  const { messages } = (await api.transcript({ chat_id: chat.id })).body.chat
  expect(messages.at(-1)?.message).toBe('An agent has left the chat.')
})

it.each(['record', 'minimal'] as const)('R-REC.12 transcript.handover=%s keeps the three fields', async form => {
  const { sim, api, chat } = await setUpChat({
    knobs: { 'transcript.handover': form },
    chat: { history: CONVERSATION },
  })
  const { chat: answered } = (await api.transcript({ chat_id: chat.id })).body
  expect(answered).toMatchObject({ id: chat.id, bot_id: sim.botId })
  if (form === 'minimal') expect(Object.keys(answered)).toEqual(['id', 'bot_id', 'messages'])
})

it('R-REC.9 R-REC.10 transcript knobs change state, source, taken_over and add fields', async () => {
  const knobs = {
    'transcript.state': ['agent=taken_over'],
    'transcript.source': ['web=widget'],
    'transcript.takenOver': 'time',
    'transcript.extra': ['channel=chat'],
    'transcript.agentFromBot': 'off',
  } as const
  const { api, chat } = await setUpHandover({ knobs })
  await api.message({ chat_id: chat.id, message: 'hi', sender: AGENT })
  const record = (await api.chat(chat.id)).body.chat
  expect(record).toMatchObject({ state: 'taken_over', source: 'widget', channel: 'chat' })
  expect(record.taken_over).toMatch(MICROS)
  expect(record.messages.at(-1)?.from_bot).toBe(false)
})

it('R-REC.2 chat.idleTimeout ends a silent chat; a message revives it', async () => {
  const { sim, api, chat } = await setUpChat({ knobs: { 'chat.idleTimeout': '10m' } })
  const active = async () => (await api.chat(chat.id)).body.chat.active
  await sim.clock.advance('9m')
  await chat.says('still here')
  await sim.clock.advance('9m')
  expect(await active()).toBe(true)
  await sim.clock.advance('1m')
  expect(await active()).toBe(false)
  await chat.says('back')
  expect(await active()).toBe(true)
})
