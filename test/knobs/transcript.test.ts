/** The transcript record where the platform shows only a sample. */
import { expect, test } from 'vitest'
import { assumedBy, post, sends, takenOver, transcript, world } from './support.ts'

test('transcript.state: is always chatting, or a word per status', async () => {
  const { sim } = world()
  const [bot, pending, agent] = [await sim.chat(), await sim.chat(), await takenOver(sim)]
  await pending.press('handover')
  const states = async () => [
    (await transcript(sim, bot)).state,
    (await transcript(sim, pending)).state,
    (await transcript(sim, agent)).state,
  ]
  expect(await states()).toEqual(['chatting', 'chatting', 'chatting'])
  await sim.configure({ 'transcript.state': ['agent=taken_over', 'pending=waiting for a person'] })
  expect(await states()).toEqual(['chatting', 'waiting for a person', 'taken_over'])
})

test('transcript.source: shows chatbubble for web and other sources unchanged, or the configured words; events do not change', async () => {
  const { sim, inbox } = world()
  const [web, slack] = [await sim.chat({ source: 'web' }), await sim.chat({ source: 'slack' })]
  const sources = async () => [(await transcript(sim, web)).source, (await transcript(sim, slack)).source]
  expect(await sources()).toEqual(['chatbubble', 'slack'])
  await sim.configure({ 'transcript.source': ['slack=workspace', 'web=widget'] })
  expect(await sources()).toEqual(['widget', 'workspace'])
  await sim.configure({ 'transcript.source': 'off' })
  expect(await sources()).toEqual(['web', 'slack'])
  await web.press('handover')
  expect(inbox[0]!.json.chat.source).toBe('web')
})

test('transcript.takenOver: shows true, null, or the time of start; null without an agent', async () => {
  const { sim } = world()
  const [idle, taken] = [await sim.chat(), await takenOver(sim)]
  const values = async () => [(await transcript(sim, idle)).taken_over, (await transcript(sim, taken)).taken_over]
  expect(await values()).toEqual([null, true])
  await sim.configure({ 'transcript.takenOver': 'null' })
  expect(await values()).toEqual([null, null])
  await sim.configure({ 'transcript.takenOver': 'time' })
  expect(await values()).toEqual([null, expect.stringMatching(/^2024-01-01T09:00:00\.\d{6}Z$/)])
})

test('transcript.extra: adds no field, or the configured ones', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const plain = await transcript(sim, chat)
  expect(plain.comments).toEqual([])
  await sim.configure({ 'transcript.extra': ['channel=widget', 'query=a=b', 'empty='] })
  expect(await transcript(sim, chat)).toEqual({ ...plain, channel: 'widget', query: 'a=b', empty: '' })
})

test('transcript.handover: returns the whole record, or id, bot and messages', async () => {
  const { sim } = world()
  const chat = await sim.chat({ history: [{ user: 'Hi' }, { bot: 'Hello' }] })
  const record = await post(sim, 'transcript', chat)
  expect(record.json.chat).toEqual(await transcript(sim, chat))
  expect(assumedBy(record)).toContain('transcript.handover')
  await sim.configure({ 'transcript.handover': 'minimal' })
  const minimal = await post(sim, 'transcript', chat)
  expect(Object.keys(minimal.json.chat)).toEqual(['id', 'bot_id', 'messages'])
  expect(minimal.json.chat.messages).toEqual(record.json.chat.messages)
})

test('transcript.handover: ends before the latest request, and is complete without one', async () => {
  const { sim } = world()
  const chat = await sim.chat({ history: [{ user: 'One' }] })
  const lines = async () =>
    (await post(sim, 'transcript', chat)).json.chat.messages.map((m: { message: string }) => m.message)
  expect(await lines()).toEqual(['One'])
  await chat.press('handover')
  await chat.says('Two')
  expect(await lines()).toEqual(['One'])
  await chat.press('handover')
  expect(await lines()).toHaveLength(4)
})

test('transcript.agentFromBot: marks messages of an agent as from_bot, or not', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  await sends(sim, chat, 'Hello')
  const lastMessage = async () => (await transcript(sim, chat)).messages.at(-1)
  expect(await lastMessage()).toMatchObject({ from_bot: true, name: 'Kim', exchange_id: null, exchange_type: null })
  await sim.configure({ 'transcript.agentFromBot': 'off' })
  expect(await lastMessage()).toMatchObject({ from_bot: false, name: 'Kim', exchange_id: null })
})

test('transcript.noticeExchange: gives notices of the workspace an exchange id, or none', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  await chat.press('handover')
  await post(sim, 'start', chat)
  const notices = async () => (await transcript(sim, chat)).messages
  const [opened, entered] = await notices()
  expect(opened).toMatchObject({ exchange_id: expect.stringMatching(UUID), exchange_type: null })
  expect(entered).toMatchObject({ exchange_id: expect.stringMatching(UUID), exchange_type: null })
  expect(entered.exchange_id).not.toBe(opened.exchange_id)
  await sim.configure({ 'transcript.noticeExchange': 'off' })
  expect(await notices()).toEqual([
    { ...opened, exchange_id: null },
    { ...entered, exchange_id: null },
  ])
  await sim.configure({ 'transcript.noticeExchange': 'on', 'ids.exchange': 'hex24' })
  expect((await notices())[0].exchange_id).toMatch(HEX24)
})

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const HEX24 = /^[0-9a-f]{24}$/

test('ids.chat, ids.message, ids.user, ids.exchange: set the forms of ids', async () => {
  const { sim } = world()
  const idsOfNewChat = async () => {
    const chat = await sim.chat({ history: [{ bot: 'Hello' }] })
    const [message] = (await transcript(sim, chat)).messages
    return { chat: chat.id, user: chat.userId, message: message.id, exchange: message.exchange_id }
  }
  const matching = (chat: RegExp, user: RegExp, message: RegExp, exchange: RegExp) => ({
    chat: expect.stringMatching(chat),
    user: expect.stringMatching(user),
    message: expect.stringMatching(message),
    exchange: expect.stringMatching(exchange),
  })
  expect(await idsOfNewChat()).toEqual(matching(UUID, HEX24, HEX24, UUID))
  await sim.configure({ 'ids.chat': 'hex24' })
  expect(await idsOfNewChat()).toEqual(matching(HEX24, HEX24, HEX24, UUID))
  await sim.configure({ 'ids.user': 'hex32' })
  expect(await idsOfNewChat()).toEqual(matching(HEX24, /^[0-9a-f]{32}$/, HEX24, UUID))
  await sim.configure({ 'ids.message': 'uuid' })
  expect(await idsOfNewChat()).toEqual(matching(HEX24, /^[0-9a-f]{32}$/, UUID, UUID))
  await sim.configure({ 'ids.exchange': 'hex24' })
  expect(await idsOfNewChat()).toEqual(matching(HEX24, /^[0-9a-f]{32}$/, UUID, HEX24))
})
