import { expect, it } from 'vitest'
import { AGENT } from '../support/chats.ts'
import { setUpChat, setUpHandover } from '../support/test-simulator.ts'

const MICROS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const CONVERSATION = [{ user: 'Hei' }, { bot: 'Hei! Hva gjelder det?', buttons: [{ label: 'Ordre' }] }]
const texts = (messages: readonly { message: string }[]) => messages.map(({ message }) => message)

it('R-REC.1 E9.1 E9.3 W10 ER2 GET chats/{chatId} answers 200 with chat as the only key, and the published fields', async () => {
  const { api, chat } = await setUpChat({ chat: { history: CONVERSATION } })
  const { status, body } = await api.chat(chat.id)
  expect([status, Object.keys(body)]).toEqual([200, ['chat']])
  const published =
    'active bot_id organization_id bot_name comments context created first_name full_name gender id labels ' +
    'language_code last_name recipient_id source state taken_over updated messages'
  expect(Object.keys(body.chat).sort()).toEqual(published.split(' ').sort())
  const fields = ['id', 'created', 'from_bot', 'name', 'message', 'buttons', 'exchange_id', 'exchange_type']
  expect(Object.keys(body.chat.messages[0]!).sort()).toEqual(fields.sort())
})

it('R-REC.2 R-REC.3 R-REC.4 R-REC.7 R-REC.8 R-REC.9 R-REC.10 the record identifies chat, bot and user', async () => {
  const context = { order: '100-1', nested: { items: [1, null, 'x'] } }
  const { api, chat } = await setUpChat({
    bot: { id: 55, name: 'Nora', organizationId: 9 },
    chat: { language: 'nb', labels: ['vip', 'delivery'], context },
  })
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
    comments: [],
    labels: ['vip', 'delivery'],
    context,
  })
})

it.each([
  [{ firstName: 'Ada', lastName: 'Berg', gender: 'female' }, ['Ada', 'Berg', 'Ada Berg', 'female']],
  [null, [null, null, null, null]],
] as const)('R-REC.5 the user %j has a full name, or no name', async (user, names) => {
  const { api, chat } = await setUpChat({ chat: { user } })
  const { first_name, last_name, full_name, gender } = (await api.chat(chat.id)).body.chat
  expect([first_name, last_name, full_name, gender]).toEqual(names)
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

it('R-REC.11 R-MSG.1 R-MSG.3 R-MSG.4 R-MSG.5 R-MSG.6 from_bot and the exchange distinguish user and bot', async () => {
  const { api, chat } = await setUpChat({
    chat: { history: CONVERSATION, user: { firstName: 'Ada', lastName: 'Berg' } },
  })
  const { messages } = (await api.chat(chat.id)).body.chat
  const [user, bot] = [
    { from_bot: false, name: 'Ada Berg' },
    { from_bot: true, name: 'Nora' },
  ]
  expect(messages).toMatchObject([
    { ...user, message: 'Hei', buttons: [], exchange_id: null, exchange_type: null },
    { ...bot, message: 'Hei! Hva gjelder det?', buttons: [{ label: 'Ordre' }], exchange_type: 'usersays' },
  ])
  expect(messages[1]!.exchange_id).toEqual(expect.any(String))
  expect(messages[0]!.id).not.toBe(messages[1]!.id)
})

it('W10 R-REC.10 R-REC.11 the record has the whole history, and taken_over is true while an agent is in the chat', async () => {
  const { api, chat } = await setUpHandover({ chat: { history: CONVERSATION } })
  await api.message({ chat_id: chat.id, message: 'Kari here', sender: AGENT })
  await chat.says('Great')
  expect((await api.chat(chat.id)).body.chat.taken_over).toBe(true)
  await api.end({ chat_id: chat.id })
  const record = (await api.chat(chat.id)).body.chat
  expect(record.taken_over).toBeNull()
  const agent = ['Kari has joined the chat.', 'Kari here', 'Great', 'Kari has left the chat.']
  expect(texts(record.messages)).toEqual(['Hei', 'Hei! Hva gjelder det?', ...agent])
})

it.each([
  ['record', expect.arrayContaining(['id', 'bot_id', 'messages', 'context'])],
  ['minimal', ['id', 'bot_id', 'messages']],
] as const)('E1.1 E1.2 E1.3 EV10 R-REC.12 TRANSCRIPT with transcript.handover=%s', async (form, keys) => {
  const { sim, api, chat } = await setUpChat({
    knobs: { 'transcript.handover': form },
    chat: { history: CONVERSATION },
  })
  const { status, body } = await api.transcript({ chat_id: chat.id })
  expect([status, body]).toMatchObject([200, { event: 'TRANSCRIPT', chat: { id: chat.id, bot_id: sim.botId } }])
  expect(texts(body.chat.messages)).toEqual(['Hei', 'Hei! Hva gjelder det?'])
  expect(Object.keys(body.chat)).toEqual(keys)
})

it('E1.4 messages are those before the handover request, and a later request moves the end', async () => {
  const { api, chat } = await setUpChat({ chat: { history: CONVERSATION } })
  await chat.press('handover')
  await chat.says('are you there?')
  await api.start({ chat_id: chat.id })
  await api.message({ chat_id: chat.id, message: 'Yes', sender: AGENT })
  const transcript = async () => texts((await api.transcript({ chat_id: chat.id })).body.chat.messages)
  expect(await transcript()).toEqual(['Hei', 'Hei! Hva gjelder det?'])
  await api.end({ chat_id: chat.id })
  await chat.press('handover')
  expect((await transcript()).at(-1)).toBe('An agent has left the chat.')
})
