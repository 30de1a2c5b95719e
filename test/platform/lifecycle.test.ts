import { describe, expect, it } from 'vitest'
import { AGENT, takenOver, transcriptLines } from '../support/chats.ts'
import { inProcess, setUp, setUpChat } from '../support/test-simulator.ts'

describe('chats of one simulator', () => {
  it('W1 chats created at the same time get their ids in the order of the calls, and different persons', async () => {
    const make = async (languages: string[]) => {
      const { sim } = await setUp()
      return Promise.all(languages.map(language => sim.chat({ language, history: [{ user: 'hi' }] })))
    }
    const languages = ['nb', 'en', 'de', 'en', 'ar', 'en']
    const chats = await make(languages)
    expect(chats.map(chat => chat.view().language)).toEqual(languages)
    expect(new Set(chats.map(chat => chat.transcript[0]!.name)).size).toBe(6)
    const again = await make(languages)
    expect(again.map(chat => chat.view())).toEqual(chats.map(chat => chat.view()))
  })

  it('W1 other chats do not change the ids of a chat', async () => {
    const script = async (noise: boolean) => {
      const harness = await setUp()
      const [chat, other] = [await harness.sim.chat(), await harness.sim.chat()]
      if (noise) {
        await other.says('hello')
        await harness.api.end({ chat_id: other.id })
      }
      const idle = await harness.api.end({ chat_id: chat.id })
      await chat.press('handover')
      return [idle.body.chatmessage_id, chat.id, ...chat.transcript.map(({ id }) => id)]
    }
    expect(await script(true)).toEqual(await script(false))
  })

  it('W10 an id that is taken, an unknown bot and an unknown conversation are refused by name', async () => {
    const { sim } = await setUp()
    await sim.chat({ id: 'mine' })
    await expect(sim.chat({ id: 'mine' })).rejects.toThrow('"mine"')
    for (const id of ['', '\ud800']) await expect(sim.chat({ id })).rejects.toThrow('id must be')
    await expect(sim.chat({ botId: 3 })).rejects.toThrow('bot_id 3')
    await expect(sim.chat({ transcript: 'nb-shopp' as never })).rejects.toThrow('did you mean nb-shop?')
  })

  it('W10 R-REC.11 a shipped conversation is in the transcript as it was written', async () => {
    const { api, chat } = await setUpChat({ chat: { transcript: 'nb-shop' } })
    const record = (await api.chat(chat.id)).body.chat
    expect(record.language_code).toBe('nb')
    expect(record.messages.length).toBeGreaterThan(4)
    expect(record.context).toMatchObject({ order_number: '100-48213' })
    expect((await api.summarize({ chat_id: chat.id })).status).toBe(200)
  })
})

it('W6 changes of webhook URL, API key, texts and hours have effect at once', async () => {
  const { sim, api, hook } = await setUp()
  await sim.configure({
    'webhook.url': 'https://desk.example.test/new',
    'keys.handover': 'fresh-key',
    'messages.open': 'Somebody is coming.',
    business_hours: { time_zone: 'UTC', mon: '09:00-10:00' },
  })
  const chat = await sim.chat()
  await chat.press('handover')
  expect(transcriptLines(chat)).toEqual(['bot: Somebody is coming.'])
  expect(hook.received[0]?.url).toBe('https://desk.example.test/new')
  expect((await api.start({ chat_id: chat.id }, { key: 'fresh-key' })).status).toBe(200)
  await sim.clock.advance('1h')
  await (await sim.chat()).press('handover')
  expect(hook.received).toHaveLength(1)
})

it.each(['webhook.urll', 'toString', '__proto__x', 'constructor'])(
  'W6 %s is not a setting, and nothing is set',
  async name => {
    const { sim } = await setUp()
    const before = sim.config()
    await expect(sim.configure({ 'messages.open': 'x', [name]: 1 })).rejects.toThrow(`${name} is not`)
    expect(sim.config()).toEqual(before)
  },
)

it('W10 forgets chats, journal, timers and availability; the same steps give the same ids again', async () => {
  const harness = await setUp()
  const run = async () => {
    const chat = await takenOver(harness)
    await harness.api.typingStart({ chat_id: chat.id, timeout: 1000 })
    await harness.api.availability({ availability: 'CLOSED' })
    await harness.sim.settled()
    return chat.view()
  }
  const first = await run()
  harness.sim.reset()
  expect([harness.sim.chats(), harness.sim.journal.query()]).toEqual([[], []])
  expect((await harness.api.chat(first.chatId)).status).toBe(404)
  const fresh = await harness.sim.chat()
  await fresh.press('handover')
  expect(harness.hook.events().at(-1)).toBe('REQUESTING TAKEOVER')
  harness.sim.reset()
  expect(await run()).toEqual(first)
})

it('ST11 a message that is being translated is dropped', async () => {
  const waiting: (() => void)[] = []
  const translate = (text: string) => new Promise<string>(resolve => waiting.push(() => resolve(text)))
  const harness = await setUp(inProcess, { translate })
  const sender = { ...AGENT, language_codes: ['en'] }
  const chat = await takenOver(harness, { sender }, { language: 'nb' })
  const said = chat.says('hei').then(
    () => 'done',
    () => 'refused',
  )
  harness.sim.reset()
  const fresh = await harness.sim.chat({ language: 'nb', id: chat.id })
  await fresh.says('hello')
  const seen = harness.sim.journal.query().length
  for (const finish of waiting) finish()
  expect(await said).toBe('refused')
  await harness.sim.settled()
  expect(harness.sim.journal.query()).toHaveLength(seen)
  expect(transcriptLines(fresh)).toEqual(['user: hello', 'bot: Hei! Hva kan jeg hjelpe deg med?'])
  expect(harness.hook.events()).toEqual([])
})

it('ST11 a delivery in flight is cancelled and adds no entry', async () => {
  const harness = await setUp()
  let arrived = () => {}
  const reached = new Promise<void>(resolve => {
    arrived = resolve
  })
  harness.hook.answerWith(() => {
    arrived()
    return new Promise(() => {})
  })
  const chat = await harness.sim.chat()
  const pressed = chat.press('handover').catch((error: Error) => error.message)
  await reached
  harness.sim.reset()
  expect(await pressed).toContain('reset')
  await harness.sim.settled()
  expect(harness.sim.journal.query()).toEqual([])
})
