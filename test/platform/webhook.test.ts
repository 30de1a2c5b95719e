import { expect, it } from 'vitest'
import { takenOver } from '../support/chats.ts'
import { inProcess, setUp, setUpChat, setUpHandover } from '../support/test-simulator.ts'

it('EV1 EV2 R-BOT R-CHAT.1 R-USER REQUESTING TAKEOVER has bot, chat and user, and no other field', async () => {
  const { sim, hook, chat } = await setUpChat({ bot: { id: 55, name: 'Nora' }, chat: { language: 'nb' } })
  await chat.press('handover')
  const self = `${sim.baseUrl}/api/v1/chats/${chat.id}`
  expect(hook.received[0]?.payload).toEqual({
    event: 'REQUESTING TAKEOVER',
    bot: { id: 55, name: 'Nora' },
    chat: { _links: { self }, id: chat.id, language: 'nb', source: 'web' },
    user: { id: chat.userId },
  })
})

it('EV4 EV6 MESSAGE FROM USER has bot, chat, user and the message', async () => {
  const { api, hook, chat } = await setUpChat()
  await chat.press('handover')
  await api.start({ chat_id: chat.id })
  await chat.says('Hei "du" 👋')
  const [requested, said] = hook.received.map(({ payload }) => payload)
  expect(said).toEqual({ ...requested, event: 'MESSAGE FROM USER', message: 'Hei "du" 👋' })
})

it('R-USER the user id is hexadecimal, the same in every event and in the record', async () => {
  const { api, hook, chat } = await setUpChat()
  await chat.press('handover')
  await chat.press('handover')
  const ids = hook.payloadsOf('REQUESTING TAKEOVER').map(payload => payload.user.id)
  expect(ids[0]).toMatch(/^[0-9a-f]+$/)
  expect(ids).toEqual([chat.userId, chat.userId])
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

it.each(['web', 'facebook', 'slack'])(
  'R-CHAT.3 R-CHAT.4 language and source %s are those of the chat',
  async source => {
    const { hook, chat } = await setUpChat({ chat: { language: 'de', source } })
    await chat.press('handover')
    expect(hook.payloadsOf('REQUESTING TAKEOVER')[0]?.chat).toMatchObject({ language: 'de', source })
  },
)

it('WH1 WH5 W5 every event is a POST with a JSON body to the one configured URL', async () => {
  const { sim, api, hook, chat } = await setUpHandover({ webhook: { url: 'https://desk.example.test/hook?team=1' } })
  await chat.says('hi')
  await api.typingStart({ chat_id: chat.id })
  await chat.press('handover')
  await sim.settled()
  expect(new Set(hook.events())).toEqual(new Set(['MESSAGE FROM USER', 'AGENT TYPING START', 'REQUESTING TAKEOVER']))
  for (const { url, method, headers } of hook.received) {
    expect([url, method]).toEqual(['https://desk.example.test/hook?team=1', 'POST'])
    expect(headers.get('content-type')).toMatch(/^application\/json/)
  }
})

it.each([
  [200, 'delivered'],
  [201, 'failed'],
  [204, 'failed'],
  [302, 'failed'],
  [400, 'failed'],
  [500, 'failed'],
])('WH2 WH3 ST4 an answer %i to an event counts as %s and leaves the chat as it is', async (status, outcome) => {
  const harness = await setUp()
  harness.hook.answerWith(status)
  const chat = await harness.sim.chat()
  expect((await chat.press('handover')).ack?.status).toBe(status)
  await harness.api.start({ chat_id: chat.id })
  await chat.says('hello')
  expect(harness.sim.deliveries.map(one => [one.event, one.outcome])).toEqual([
    ['REQUESTING TAKEOVER', outcome],
    ['MESSAGE FROM USER', outcome],
  ])
  expect(chat.status).toBe('agent')
})

it('WH1 a broken webhook causes a failed delivery with a reason, and the chat continues', async () => {
  const { sim, hook } = await setUp()
  hook.answerWith(() => Promise.reject(new Error('the desk is on fire')))
  const chat = await sim.chat()
  const { ack } = await chat.press('handover')
  expect(ack).toMatchObject({ status: null, error: expect.stringContaining('the desk is on fire') })
  expect(chat.status).toBe('pending')
})

it('WH2 webhook.retry sends the same bytes again after each delay, until 200', async () => {
  const { sim, hook } = await setUp(inProcess, { knobs: { 'webhook.retry': ['1s', '5s'] } })
  hook.answerWith(() => (hook.received.length < 3 ? 503 : 200))
  await (await sim.chat()).press('handover')
  await sim.clock.advance('999ms')
  expect(hook.received).toHaveLength(1)
  await sim.clock.advance('1ms')
  await sim.clock.advance('5s')
  await sim.clock.advance('1h')
  expect(new Set(hook.received.map(one => one.text)).size).toBe(1)
  expect(sim.deliveries.map(one => [one.attempt, one.outcome])).toEqual([
    [1, 'failed'],
    [2, 'failed'],
    [3, 'delivered'],
  ])
})

it('EV1 events of one chat arrive in order, each after the answer to the one before', async () => {
  const harness = await setUp()
  let open = 0
  let most = 0
  harness.hook.answerWith(async () => {
    most = Math.max(most, ++open)
    await new Promise(resolve => setImmediate(resolve))
    open--
    return 200
  })
  const chat = await takenOver(harness)
  const texts = ['one', 'two', 'three', 'four']
  await Promise.all(texts.map(text => chat.says(text)))
  expect(harness.hook.payloadsOf('MESSAGE FROM USER').map(payload => payload.message)).toEqual(texts)
  expect(most).toBe(1)
})

it('EV1 a slow webhook answer delays no other chat', async () => {
  const { sim, hook } = await setUp()
  const [slow, quick] = [await sim.chat(), await sim.chat()]
  let release = () => {}
  const held = new Promise<number>(resolve => {
    release = () => resolve(200)
  })
  hook.answerWith(({ payload }) => ('user' in payload && payload.user.id === slow.userId ? held : 200))
  const waiting = slow.press('handover')
  expect((await quick.press('handover')).ack?.status).toBe(200)
  expect(sim.deliveries).toHaveLength(1)
  release()
  expect((await waiting).ack?.status).toBe(200)
})
