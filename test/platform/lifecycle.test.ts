import { describe, expect, it } from 'vitest'
import { setUp } from '../support/bench.ts'
import { describeDoors } from '../support/doors.ts'
import { AGENT, lines, takenOver } from '../support/talk.ts'

describe('chats of one simulator', () => {
  it('W1 chats made side by side get their ids in the order they were asked for, and persons of their own', async () => {
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

  it('W1 a chat keeps its ids whatever happens in other chats', async () => {
    const script = async (noise: boolean) => {
      const bench = await setUp()
      const [chat, other] = [await bench.sim.chat(), await bench.sim.chat()]
      if (noise) {
        await other.says('hello')
        await bench.api.end({ chat_id: other.id })
      }
      const idle = await bench.api.end({ chat_id: chat.id })
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
    await expect(sim.chat({ transcript: 'nb-shopp' })).rejects.toThrow('did you mean nb-shop?')
  })

  it('W10 R-REC.11 a shipped conversation stands in the transcript as it was written', async () => {
    const { sim, api } = await setUp()
    const chat = await sim.chat({ transcript: 'nb-shop' })
    const record = (await api.chat(chat.id)).body.chat
    expect(record.language_code).toBe('nb')
    expect(record.messages.length).toBeGreaterThan(4)
    expect(record.context).toMatchObject({ order_number: '100-48213' })
    expect((await api.summarize({ chat_id: chat.id })).status).toBe(200)
  })
})

describeDoors('the settings of the workspace', door => {
  it('W6 webhook URL, API key, texts and hours can be set while it runs, each with effect at once', async () => {
    const { sim, api, hook } = await setUp(door)
    await sim.configure({
      'webhook.url': 'https://desk.example.test/new',
      'keys.handover': 'fresh-key',
      'messages.open': 'Somebody is coming.',
      business_hours: { time_zone: 'UTC', mon: '09:00-10:00' },
    })
    const chat = await sim.chat()
    await chat.press('handover')
    expect(lines(chat)).toEqual(['bot: Somebody is coming.'])
    expect(hook.received[0]?.url).toBe('https://desk.example.test/new')
    expect((await api.start({ chat_id: chat.id }, { key: 'fresh-key' })).status).toBe(200)
    await sim.clock.advance('1h')
    await (await sim.chat()).press('handover')
    expect(hook.received).toHaveLength(1)
  })

  it.each(['webhook.urll', 'toString', '__proto__x', 'constructor'])(
    'W6 %s is no setting, and nothing is set',
    async name => {
      const { sim } = await setUp(door)
      const before = sim.config()
      await expect(sim.configure({ 'messages.open': 'x', [name]: 1 })).rejects.toThrow(`${name} is not`)
      expect(sim.config()).toEqual(before)
    },
  )
})

describeDoors('reset', door => {
  it('W10 forgets chats, journal, timers and availability; the same steps give the same ids again', async () => {
    const bench = await setUp(door)
    const run = async () => {
      const chat = await takenOver(bench)
      await bench.api.typingStart({ chat_id: chat.id, timeout: 1000 })
      await bench.api.availability({ availability: 'CLOSED' })
      await bench.sim.settled()
      return chat.view()
    }
    const first = await run()
    bench.sim.reset()
    expect([bench.sim.chats(), bench.sim.journal.query()]).toEqual([[], []])
    expect((await bench.api.chat(first.chat_id)).status).toBe(404)
    const fresh = await bench.sim.chat()
    await fresh.press('handover')
    expect(bench.hook.events().at(-1)).toBe('REQUESTING TAKEOVER')
    bench.sim.reset()
    expect(await run()).toEqual(first)
  })

  it('ST11 what a translation still had under way is never seen again', async () => {
    const waiting: (() => void)[] = []
    const translate = (text: string) => new Promise<string>(resolve => waiting.push(() => resolve(text)))
    const bench = await setUp(door, { translate })
    const sender = { ...AGENT, language_codes: ['en'] }
    const chat = await takenOver(bench, { sender }, { language: 'nb' })
    const said = chat.says('hei').then(
      () => 'done',
      () => 'refused',
    )
    bench.sim.reset()
    const fresh = await bench.sim.chat({ language: 'nb', id: chat.id })
    await fresh.says('hello')
    const seen = bench.sim.journal.query().length
    for (const finish of waiting) finish()
    expect(await said).toBe('refused')
    await bench.sim.settled()
    expect(bench.sim.journal.query()).toHaveLength(seen)
    expect(lines(fresh)).toEqual(['user: hello', 'bot: Hei! Hva kan jeg hjelpe deg med?'])
    expect(bench.hook.events()).toEqual([])
  })

  it('ST11 a delivery under way is cancelled and leaves no entry', async () => {
    const bench = await setUp(door)
    let arrived = () => {}
    const reached = new Promise<void>(resolve => {
      arrived = resolve
    })
    bench.hook.answerWith(() => {
      arrived()
      return new Promise(() => {})
    })
    const chat = await bench.sim.chat()
    const pressed = chat.press('handover').catch((error: Error) => error.message)
    await reached
    bench.sim.reset()
    expect(await pressed).toContain('reset')
    await bench.sim.settled()
    expect(bench.sim.journal.query()).toEqual([])
  })
})
