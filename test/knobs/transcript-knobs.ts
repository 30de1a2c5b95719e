/** What transcripts, summaries, ids and attachments look like, for each of their knobs. */

import { expect } from 'vitest'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { type Behaviours, behaviour, HEX24, matching, UUID } from './behaviour.ts'
import { AGENT, call, post, sends, takenOver, transcript, type World } from './support.ts'

const LONG = ['My parcel has not arrived', 'It was due on Monday']
const written = (sim: PlatformSimulator, messages: readonly string[] = LONG, language = 'en') =>
  sim.chat({ language, history: messages.map(user => ({ user })) })
const summarize = (sim: PlatformSimulator, chat: ChatHandle) => post(sim, 'summarize', chat)
const summaryOf = async (sim: PlatformSimulator, chat: ChatHandle) => (await summarize(sim, chat)).json.summary

/** The ids of a new chat, of its user, of a message and of its exchange. */
async function ids({ sim }: World) {
  const chat = await sim.chat({ history: [{ bot: 'Hello' }] })
  const [message] = (await transcript(sim, chat)).messages
  const forms = { UUID, HEX24, HEX32: /^[0-9a-f]{32}$/ }
  return [chat.id, chat.userId, message.id, message.exchange_id].map(
    id => Object.entries(forms).find(([, form]) => form.test(id))?.[0],
  )
}

const FILE = { name: 'receipt.png', type: 'image/png', size_kb: 2 }

async function attached({ sim, inbox }: World) {
  const chat = await takenOver(sim, { supports_attachment: true })
  await chat.says('Here', { attach: [FILE] })
  const path = new URL(inbox[0]!.json.attachments[0].url).pathname
  return { chat, open: async (key: string | null = null) => (await call(sim, path, { key })).status }
}

const TEMPLATE = /^The user wrote 2 messages\. It began with "My parcel .* latest is "It was due on Monday"\.$/

