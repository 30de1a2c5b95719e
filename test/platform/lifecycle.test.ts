import { expect, it } from 'vitest'
import { AGENT, takenOver, transcriptLines } from '../support/chats.ts'
import { setUpChat, setUpHandover } from '../support/test-simulator.ts'

it('W1 chats created at the same time get their ids in the order of the calls, and different persons', async () => {
  const languages = ['nb', 'en', 'de', 'en', 'ar', 'en']
  const views = async () => {
    const { sim } = await setUpChat()
    const chats = await Promise.all(languages.map(language => sim.chat({ language, history: [{ user: 'hi' }] })))
    expect(new Set(chats.map(chat => chat.transcript[0]!.name)).size).toBe(6)
    return chats.map(chat => chat.view())
  }
  const created = await views()
  expect(created.map(({ language }) => language)).toEqual(languages)
  expect(await views()).toEqual(created)
})

it('W1 other chats do not change the ids of a chat', async () => {
  const idsOf = async (noise: boolean) => {
    const { sim, api, chat } = await setUpChat()
    const other = await sim.chat()
    if (noise) {
      await other.says('hello')
      await api.end({ chat_id: other.id })
    }
    const idle = await api.end({ chat_id: chat.id })
    await chat.press('handover')
    return [idle.body.chatmessage_id, chat.id, ...chat.transcript.map(({ id }) => id)]
  }
  expect(await idsOf(true)).toEqual(await idsOf(false))
})

it.each([
  [{ id: 'mine' }, '"mine"'],
  [{ id: '' }, 'id must be'],
  [{ id: '\ud800' }, 'id must be'],
  [{ botId: 3 }, 'bot_id 3'],
  [{ transcript: 'nb-shopp' as never }, 'did you mean nb-shop?'],
])('W10 sim.chat(%j) is refused: %s', async (options, message) => {
  const { sim } = await setUpChat({ chat: { id: 'mine' } })
  await expect(sim.chat(options)).rejects.toThrow(message)
})

it('W10 R-REC.11 a shipped conversation is in the transcript as it was written', async () => {
  const { api, chat } = await setUpChat({ chat: { transcript: 'nb-shop' } })
  const record = (await api.chat(chat.id)).body.chat
  expect(record.language_code).toBe('nb')
  expect(record.messages.length).toBeGreaterThan(4)
  expect(record.context).toMatchObject({ order_number: '100-48213' })
  expect((await api.summarize({ chat_id: chat.id })).status).toBe(200)
})

it('W6 changes of webhook URL, API key, texts and hours have effect at once', async () => {
  const { sim, api, hook, chat } = await setUpChat()
  await sim.configure({
    'webhook.url': 'https://desk.example.test/new',
    'keys.handover': 'fresh-key',
    'messages.open': 'Somebody is coming.',
    business_hours: { time_zone: 'UTC', mon: '09:00-10:00' },
  })
  await chat.press('handover')
  expect(transcriptLines(chat)).toEqual(['bot: Somebody is coming.'])
  expect(hook.received[0]?.url).toBe('https://desk.example.test/new')
  expect((await api.start({ chat_id: chat.id }, { key: 'fresh-key' })).status).toBe(200)
  await sim.clock.advance('1h')
  await (await sim.chat()).press('handover')
  expect(hook.received).toHaveLength(1)
})

it('W10 a reset forgets chats, journal, timers and availability; the same steps give the same ids again', async () => {
  const { chat: _, ...setup } = await setUpChat()
  const { sim, api, hook } = setup
  const takeOver = async () => {
    sim.reset()
    const chat = await takenOver(setup)
    await api.typingStart({ chat_id: chat.id, timeout: 1000 })
    await api.availability({ availability: 'CLOSED' })
    await sim.settled()
    return chat.view()
  }
  const first = await takeOver()
  sim.reset()
  expect([sim.chats(), sim.journal.query()]).toEqual([[], []])
  expect((await api.chat(first.chatId)).status).toBe(404)
  await (await sim.chat()).press('handover')
  expect(hook.events().at(-1)).toBe('REQUESTING TAKEOVER')
  expect(await takeOver()).toEqual(first)
})

it('ST11 a reset drops a message that is being translated', async () => {
  const translation = Promise.withResolvers<string>()
  const start = { sender: { ...AGENT, language_codes: ['en'] } }
  const { sim, hook, chat } = await setUpHandover({
    translate: () => translation.promise,
    start,
    chat: { language: 'nb' },
  })
  const said = expect(chat.says('hei')).rejects.toThrow('reset')
  sim.reset()
  const fresh = await sim.chat({ language: 'nb', id: chat.id })
  await fresh.says('hello')
  const entries = sim.journal.query()
  translation.resolve('hi')
  await said
  await sim.settled()
  expect(sim.journal.query()).toEqual(entries)
  expect(transcriptLines(fresh)).toEqual(['user: hello', 'bot: Hei! Hva kan jeg hjelpe deg med?'])
  expect(hook.events()).toEqual([])
})
