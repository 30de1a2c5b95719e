/** The texts of the bot in the language of the chat, and the conversations that chats begin with. */

import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { BOT_LANGUAGES, botTexts, TRANSCRIPT_NAMES } from '../../src/platform/contract/bot-texts.ts'
import { setUpChat } from '../support/test-simulator.ts'

const FOLDER = new URL('../../fixtures/transcripts/', import.meta.url)
const SHIPPED = readdirSync(FOLDER).map(file => {
  const { bot_name: bot, history } = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))
  return { name: file.replace('.json', '') as (typeof TRANSCRIPT_NAMES)[number], bot, messages: history.length }
})

it('every file of fixtures/transcripts is the conversation of one name', () => {
  expect(SHIPPED.map(({ name }) => name).sort()).toEqual([...TRANSCRIPT_NAMES].sort())
})

/** Returns the texts of the bot in a whole handover, and the one when no agent is available. */
async function botTextsOf(language: string, knobs = {}) {
  const { sim, api, chat } = await setUpChat({ knobs, chat: { language } })
  await chat.says('???')
  await chat.press('handover')
  await api.start({ chat_id: chat.id })
  await api.end({ chat_id: chat.id })
  sim.setAvailability({ availability: 'CLOSED' })
  await chat.press('handover')
  return chat.transcript.filter(({ from }) => from === 'bot').map(({ text }) => text)
}

it.each(BOT_LANGUAGES)('%s: ST20, ST8, ST15, ST23 the bot speaks it in a whole handover', async language => {
  const { unsure, open, entering, left, closed, agent } = botTexts(language)
  const named = (text: string) => text.replace('{name}', agent)
  expect(await botTextsOf(language)).toEqual([unsure, open, named(entering), named(left), closed])
  expect([entering, left]).toEqual([expect.stringContaining('{name}'), expect.stringContaining('{name}')])
  expect(language === 'en' || open !== botTexts('en').open).toBe(true)
})

it.each([
  ['nb', ['no', 'nn', 'nb-NO', 'NB']],
  ['de', ['de-AT']],
  ['en', ['cy', '', 'constructor']],
])('W1 the texts of %s are those of %j', async (language, others) => {
  const texts = await botTextsOf(language)
  for (const other of others) expect(await botTextsOf(other)).toEqual(texts)
})

it('ST20 a knob overrides the text of every language, and by-language brings it back', async () => {
  const own = { 'messages.open': 'Moment!', 'messages.entering': '+{name}' }
  expect((await botTextsOf('nb', own)).slice(1, 3)).toEqual(['Moment!', '+En medarbeider'])
  expect((await botTextsOf('nb', { 'messages.open': 'by-language' }))[1]).toBe(botTexts('nb').open)
})

it.each(SHIPPED)('R-BOT $name: the bot has the name of its texts, also after a restore', async ({ name, bot }) => {
  const { sim, api, hook, chat } = await setUpChat({ chat: { transcript: name } })
  const names = chat.transcript.filter(({ from }) => from === 'bot').map(message => message.name)
  expect(new Set(names)).toEqual(new Set([bot]))
  await chat.press('handover')
  expect(chat.transcript.at(-1)).toMatchObject({ name: bot })
  expect(hook.payloadsOf('REQUESTING TAKEOVER')[0]?.bot.name).toBe(bot)
  await sim.restore(sim.snapshot())
  expect((await api.chat(chat.id)).body.chat.bot_name).toBe(bot)
})

it('W1 with a name of the workspace, the texts of a shipped conversation use that', async () => {
  const { api, chat } = await setUpChat({ bot: { name: 'Otto' }, chat: { transcript: 'de-bank' } })
  const texts = chat.transcript.map(({ text }) => text).join('\n')
  expect(texts).toContain('ich bin Otto')
  expect(texts).not.toContain('Felix')
  expect((await api.chat(chat.id)).body.chat.bot_name).toBe('Otto')
})

it.each(SHIPPED)(
  'R-MSG.2 $name: its messages have the same believable times in every run',
  async ({ name, messages }) => {
    const times = async () => {
      const { api, chat } = await setUpChat({ chat: { transcript: name } })
      const record = (await api.chat(chat.id)).body.chat
      return [record.created, ...record.messages.map(({ created }) => created), record.updated]
    }
    const all = await times()
    expect(await times()).toEqual(all)
    expect(all).toHaveLength(messages + 2)
    const ms = all.map(time => Date.parse(time))
    const gaps = ms.slice(1).map((time, index) => time - ms[index]!)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(900)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(76_000)
    expect(ms.at(-1)).toBe(Date.parse('2024-01-01T09:00:00Z'))
  },
)