export const TRANSCRIPT_KNOBS = {
  'summarize.errorStatus': behaviour(
    '400',
    { '400': '400 precondition_failed', '409': '409 precondition_failed', '422': '422 precondition_failed' },
    async ({ sim }) => {
      const { status, json } = await summarize(sim, await written(sim, ['Hello']))
      return `${status} ${json.error.code}`
    },
  ),
  // A summary needs more than 30 characters of trimmed text, in at least two messages.
  'summarize.count': behaviour(
    'codepoints',
    { codepoints: [400, 200, 400, 400, 200], utf16: [400, 200, 400, 200, 200] },
    async ({ sim }) => {
      const seen: number[] = []
      for (const messages of [
        ['x'.repeat(15), 'y'.repeat(15)],
        ['x'.repeat(15), 'y'.repeat(16)],
        ['x'.repeat(500)],
        ['🙂'.repeat(15), `  ${'🙂'.repeat(15)}\n\n`],
        ['🙂'.repeat(15), '🙂'.repeat(16)],
      ])
        seen.push((await summarize(sim, await written(sim, messages))).status)
      return seen
    },
  ),
  'summarize.text': behaviour(
    'template',
    {
      template: [matching(TEMPLATE), matching(/^Brukeren skrev 2 meldinger/)],
      '{count}: {first} {other}': Array(2).fill('2: My parcel has not arrived {other}'),
    },
    async ({ sim }) => [
      await summaryOf(sim, await written(sim)),
      await summaryOf(sim, await written(sim, LONG, 'nb-NO')),
    ],
  ),
  // Whether the call is answered in the same turn, or after the time.
  'summarize.latency': behaviour('0s', { '0s': [200, 'at once'], '40ms': [200, 'late'] }, async ({ sim }) => {
    const chat = await written(sim)
    await post(sim, 'typing_stop', chat)
    const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
    const body = new TextEncoder().encode(JSON.stringify({ bot_id: chat.botId, chat_id: chat.id }))
    const answer = sim.handle({ method: 'POST', target: '/api/v2/handover/summarize', headers, body })
    if (!(answer instanceof Promise)) return [answer.status, 'at once']
    const { status } = await answer
    return [status, sim.journal.query({ kind: 'api' }).at(-1)!.duration_ms >= 35 ? 'late' : 'early']
  }),
  'summarize.vary': behaviour('off', { off: 1, on: 2 }, async ({ sim }) => {
    const chat = await written(sim)
    return new Set([await summaryOf(sim, chat), await summaryOf(sim, chat)]).size
  }),
  'summarize.prompt': behaviour(
    '',
    { '': matching(/^The user wrote/), 'In one line': matching(/^\[prompt: In one line\] The user wrote/) },
    async ({ sim }) => summaryOf(sim, await written(sim)),
  ),
  'transcript.text': behaviour(
    'seen',
    { seen: ['Hei', '[en>no] Hello'], both: ['Hei\n[no>en] Hei', '[en>no] Hello\nHello'] },
    async ({ sim }) => {
      const sender = { ...AGENT, language_codes: ['en'] }
      const chat = await takenOver(sim, { sender }, await sim.chat({ language: 'no' }))
      await chat.says('Hei')
      await sends(sim, chat, 'Hello')
      return (await transcript(sim, chat)).messages.slice(1).map(({ message }: { message: string }) => message)
    },
  ),
  'transcript.state': behaviour(
    'off',
    {
      off: ['chatting', 'chatting', 'chatting'],
      'agent=taken_over,pending=waiting for a person': ['chatting', 'waiting for a person', 'taken_over'],
    },
    async ({ sim }) => {
      const [bot, pending, agent] = [await sim.chat(), await sim.chat(), await takenOver(sim)]
      await pending.press('handover')
      const records = await Promise.all([bot, pending, agent].map(chat => transcript(sim, chat)))
      return records.map(({ state }) => state)
    },
  ),
  // Events have the source itself.
  'transcript.source': behaviour(
    'web=chatbubble',
    {
      'web=chatbubble': ['chatbubble', 'slack', 'web'],
      'slack=workspace,web=widget': ['widget', 'workspace', 'web'],
      off: ['web', 'slack', 'web'],
    },
    async ({ sim, inbox }) => {
      const [web, slack] = [await sim.chat({ source: 'web' }), await sim.chat({ source: 'slack' })]
      await web.press('handover')
      return [(await transcript(sim, web)).source, (await transcript(sim, slack)).source, inbox[0]!.json.chat.source]
    },
  ),
  'transcript.takenOver': behaviour(
    'true',
    { true: [null, true], null: [null, null], time: [null, matching(/^2024-01-01T09:00:00\.\d{6}Z$/)] },
    async ({ sim }) => [
      (await transcript(sim, await sim.chat())).taken_over,
      (await transcript(sim, await takenOver(sim))).taken_over,
    ],
  ),
  'transcript.extra': behaviour(
    'off',
    { off: [undefined, undefined, undefined, []], 'channel=widget,query=a=b,empty=': ['widget', 'a=b', '', []] },
    async ({ sim }) => {
      const { channel, query, empty, comments } = await transcript(sim, await sim.chat())
      return [channel, query, empty, comments]
    },
  ),
  'transcript.handover': behaviour(
    'record',
    { record: 'complete', minimal: ['id', 'bot_id', 'messages'] },
    async ({ sim }) => {
      const chat = await sim.chat({ history: [{ user: 'Hi' }, { bot: 'Hello' }] })
      const { json } = await post(sim, 'transcript', chat)
      const complete = await transcript(sim, chat)
      expect(json.chat.messages).toEqual(complete.messages)
      return Object.keys(json.chat).length === Object.keys(complete).length ? 'complete' : Object.keys(json.chat)
    },
  ),
  'transcript.agentFromBot': behaviour(
    'on',
    { on: [true, 'Kim', null, null], off: [false, 'Kim', null, null] },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      await sends(sim, chat, 'Hello')
      const { from_bot, name, exchange_id, exchange_type } = (await transcript(sim, chat)).messages.at(-1)
      return [from_bot, name, exchange_id, exchange_type]
    },
  ),
  // Each notice of the workspace has an exchange of its own, or none.
  'transcript.noticeExchange': behaviour(
    'on',
    { on: [matching(UUID), null, matching(UUID), null, false], off: [null, null, null, null, true] },
    async ({ sim }) => {
      const chat = await sim.chat()
      await chat.press('handover')
      await post(sim, 'start', chat)
      const [opened, entered] = (await transcript(sim, chat)).messages
      const isShared = opened.exchange_id === entered.exchange_id
      return [opened.exchange_id, opened.exchange_type, entered.exchange_id, entered.exchange_type, isShared]
    },
  ),
  'ids.chat': behaviour(
    'uuid',
    { uuid: ['UUID', 'HEX24', 'HEX24', 'UUID'], hex24: ['HEX24', 'HEX24', 'HEX24', 'UUID'] },
    ids,
  ),
  'ids.user': behaviour(
    'hex24',
    { hex24: ['UUID', 'HEX24', 'HEX24', 'UUID'], hex32: ['UUID', 'HEX32', 'HEX24', 'UUID'] },
    ids,
  ),
  'ids.message': behaviour(
    'hex24',
    { hex24: ['UUID', 'HEX24', 'HEX24', 'UUID'], uuid: ['UUID', 'HEX24', 'UUID', 'UUID'] },
    ids,
  ),
  'ids.exchange': behaviour(
    'uuid',
    { uuid: ['UUID', 'HEX24', 'HEX24', 'UUID'], hex24: ['UUID', 'HEX24', 'HEX24', 'HEX24'] },
    ids,
  ),
  'attachments.auth': behaviour('off', { off: [200, 200, 200], on: [401, 401, 200] }, async w => {
    const { open } = await attached(w)
    return [await open(), await open('wrong'), await open(w.sim.apiKey)]
  }),
  'attachments.ttl': behaviour('off', { off: [200, 200], '9001h': [200, 404] }, async w => {
    const { open } = await attached(w)
    await w.sim.clock.advance('9000h')
    const before = await open()
    await w.sim.clock.advance('1h')
    return [before, await open()]
  }),
  // After a start with support for attachments, and after one without.
  'attachments.whenEmpty': behaviour('empty', { empty: [[], undefined], absent: [undefined, undefined] }, async w => {
    const { chat } = await attached(w)
    await chat.says('No file')
    await (await takenOver(w.sim)).says('', { attach: [FILE] })
    return w.inbox.slice(1).map(({ json }) => json.attachments)
  }),
} satisfies Partial<Behaviours>
