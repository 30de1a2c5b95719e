/** The texts of the bot in the language of the chat, and the conversations that chats begin with. */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { BOT_LANGUAGES, botTexts, TRANSCRIPT_NAMES } from '../../src/platform/contract/bot-texts.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { read } from '../docs/pages.ts'

const FOLDER = new URL('../../fixtures/transcripts/', import.meta.url)
const SHIPPED = TRANSCRIPT_NAMES.map(name => {
  const { bot_name: bot, history } = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as {
    bot_name: string
    history: object[]
  }
  return { name, bot, history }
})

it('every file of fixtures/transcripts is the conversation of one name', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(TRANSCRIPT_NAMES.map(name => `${name}.json`).sort())
})

function post(sim: PlatformSimulator, path: string, chat: string, body: object = {}) {
  const headers = { authorization: 'Bearer sim-handover-key', 'content-type': 'application/json' }
  const request = { bot_id: sim.botId, chat_id: chat, ...body }
  return sim.fetch(
    new Request(`${sim.baseUrl}/api/v2/handover/${path}`, { method: 'POST', headers, body: JSON.stringify(request) }),
  )
}

async function record(sim: PlatformSimulator, chat: string) {
  const headers = { authorization: 'Bearer sim-bot-key' }
  const response = await sim.fetch(new Request(`${sim.baseUrl}/api/v1/chats/${chat}`, { headers }))
  const body = (await response.json()) as {
    chat: { bot_name: string; created: string; updated: string; messages: { created: string }[] }
  }
  return body.chat
}

const simulator = (options = {}) =>
  createSimulator({ clock: 'virtual', webhook: { fetch: () => new Response() }, ...options })

/** Texts of the bot in a whole handover, and the one when no agent is available. */
async function handover(language: string, knobs = {}) {
  const sim = simulator({ knobs })
  const chat = await sim.chat({ language })
  await chat.says('???')
  await chat.press('handover')
  await post(sim, 'start', chat.id)
  await post(sim, 'end', chat.id)
  sim.setAvailability({ availability: 'CLOSED' })
  await chat.press('handover')
  const texts = chat.transcript.filter(({ from }) => from === 'bot').map(({ text }) => text)
  await sim.close()
  return texts
}

describe('the language of the bot', () => {
  it.each(BOT_LANGUAGES)('%s: ST20, ST8, ST15, ST23 the bot speaks it in a whole handover', async language => {
    const { unsure, open, entering, left, closed, agent } = botTexts(language)
    const named = (text: string) => text.replace('{name}', agent)
    expect(await handover(language)).toEqual([unsure, open, named(entering), named(left), closed])
    expect(entering).toContain('{name}')
    expect(left).toContain('{name}')
    expect(language === 'en' || open !== botTexts('en').open).toBe(true)
    expect(read('docs/reference/config.md')).toContain(`(\`${language}\``)
  })

  it('Norwegian codes share their texts, a region does not matter, and another language is English', async () => {
    const [nb, de, en] = await Promise.all(['nb', 'de', 'en'].map(language => handover(language)))
    for (const language of ['no', 'nn', 'nb-NO', 'NB']) expect(await handover(language)).toEqual(nb)
    expect(await handover('de-AT')).toEqual(de)
    for (const language of ['cy', '', 'constructor']) expect(await handover(language)).toEqual(en)
  })

  it('a knob overrides the text of every language, and by-language brings it back', async () => {
    const own = { 'messages.open': 'Moment!', 'messages.entering': '+{name}' }
    expect((await handover('nb', own)).slice(1, 3)).toEqual(['Moment!', '+En medarbeider'])
    expect((await handover('nb', { 'messages.open': 'by-language' }))[1]).toBe(botTexts('nb').open)
  })
})

describe('a shipped conversation', () => {
  it.each(SHIPPED)('$name: the bot has the name that its texts use', async ({ name, bot }) => {
    const events: { bot: { name: string } }[] = []
    const fetch = async (request: Request) => {
      events.push((await request.json()) as { bot: { name: string } })
      return new Response()
    }
    const sim = simulator({ webhook: { fetch } })
    const chat = await sim.chat({ transcript: name })
    expect((await record(sim, chat.id)).bot_name).toBe(bot)
    const names = chat.transcript.filter(({ from }) => from === 'bot').map(message => message.name)
    expect(new Set(names)).toEqual(new Set([bot]))
    await chat.press('handover')
    expect(chat.transcript.at(-1)).toMatchObject({ name: bot })
    expect(events.map(event => event.bot.name)).toEqual([bot])
    const copy = simulator()
    await copy.restore(sim.snapshot())
    expect((await record(copy, chat.id)).bot_name).toBe(bot)
  })

  it('with a name of the workspace, the texts use that', async () => {
    const sim = simulator({ bot: { name: 'Otto' } })
    const chat = await sim.chat({ transcript: 'de-bank' })
    const texts = chat.transcript.map(({ text }) => text).join('\n')
    expect(texts).toContain('ich bin Otto')
    expect(texts).not.toContain('Felix')
    expect((await record(sim, chat.id)).bot_name).toBe('Otto')
  })

  it.each(SHIPPED)(
    '$name: its messages have believable times before now, the same in every run',
    async ({ name, history }) => {
      const times = async () => {
        const sim = simulator()
        const { id } = await sim.chat({ transcript: name })
        const { created, updated, messages } = await record(sim, id)
        return [created, ...messages.map(message => message.created), updated]
      }
      const all = await times()
      expect(await times()).toEqual(all)
      expect(all).toHaveLength(history.length + 2)
      const ms = all.map(time => Date.parse(time))
      const gaps = ms.slice(1).map((time, index) => time - ms[index]!)
      for (const gap of gaps) {
        expect(gap).toBeGreaterThanOrEqual(900)
        expect(gap).toBeLessThanOrEqual(76_000)
      }
      expect(ms.at(-1)).toBe(Date.parse('2024-01-01T09:00:00Z'))
    },
  )
})
