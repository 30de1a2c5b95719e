/** What transcripts, summaries, ids and attachments look like, for each of their knobs. */

import { expect } from 'vitest'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { AGENT, call, post, sends, takenOver, transcript, type World } from '../support/test-simulator.ts'
import { type Behaviours, behaviour, matching, UUID } from './behaviour.ts'

const LONG = ['My parcel has not arrived', 'It was due on Monday']
const written = (sim: PlatformSimulator, messages: readonly string[] = LONG, language = 'en') =>
  sim.chat({ language, history: messages.map(user => ({ user })) })
const summarize = (sim: PlatformSimulator, chat: ChatHandle) => post(sim, 'summarize', chat)
const summaryOf = async (sim: PlatformSimulator, chat: ChatHandle) => (await summarize(sim, chat)).json.summary

/** The forms of the ids of a new chat, of its user, of a message and of its exchange. */
async function ids({ sim }: World) {
  const chat = await sim.chat({ history: [{ bot: 'Hello' }] })
  const [message] = (await transcript(sim, chat)).messages
  const formOf = (id: string) => (UUID.test(id) ? 'uuid' : /^[0-9a-f]+$/.test(id) && `hex${id.length}`)
  return [chat.id, chat.userId, message.id, message.exchange_id].map(formOf).join(' ')
}

const FILE = { name: 'receipt.png', type: 'image/png', size_kb: 2 }

async function attached({ sim, inbox }: World) {
  const chat = await takenOver(sim, { supports_attachment: true })
  await chat.says('Here', { attach: [FILE] })
  const path = new URL(inbox[0]!.json.attachments[0].url).pathname
  return { chat, open: async (key: string | null = null) => (await call(sim, path, { key })).status }
}

