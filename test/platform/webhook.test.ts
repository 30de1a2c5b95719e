import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { setUpChat, setUpHandover } from '../support/test-simulator.ts'

it('EV1 EV2 EV4 EV6 R-BOT R-CHAT.1 R-USER the events have bot, chat, user and the message, and no other field', async () => {
  const { sim, api, hook, chat } = await setUpChat({ bot: { id: 55, name: 'Nora' }, chat: { language: 'nb' } })
  await chat.press('handover')
  await api.start({ chat_id: chat.id })
  await chat.says('Hei "du" 👋')
  const self = `${sim.baseUrl}/api/v1/chats/${chat.id}`
  const common = {
    bot: { id: 55, name: 'Nora' },
    chat: { _links: { self }, id: chat.id, language: 'nb', source: 'web' },
    user: { id: chat.userId },
  }
  expect(hook.received.map(({ payload }) => payload)).toEqual([
    { ...common, event: 'REQUESTING TAKEOVER' },
    { ...common, event: 'MESSAGE FROM USER', message: 'Hei "du" 👋' },
  ])
  expect(chat.userId).toMatch(/^[0-9a-f]+$/)
  expect((await api.chat(chat.id)).body.chat.recipient_id).toBe(chat.userId)
})

it.each(['plain', 'with space/slash?&#ü'])('R-CHAT.2 E9.4 E0.1 _links.self opens the record of chat %j', async id => {
  const { sim, hook, api, chat } = await setUpChat({ chat: { id } })
  await chat.press('handover')
  const { self } = hook.payloadsOf('REQUESTING TAKEOVER')[0]!.chat._links
  expect(self.startsWith(`${sim.baseUrl}/api/v1/chats/`)).toBe(true)
  const opened = await api.chat(id, { path: self.slice(sim.baseUrl.length) })
  expect([opened.status, opened.body.chat?.id]).toEqual([200, id])
})

it.each(['web', 'facebook', 'slack'])('R-CHAT.3 R-CHAT.4 language and source are of the chat: %s', async source => {
  const { hook, chat } = await setUpChat({ chat: { language: 'de', source } })
  await chat.press('handover')
  expect(hook.payloadsOf('REQUESTING TAKEOVER')[0]?.chat).toMatchObject({ language: 'de', source })
})

it('WH1 WH5 W5 every event is a POST with a JSON body to the one configured URL', async () => {
  const url = 'https://desk.example.test/hook?team=1'
  const { sim, api, hook, chat } = await setUpHandover({ webhook: { url } })
  await chat.says('hi')
  await api.typingStart({ chat_id: chat.id })
  await chat.press('handover')
  await sim.settled()
  expect(hook.events().sort()).toEqual(['AGENT TYPING START', 'MESSAGE FROM USER', 'REQUESTING TAKEOVER'])
  for (const event of hook.received) {
    expect([event.url, event.method]).toEqual([url, 'POST'])
    expect(event.headers.get('content-type')).toMatch(/^application\/json/)
  }
})

it.each([
  [200, 'delivered'],
  [500, 'failed'],
])('WH2 WH3 ST4 an answer %i to an event counts as %s and leaves the chat as it is', async (status, outcome) => {
  const { sim, api, hook, chat } = await setUpChat()
  hook.answerWith(status)
  expect((await chat.press('handover')).ack?.status).toBe(status)
  await api.start({ chat_id: chat.id })
  await chat.says('hello')
  expect(sim.deliveries.map(one => one.outcome)).toEqual([outcome, outcome])
  expect(chat.status).toBe('agent')
})

it('A4 WH6 events are signed with the key of their bot, also after it was replaced', async () => {
  const { sim, hook, chat } = await setUpChat({ knobs: { 'keys.more': ['second-key:2002'] } })
  await sim.configure({ 'keys.handover': 'new-key' })
  await chat.press('handover')
  await (await sim.chat({ botId: 2002 })).press('handover')
  const sign = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64')
  expect(hook.received.map(({ headers }) => headers.get('kindly-hmac'))).toEqual(
    hook.received.map(({ text }, index) => sign(['new-key', 'second-key'][index]!, text)),
  )
})

it('WH1 a broken webhook causes a failed delivery with a reason, and the chat continues', async () => {
  const { hook, chat } = await setUpChat()
  hook.answerWith(() => Promise.reject(new Error('the desk is on fire')))
  const { ack } = await chat.press('handover')
  expect(ack).toMatchObject({ status: null, error: expect.stringContaining('the desk is on fire') })
  expect(chat.status).toBe('pending')
})
