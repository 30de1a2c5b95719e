import { expect, it } from 'vitest'
import { AGENT, lastMessage, transcriptLines } from '../support/chats.ts'
import { setUpChat, setUpHandover } from '../support/test-simulator.ts'

it('EV15 E6.1 E6.2 E6.3 E6.5 E6.7 R-SENDER.3 R-SENDER.4 message confirms with the id of the message the user sees', async () => {
  const { api, chat } = await setUpHandover()
  const sender = { ...AGENT, name: 'Ola Nordmann' }
  const { status, body } = await api.message({ chat_id: chat.id, message: 'Hello!', sender })
  const { id } = lastMessage(chat)
  expect([status, body]).toEqual([200, { event: 'MESSAGE SENT TO USER', chat_id: chat.id, chatmessage_id: id }])
  expect(lastMessage(chat)).toMatchObject({ from: 'agent', name: 'Ola Nordmann', text: 'Hello!', buttons: [] })
})

it('E6.6 a queue notice of the system can be sent before a takeover', async () => {
  const { api, chat } = await setUpChat()
  await chat.press('handover')
  const sender = { name: 'Queue', avatar: 'https://desk.example.test/queue.png' }
  expect((await api.message({ chat_id: chat.id, message: 'You are number 3.', sender })).status).toBe(200)
  expect(lastMessage(chat)).toMatchObject({ from: 'agent', name: 'Queue', text: 'You are number 3.' })
  expect(chat.status).toBe('pending')
})

it('R-BTN E6.4 buttons reach the user as they were sent and can be pressed', async () => {
  const { api, chat } = await setUpHandover()
  const buttons = [{ label: 'Read more', url: 'https://shop.example.test/help', style: { tone: 'quiet' } }]
  await api.message({ chat_id: chat.id, message: 'See this', sender: AGENT, buttons })
  expect(lastMessage(chat).buttons).toEqual(buttons)
  expect((await api.chat(chat.id)).body.chat.messages.at(-1)?.buttons).toEqual(buttons)
  expect(await chat.press('Read more')).toMatchObject({ messageId: null, deliveryId: null, ack: null })
})

it.each([
  ['no sender', {}, 'Kari'],
  ['no name', { sender: { avatar: AGENT.avatar } }, 'Kari'],
  ['no avatar', { sender: { name: 'Ola' } }, 'Ola'],
])('R-SENDER.3 %s on message is accepted with a finding', async (_, extra, name) => {
  const { sim, api, chat } = await setUpHandover()
  const sent = await api.message({ chat_id: chat.id, message: 'hi', ...extra })
  expect([sent.status, sent.headers.get('x-handover-sim-unspecified')]).toEqual([200, 'strict.sender'])
  expect(lastMessage(chat).name).toBe(name)
  expect(sim.journal.query({ kind: 'api' }).at(-1)).toMatchObject({ findings: [{ rule: 'R-SENDER.4' }] })
})

it('R-SENDER.1 R-SENDER.2 start and end take any part of a sender, or none', async () => {
  const { sim, api, chat } = await setUpChat()
  for (const sender of [undefined, {}, { name: 'A' }, { avatar: 'https://a.example.test/x.png' }, AGENT]) {
    const body = { chat_id: chat.id, ...(sender ? { sender } : {}) }
    expect([(await api.start(body)).status, (await api.end(body)).status]).toEqual([200, 200])
  }
  expect(sim.journal.query({ kind: 'api' }).flatMap(({ findings }) => findings)).toEqual([])
})

it('E6.2 E6.5 texts arrive in order and unchanged: line breaks, quotes, emoji, right-to-left, a lone NUL', async () => {
  const { api, chat } = await setUpHandover()
  const texts = ['a\r\nb\tc', '"\\/', '👩‍👩‍👧‍👦 ünï', 'مرحبا', ' \u0000 ', '</script>', ' padded ', '1', '2', '3']
  for (const message of texts) await api.message({ chat_id: chat.id, message, sender: AGENT })
  expect(transcriptLines(chat).slice(1)).toEqual(texts.map(text => `agent: ${text}`))
})
