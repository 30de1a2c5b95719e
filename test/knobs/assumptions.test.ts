/** Behaviours that the platform's description leaves open and no knob changes, and how answers name them. */

import { expect, test } from 'vitest'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { assumedBy, type CallOptions, call, post, type Reply, takenOver, transcript, world } from './support.ts'

const STOP = '/api/v2/handover/typing_stop'
const stop = ({ botId, id }: ChatHandle) => ({ bot_id: botId, chat_id: id })
const setAvailability = (sim: PlatformSimulator, body: object) => call(sim, '/api/v2/handover/availability', { body })
const asIs = (json: string) => json
const withBody =
  (change: (json: string) => string, options: CallOptions = {}): Calling =>
  (sim, chat) =>
    call(sim, STOP, { ...options, body: change(JSON.stringify(stop(chat))) })
const withHeader = (name: string, value: string, change = asIs) => withBody(change, { headers: { [name]: value } })
const nested = (levels: number) =>
  withBody(json => json.replace(/}$/, `,"x":${'['.repeat(levels)}${']'.repeat(levels)}}`))

type Calling = (sim: PlatformSimulator, chat: ChatHandle) => Promise<Reply>

/** Calls, by their status and every assumption that the answer names. */
const ANSWERS: Readonly<Record<string, Calling>> = {
  '401 errors.body': (sim, chat) => post(sim, 'end', chat, {}, { key: 'nobody' }),
  '403 errors.body keys.shared': (sim, chat) => call(sim, `/api/v1/chats/${chat.id}`),
  '404 api.versions errors.body': (sim, chat) => call(sim, '/api/v3/handover/end', { body: stop(chat) }),
  '200 end.idle': (sim, chat) => post(sim, 'end', chat),
  '200 start.unrequested': (sim, chat) => post(sim, 'start', chat),
  '200 transcript.handover transcript.source transcript.state': (sim, chat) => post(sim, 'transcript', chat),
  '400 errors.body summarize.count summarize.errorStatus': (sim, chat) => post(sim, 'summarize', chat),
  '200 typing.idle typing.response': (sim, chat) => post(sim, 'typing_start', chat),
  '400 errors.body errors.validation typing.timeout': (sim, chat) => post(sim, 'typing_start', chat, { timeout: 0 }),
  '400 errors.body errors.validation': (sim, chat) => post(sim, 'typing_start', chat, { timeout: 'soon' }),
  '200 api.unknownFields typing.idle typing.response': nested(199),
  '400 errors.body limits.nesting': nested(200),
  '200 api.byteOrderMark typing.idle typing.response': withBody(json => `\ufeff${json}`),
  '200 api.contentType typing.idle typing.response': withHeader('content-type', 'text/plain'),
  '200 api.contentEncoding typing.idle typing.response': withHeader('content-encoding', 'gzip'),
  '400 api.contentEncoding errors.body': withHeader('content-encoding', 'gzip', () => '\u001f\u008b'),
  '400 availability.otherQueues errors.body errors.validation': sim =>
    setAvailability(sim, { availability: 'OPEN', queue: 'VIP' }),
  '200 availability.missingQueue availability.missingReason keys.more time.format': sim =>
    setAvailability(sim, { availability: 'CLOSED' }),
}

test.each(Object.entries(ANSWERS))('answers %s', async (expected, calling) => {
  const { sim } = world()
  const reply = await calling(sim, await sim.chat())
  expect([reply.status, ...assumedBy(reply)].join(' ')).toBe(expected)
})

/** Assumptions that only the answers of a start with this value of their knob name. */
test.each([
  ['limits.rate', '1/1m', 429],
  ['errors.idMismatch', '403', 403],
  ['availability.closedBlocksStart', 'on', 409],
  ['api.answers', 'extra', 200],
])('with %s=%s, an answer names it', async (knob, value, status) => {
  const { sim } = world({ knobs: { 'keys.more': ['other-key:2002'] } })
  const chat = await sim.chat(knob === 'errors.idMismatch' ? { botId: 2002 } : {})
  await setAvailability(sim, { availability: 'CLOSED' })
  await sim.configure({ [knob]: value })
  if (knob === 'limits.rate') await post(sim, 'typing_stop', chat)
  const reply = await post(sim, 'start', chat, { bot_id: sim.botId })
  expect([reply.status, assumedBy(reply)]).toEqual([status, expect.arrayContaining([knob])])
})

test('without markers, answers name no assumption', async () => {
  const { sim } = world({ markers: false })
  expect(assumedBy(await post(sim, 'summarize', await sim.chat()))).toEqual([])
})

test('a second typing_start replaces the timer', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  for (const time of ['600ms', '600ms'] as const) {
    await post(sim, 'typing_start', chat, { timeout: 1000 })
    await sim.clock.advance(time)
  }
  expect(chat.typing).toBe(true)
  await sim.clock.advance('400ms')
  expect(chat.typing).toBe(false)
})

test('an end without an agent returns an id of no message', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const ends = [await post(sim, 'end', chat), await post(sim, 'end', chat)]
  expect(new Set(ends.map(({ json }) => json.chatmessage_id)).size).toBe(2)
  expect((await transcript(sim, chat)).messages).toEqual([])
})

test('the transcript ends before the latest request', async () => {
  const { sim } = world()
  const chat = await sim.chat({ history: [{ user: 'One' }] })
  const lines = async () =>
    (await post(sim, 'transcript', chat)).json.chat.messages.map(({ message }: { message: string }) => message)
  expect(await lines()).toEqual(['One'])
  await chat.press('handover')
  await chat.says('Two')
  expect(await lines()).toEqual(['One'])
  await chat.press('handover')
  expect(await lines()).toHaveLength(4)
})
