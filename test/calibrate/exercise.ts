/** Does what the plan of `calibrate` asks for, with every assumption that traffic can show. */
import { gzipSync } from 'node:zlib'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { ChatOptions } from '../../src/platform/simulator/new-chat.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import type { Recorder } from './recorder.ts'

const MINUTE = 60_000

export const AGENT = { name: 'Kim', avatar: 'https://desk.example.test/kim.png' }

/** A platform, the intermediary that calls it, and the webhook of the intermediary. */
export type Stage = Omit<Recorder, 'sim' | 'exchanges' | 'lines' | typeof Symbol.asyncDispose> & {
  readonly sim: Pick<PlatformSimulator, 'apiKey' | 'botApiKey' | 'settled'>
}

export async function exercise(recorder: Stage): Promise<void> {
  const { sim, call, get, advance, answerNext } = recorder
  const on = (chat: ChatHandle, more: object = {}) => ({ bot_id: chat.botId, chat_id: chat.id, ...more })
  const start = (chat: ChatHandle, more: object = {}) => call('start', on(chat, { sender: AGENT, ...more }))
  const end = (chat: ChatHandle) => call('end', on(chat))
  const message = (chat: ChatHandle, text: string, more: object = {}) =>
    call('message', on(chat, { message: text, sender: AGENT, ...more }))
  const read = (chat: ChatHandle) => get(`/api/v1/chats/${chat.id}`, sim.botApiKey)

  /** A chat whose beginning the recording shows: it is with the bot. */
  const open = async (options: ChatOptions = {}) => {
    await advance(15_000)
    const chat = await recorder.chat(options)
    await chat.press('handover')
    await start(chat)
    await end(chat)
    return chat
  }
  const pending = async (options: ChatOptions = {}) => {
    const chat = await open(options)
    await chat.press('handover')
    return chat
  }
  const taken = async (more: object = {}, options: ChatOptions = {}) => {
    const chat = await pending(options)
    await start(chat, more)
    return chat
  }

  // Ordinary traffic.
  let chat = await taken({ supports_attachment: true })
  await chat.says('Hei æøå 😀 https://shop.example.test/')
  await message(chat, 'Hello')
  await read(chat)
  await call('transcript', on(chat))
  await chat.says('And more')
  await end(chat)
  await chat.says('What now?')
  await read(chat)
  await call('availability', { availability: 'OPEN', queue: 'DEFAULT', reason: 'OTHER' })
  await read(await pending())
  await read(await open({ history: [{ bot: 'Hello, what can I do for you?' }] }))

  // The first that the recording has of a chat is a call that is refused.
  chat = await recorder.chat()
  await call('summarize', on(chat))
  await chat.press('handover')
  await start(chat)
  await end(chat)

  // Calls that the description leaves open.
  chat = await open()
  await message(chat, 'Nobody has asked')
  await end(chat)
  await call('typing_stop', on(chat))
  await start(chat)
  chat = await taken()
  await start(chat)
  chat = await pending()
  await call('availability', { availability: 'CLOSED', queue: 'DEFAULT', reason: 'OTHER' })
  await start(chat)
  await call('availability', { availability: 'OPEN', queue: 'DEFAULT', reason: 'OTHER' })
  await call('availability', { availability: 'OPEN', queue: 'SECOND', reason: 'OTHER' })
  await call('availability', { availability: 'OPEN', reason: 'OTHER' })
  await call('availability', { availability: 'OPEN', queue: 'DEFAULT' })
  chat = await taken()
  await call('start', { bot_id: chat.botId })
  await message(chat, '')
  await call('message', on(chat, { message: 'From whom?' }))
  await message(chat, 'A link', { buttons: [{ url: 'https://shop.example.test/' }] })
  await message(chat, 'No buttons', { buttons: [] })
  await call('typing_start', on(chat, { timeout: null }))
  await call('typing_start', on(chat, { timeout: 0 }))
  await call('typing_stop', on(chat), { path: '/api/v2/handover/typing_stop/' })
  await call('typing_stop', on(chat), { path: '/api/v3/handover/typing_stop' })
  await call('typing_stop', on(chat), { headers: { 'content-type': 'text/plain' } })
  await call('typing_stop', on(chat, { note: 1 }))
  await call('typing_stop', on(chat), { raw: `\ufeff${JSON.stringify(on(chat))}` })
  await call('typing_stop', on(chat), {
    raw: new Uint8Array(gzipSync(JSON.stringify(on(chat)))),
    headers: { 'content-encoding': 'gzip' },
    shown: '\u001f\ufffd',
  })
  const deep = JSON.parse(`${'['.repeat(300)}1${']'.repeat(300)}`)
  await message(chat, 'Deep', { buttons: [{ label: 'More', more: deep }] })
  await message(chat, 'x'.repeat(50_000))
  await message(chat, 'x'.repeat(120_000))
  await get(`/api/v1/chats/${chat.id}`, sim.apiKey)
  const other = await recorder.chat({ botId: 2002 })
  await other.press('handover')
  await call('transcript', on(chat, { bot_id: 2002 }))

  // Summaries.
  chat = await open()
  await chat.says('Hi')
  await call('summarize', on(chat))
  chat = await open()
  for (const text of ['😀'.repeat(10), '😀'.repeat(10)]) await chat.says(text)
  await read(chat)
  await call('summarize', on(chat))

  // Requests.
  chat = await pending()
  await chat.press('handover')
  await sim.settled()
  chat = await pending()
  await call('transcript', on(chat))
  await chat.says('Is anyone there?')
  await start(chat)
  await read(chat)

  // The typing indicator.
  chat = await taken()
  await call('typing_start', on(chat, { timeout: 5000 }))
  await advance(2000)
  await call('typing_start', on(chat, { timeout: 10_000 }))
  await advance(15_000)
  await chat.says('Still there?')
  await call('typing_start', on(chat, { timeout: 5000 }))
  await advance(1000)
  await message(chat, 'Yes')
  await advance(10_000)
  await chat.says('Good')
  await call('typing_start', on(chat, { timeout: 5000 }))
  await advance(1000)
  await end(chat)
  await advance(10_000)
  await chat.press('handover')
  await sim.settled()

  // Attachments.
  chat = await taken({ supports_attachment: true })
  await chat.says('', { attach: [{ name: 'a.png', type: 'image/png', size_kb: 2 }] })
  const link = recorder.lastEvent().attachments![0]!.url
  await get(link, null)
  await advance(9.5 * MINUTE)
  await get(link, null)
  await advance(MINUTE)
  await get(link, null)

  for (const [language, codes] of [
    ['no', ['fr']],
    ['en', ['en-NZ']],
    ['no', ['nb']],
  ] as const) {
    chat = await taken({ sender: { ...AGENT, language_codes: codes } }, { language })
    await message(chat, 'Good morning')
    await read(chat)
  }

  // An idle chat.
  chat = await taken()
  await message(chat, 'Wait')
  await advance(9.5 * MINUTE)
  await read(chat)
  await advance(MINUTE)
  await read(chat)

  // The webhook misbehaves.
  chat = await taken()
  for (const text of ['The first message', 'The second message']) {
    answerNext({ status: 500 }, { status: 500 }, { status: 500 })
    await chat.says(text, { async: true })
    await advance(30_000)
    recorder.clearAnswers()
  }
  answerNext({ status: 307, headers: { location: `${recorder.webhookUrl}/moved` } })
  await chat.says('moved', { async: true })
  await chat.says('and back', { async: true })
  await advance(30_000)
  recorder.clearAnswers()
  const { promise: until, resolve: release } = Promise.withResolvers<void>()
  answerNext({ status: 200, wait: { until, ms: 5000 } })
  await chat.says('slow', { async: true })
  for (const text of ['one', 'two', 'three', 'four', 'five']) await chat.says(text, { async: true })
  release()
  await sim.settled()
  await read(chat)

  // Many calls.
  await advance(MINUTE)
  for (let count = 0; count < 60; count++) await call('typing_stop', on(chat))
}
