import { expect, it } from 'vitest'
import { AGENT, lastMessage } from '../support/chats.ts'
import { setUpHandover } from '../support/test-simulator.ts'

const speaking = (...language_codes: string[]) => ({ sender: { ...AGENT, language_codes } })

it('ST9 W9 R-SENDER.5 E4.7 E4.8 what the user writes reaches the agent in their first language', async () => {
  const { hook, chat } = await setUpHandover({ start: speaking('en', 'sv'), chat: { language: 'nb' } })
  await chat.says('Hvor er pakken?')
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]?.message).toBe('[nb>en] Hvor er pakken?')
  expect(lastMessage(chat)).toMatchObject({ text: 'Hvor er pakken?', original: '[nb>en] Hvor er pakken?' })
})

it('E4.9 what the agent writes reaches the user in the language of the widget', async () => {
  const { api, chat } = await setUpHandover({ start: speaking('en'), chat: { language: 'nb' } })
  await api.message({ chat_id: chat.id, message: 'Hello', sender: AGENT })
  expect(lastMessage(chat)).toMatchObject({ text: '[en>nb] Hello', original: 'Hello' })
})

it.each([
  ['the same language', 'nb', ['nb']],
  ['one of several', 'nb', ['en', 'sv', 'nb']],
  ['another spelling', 'en', ['EN-gb']],
  ['a regional chat', 'en-GB', ['en']],
  ['no languages', 'nb', []],
])('E4.7 %s: chat %s, agent %j, nothing is translated', async (_, language, codes) => {
  const { api, hook, chat } = await setUpHandover({ start: speaking(...codes), chat: { language } })
  await chat.says('text')
  await api.message({ chat_id: chat.id, message: 'answer', sender: AGENT })
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]?.message).toBe('text')
  expect(lastMessage(chat).text).toBe('answer')
})

it.each([
  ['no is not nb', 'no', 'nb', {}, '[no>nb] text'],
  ['unless it is an alias', 'no', 'nb', { 'translation.aliases': ['no=nb'] }, 'text'],
  ['exact comparison', 'en', 'en-GB', { 'translation.match': 'exact' }, '[en>en-GB] text'],
] as const)('E4.7 %s: chat %s, agent %s', async (_, language, code, knobs, seen) => {
  const { hook, chat } = await setUpHandover({ knobs, start: speaking(code), chat: { language } })
  await chat.says('text')
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]?.message).toBe(seen)
})

it('R-SENDER.5 ST9 without language_codes nothing is translated, even across languages', async () => {
  const { hook, chat } = await setUpHandover({ chat: { language: 'ar' } })
  await chat.says('مرحبا')
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]?.message).toBe('مرحبا')
})

it('ST9 the end switches translation off: the next agent without languages gets the original', async () => {
  const { api, hook, chat } = await setUpHandover({ start: speaking('en'), chat: { language: 'nb' } })
  await api.end({ chat_id: chat.id })
  await api.start({ chat_id: chat.id })
  await chat.says('hei')
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]?.message).toBe('hei')
})

it('R-MSG.1 E4.8 the record keeps the text as the user typed or saw it', async () => {
  const { sim, api, chat } = await setUpHandover({ start: speaking('en'), chat: { language: 'nb' } })
  await chat.says('hei')
  await api.message({ chat_id: chat.id, message: 'Hello', sender: AGENT })
  const texts = async () => (await api.chat(chat.id)).body.chat.messages.map(({ message }) => message).slice(1)
  expect(await texts()).toEqual(['hei', '[en>nb] Hello'])
  await sim.configure({ 'transcript.text': 'both' })
  expect(await texts()).toEqual(['hei\n[nb>en] hei', '[en>nb] Hello\nHello'])
})

it('W9 an asynchronous engine keeps the order of every chat', async () => {
  const turn = () => new Promise<void>(resolve => setImmediate(resolve))
  const translate = async (text: string, from: string, to: string) => {
    for (let wait = text.length % 5; wait > 0; wait--) await turn()
    return `${text} (${from} to ${to})`
  }
  const { hook, chat } = await setUpHandover({ translate, start: speaking('en'), chat: { language: 'nb' } })
  const words = ['aaaa', 'b', 'ccc', 'dd', '']
  const said = words.slice(0, 4)
  await Promise.all(said.map(text => chat.says(text)))
  expect(hook.payloadsOf('MESSAGE FROM USER').map(({ message }) => message)).toEqual(
    said.map(text => `${text} (nb to en)`),
  )
  expect(chat.transcript.slice(1).map(({ text }) => text)).toEqual(said)
})

it('W9 settled and advance wait for translations in progress', async () => {
  const translate = async (text: string) => {
    await new Promise<void>(resolve => setImmediate(resolve))
    return text.toUpperCase()
  }
  const { sim, hook, chat } = await setUpHandover({ translate, start: speaking('en'), chat: { language: 'nb' } })
  const said = [chat.says('one')]
  await sim.settled()
  expect(hook.payloadsOf('MESSAGE FROM USER')).toHaveLength(1)
  said.push(chat.says('two'))
  await sim.clock.advance('1s')
  expect(hook.payloadsOf('MESSAGE FROM USER').map(({ message }) => message)).toEqual(['ONE', 'TWO'])
  await Promise.all(said)
})

it('W9 a failing engine gives an internal error: the message is neither confirmed nor shown', async () => {
  const translate = () => Promise.reject(new Error('no engine'))
  const { sim, send, chat } = await setUpHandover({ translate, start: speaking('en'), chat: { language: 'nb' } })
  const before = chat.view()
  const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, message: 'Hello', sender: AGENT })
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const answer = await send('/api/v2/handover/message/', { method: 'POST', headers, body })
  expect([answer.status, answer.headers.get('x-handover-sim-internal-error')]).toEqual([500, '1'])
  expect(await answer.json()).toMatchObject({ handover_sim: { internal_error: 'no engine' } })
  expect(chat.view()).toEqual(before)
})

it('W9 the error names an engine that returns no text, and no message is shown', async () => {
  const { chat } = await setUpHandover({
    translate: (() => 42) as never,
    start: speaking('en'),
    chat: { language: 'nb' },
  })
  const before = chat.view()
  await expect(chat.says('hei')).rejects.toThrow('The translate engine must return a text, got number.')
  expect(chat.view()).toEqual(before)
})

it('W9 promises of other libraries are awaited', async () => {
  // biome-ignore lint/suspicious/noThenProperty: a thenable is the point
  const translate = (text: string) => ({ then: (done: (value: string) => void) => done(`${text}!`) }) as never
  const { hook, chat } = await setUpHandover({ translate, start: speaking('en'), chat: { language: 'nb' } })
  await chat.says('hei')
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]?.message).toBe('hei!')
})

it('W9 translation.engine=identity leaves texts as they are', async () => {
  const { hook, chat } = await setUpHandover({
    knobs: { 'translation.engine': 'identity' },
    start: speaking('en'),
    chat: { language: 'nb' },
  })
  await chat.says('hei')
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]?.message).toBe('hei')
})
