import { expect, it } from 'vitest'
import { AGENT, lastMessage } from '../support/chats.ts'
import { setUpHandover } from '../support/test-simulator.ts'

type Options = NonNullable<Parameters<typeof setUpHandover>[0]>

/** Sets up a handover to an agent who speaks `codes`. */
async function setUpTranslation(codes: readonly string[] | undefined = ['en'], language = 'nb', options: Options = {}) {
  const sender = { ...AGENT, ...(codes && { language_codes: codes }) }
  const setup = await setUpHandover({ ...options, start: { sender }, chat: { language } })
  const { api, hook, chat } = setup
  return {
    ...setup,
    forwarded: () => hook.payloadsOf('MESSAGE FROM USER').map(({ message }) => message),
    answer: (message: string) => api.message({ chat_id: chat.id, message, sender: AGENT }),
  }
}

it('ST9 W9 R-SENDER.5 E4.7 E4.8 E4.9 the agent reads their first language, the user that of the widget', async () => {
  const { chat, forwarded, answer } = await setUpTranslation(['en', 'sv'])
  await chat.says('Hvor er pakken?')
  expect(forwarded()).toEqual(['[nb>en] Hvor er pakken?'])
  expect(lastMessage(chat)).toMatchObject({ text: 'Hvor er pakken?', original: '[nb>en] Hvor er pakken?' })
  await answer('Hello')
  expect(lastMessage(chat)).toMatchObject({ text: '[en>nb] Hello', original: 'Hello' })
})

it.each([
  ['the same language', 'nb', ['nb'], {}, 'text'],
  ['one of several', 'nb', ['en', 'sv', 'nb'], {}, 'text'],
  ['another spelling', 'en', ['EN-gb'], {}, 'text'],
  ['a regional chat', 'en-GB', ['en'], {}, 'text'],
  ['no languages', 'nb', [], {}, 'text'],
  ['no is not nb', 'no', ['nb'], {}, '[no>nb] text'],
  ['unless it is an alias', 'no', ['nb'], { 'translation.aliases': ['no=nb'] }, 'text'],
  ['exact comparison', 'en', ['en-GB'], { 'translation.match': 'exact' }, '[en>en-GB] text'],
  ['translation.engine=identity', 'nb', ['en'], { 'translation.engine': 'identity' }, 'text'],
] as const)('E4.7 W9 %s: chat %s, agent %j, knobs %j', async (_, language, codes, knobs, seen) => {
  const { chat, forwarded, answer } = await setUpTranslation(codes, language, { knobs })
  await chat.says('text')
  expect(forwarded()).toEqual([seen])
  await answer('answer')
  expect(lastMessage(chat).text === 'answer').toBe(seen === 'text')
})

it('R-SENDER.5 ST9 without language_codes nothing is translated, even across languages', async () => {
  const { api, chat, forwarded } = await setUpTranslation(undefined, 'ar')
  await api.end({ chat_id: chat.id })
  await api.start({ chat_id: chat.id })
  await chat.says('مرحبا')
  expect(forwarded()).toEqual(['مرحبا'])
})

it('R-MSG.1 E4.8 ST9 the record keeps the text as the user typed or saw it, and end switches translation off', async () => {
  const { sim, api, chat, forwarded, answer } = await setUpTranslation()
  await chat.says('hei')
  await answer('Hello')
  const texts = async () => (await api.chat(chat.id)).body.chat.messages.map(({ message }) => message).slice(1)
  expect(await texts()).toEqual(['hei', '[en>nb] Hello'])
  await sim.configure({ 'transcript.text': 'both' })
  expect(await texts()).toEqual(['hei\n[nb>en] hei', '[en>nb] Hello\nHello'])
  await api.end({ chat_id: chat.id })
  await api.start({ chat_id: chat.id })
  await chat.says('hei')
  expect(forwarded()).toEqual(['[nb>en] hei', 'hei'])
})

it('W9 an asynchronous engine keeps the order of the chat; settled and advance wait for it', async () => {
  const translate = async (text: string, from: string, to: string) => {
    for (let turns = text.length % 5; turns > 0; turns--) await new Promise<void>(resolve => setImmediate(resolve))
    return `${text} (${from} to ${to})`
  }
  const { sim, chat, forwarded } = await setUpTranslation(['en'], 'nb', { translate })
  const texts = ['aaaa', 'b', 'ccc', 'dd']
  const said = texts.map(text => chat.says(text))
  await sim.settled()
  expect(forwarded()).toEqual(texts.map(text => `${text} (nb to en)`))
  said.push(chat.says('eeee'))
  await sim.clock.advance('1s')
  expect(forwarded().at(-1)).toBe('eeee (nb to en)')
  await Promise.all(said)
  expect(chat.transcript.slice(1).map(({ text }) => text)).toEqual([...texts, 'eeee'])
})

it('W9 a failing engine is answered with an internal error, and no message is shown', async () => {
  const translate = () => Promise.reject(new Error('no engine'))
  const { sim, send, chat } = await setUpTranslation(['en'], 'nb', { translate })
  const before = chat.view()
  const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, message: 'Hello', sender: AGENT })
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const answer = await send('/api/v2/handover/message/', { method: 'POST', headers, body })
  expect([answer.status, answer.headers.get('x-handover-sim-internal-error')]).toEqual([500, '1'])
  expect(await answer.json()).toMatchObject({ handover_sim: { internal_error: 'no engine' } })
  expect(chat.view()).toEqual(before)
})

it('W9 the error names an engine that returns no text, and no message is shown', async () => {
  const { chat } = await setUpTranslation(['en'], 'nb', { translate: (() => 42) as never })
  const before = chat.view()
  await expect(chat.says('hei')).rejects.toThrow('The translate engine must return a text, got number.')
  expect(chat.view()).toEqual(before)
})

it('W9 promises of other libraries are awaited', async () => {
  // biome-ignore lint/suspicious/noThenProperty: a thenable is the point
  const translate = (text: string) => ({ then: (done: (value: string) => void) => done(`${text}!`) }) as never
  const { chat, forwarded } = await setUpTranslation(['en'], 'nb', { translate })
  await chat.says('hei')
  expect(forwarded()).toEqual(['hei!'])
})