export const TRANSCRIPT_KNOBS = {
  'summarize.errorStatus': behaviour({ '*400': 400, 409: 409, 422: 422 }, async ({ sim }) => {
    const { status } = await summarize(sim, await written(sim, ['Hello']))
    return status
  }),
  // A summary needs more than 30 characters.
  'summarize.count': behaviour({ '*codepoints': 400, utf16: 200 }, async ({ sim }) => {
    const { status } = await summarize(sim, await written(sim, ['🙂'.repeat(8), '🙂'.repeat(8)]))
    return status
  }),
  'summarize.text': behaviour(
    {
      '*template': [matching(/^The user wrote 2 messages\. It began with "My parcel /), matching(/^Brukeren skrev 2/)],
      '{count}: {first} {other}': Array(2).fill('2: My parcel has not arrived {other}'),
    },
    async ({ sim }) => [
      await summaryOf(sim, await written(sim)),
      await summaryOf(sim, await written(sim, LONG, 'nb-NO')),
    ],
  ),
  // A response that waits for no time comes within some turns of the event loop, however long they take.
  'summarize.latency': behaviour({ '*0s': true, '1m': false }, async ({ sim }) => {
    let isAnswered = false
    summarize(sim, await written(sim)).then(
      () => (isAnswered = true),
      () => {},
    )
    for (let turn = 0; turn < 100; turn++) await new Promise(resolve => setImmediate(resolve))
    return isAnswered
  }),
  'summarize.vary': behaviour({ '*off': 1, on: 2 }, async ({ sim }) => {
    const chat = await written(sim)
    return new Set([await summaryOf(sim, chat), await summaryOf(sim, chat)]).size
  }),
  'summarize.prompt': behaviour(
    { '*': matching(/^The user wrote/), 'In one line': matching(/^\[prompt: In one line\] The user wrote/) },
    async ({ sim }) => summaryOf(sim, await written(sim)),
  ),
  'transcript.text': behaviour(
    { '*seen': ['Hei', '[en>no] Hello'], both: ['Hei\n[no>en] Hei', '[en>no] Hello\nHello'] },
    async ({ sim }) => {
      const sender = { ...AGENT, language_codes: ['en'] }
      const chat = await takenOver(sim, { sender }, await sim.chat({ language: 'no' }))
      await chat.says('Hei')
      await sends(sim, chat, 'Hello')
      return (await transcript(sim, chat)).messages.slice(1).map(({ message }: { message: string }) => message)
    },
  ),
  'transcript.state': behaviour(
    {
      '*off': ['chatting', 'chatting'],
      'agent=taken_over,pending=waiting for a person': ['waiting for a person', 'taken_over'],
    },
    async ({ sim }) => {
      const [pending, agent] = [await sim.chat(), await takenOver(sim)]
      await pending.press('handover')
      return [(await transcript(sim, pending)).state, (await transcript(sim, agent)).state]
    },
  ),
  'transcript.source': behaviour(
    {
      '*web=chatbubble': ['chatbubble', 'slack'],
      'slack=workspace,web=widget': ['widget', 'workspace'],
      off: ['web', 'slack'],
    },
    async ({ sim }) => {
      const [web, slack] = [await sim.chat({ source: 'web' }), await sim.chat({ source: 'slack' })]
      return [(await transcript(sim, web)).source, (await transcript(sim, slack)).source]
    },
  ),
  'transcript.takenOver': behaviour(
    { '*true': true, null: null, time: matching(/^2024-01-01T09:00:00\.\d{6}Z$/) },
    async ({ sim }) => (await transcript(sim, await takenOver(sim))).taken_over,
  ),
  'transcript.extra': behaviour(
    {
      '*off': [undefined, undefined, undefined, []],
      'channel=widget,query=a=b,empty=': ['widget', 'a=b', '', []],
      'client,channel=app': ['app', undefined, undefined, ['user', 'bot', 'system', 'agent']],
    },
    async ({ sim }) => {
      const chat = await takenOver(sim, {}, await sim.chat({ history: [{ user: 'Hi' }, { bot: 'Hello' }] }))
      await sends(sim, chat, 'Hello')
      const { channel, query, empty, messages } = await transcript(sim, chat)
      const senders = messages.flatMap((one: { sender?: string }) => one.sender ?? [])
      return [channel, query, empty, senders]
    },
  ),
  'transcript.handover': behaviour(
    { '*record': expect.arrayContaining(['state', 'context']), minimal: ['id', 'bot_id', 'messages'] },
    async ({ sim }) => Object.keys((await post(sim, 'transcript', await sim.chat())).json.chat),
  ),
  'transcript.agentFromBot': behaviour({ '*on': true, off: false }, async ({ sim }) => {
    const chat = await takenOver(sim)
    await sends(sim, chat, 'Hello')
    return (await transcript(sim, chat)).messages.at(-1).from_bot
  }),
  'transcript.noticeExchange': behaviour({ '*on': matching(UUID), off: null }, async ({ sim }) => {
    const [entered] = (await transcript(sim, await takenOver(sim))).messages
    return entered.exchange_id
  }),
  'transcript.exchangeType': behaviour(
    {
      '*usersays': ['usersays', null, 'usersays', 'usersays', null, 'usersays'],
      'by-kind': ['greeting', null, 'usersays', 'dialogue', null, 'fallback'],
    },
    async ({ sim }) => {
      const history = [{ bot: 'Hi' }, { user: 'Hello' }, { bot: 'Yes?' }, { bot: 'I listen.' }]
      const chat = await sim.chat({ history })
      await chat.says('???')
      const { messages } = await transcript(sim, chat)
      return messages.map((one: { exchange_type: string | null }) => one.exchange_type)
    },
  ),
  'ids.chat': behaviour({ '*uuid': 'uuid hex24 hex24 uuid', hex24: 'hex24 hex24 hex24 uuid' }, ids),
  'ids.user': behaviour({ '*hex24': 'uuid hex24 hex24 uuid', hex32: 'uuid hex32 hex24 uuid' }, ids),
  'ids.message': behaviour({ '*hex24': 'uuid hex24 hex24 uuid', uuid: 'uuid hex24 uuid uuid' }, ids),
  'ids.exchange': behaviour({ '*uuid': 'uuid hex24 hex24 uuid', hex24: 'uuid hex24 hex24 hex24' }, ids),
  'attachments.auth': behaviour({ '*off': [200, 200, 200], on: [401, 401, 200] }, async w => {
    const { open } = await attached(w)
    return [await open(), await open('wrong'), await open(w.sim.apiKey)]
  }),
  'attachments.ttl': behaviour({ '*off': [200, 200], '9001h': [200, 404] }, async w => {
    const { open } = await attached(w)
    const seen: number[] = []
    for (const time of ['9000h', '1h'] as const) {
      await w.sim.clock.advance(time)
      seen.push(await open())
    }
    return seen
  }),
  'attachments.whenEmpty': behaviour({ '*empty': [], absent: undefined }, async ({ sim, inbox }) => {
    await (await takenOver(sim, { supports_attachment: true })).says('No file')
    return inbox[0]!.json.attachments
  }),
} satisfies Partial<Behaviours>
