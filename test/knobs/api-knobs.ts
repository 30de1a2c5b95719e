/** What the API accepts, refuses and answers, for each knob of requests, errors, limits and keys. */

import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { type Behaviours, behaviour, matching, signatureOf } from './behaviour.ts'
import { AGENT, assumedBy, call, post, type Reply, sends, takenOver, type World } from './support.ts'

const outcome = ({ status, json }: Reply) => [status, ...(json?.error ? [json.error.field ?? json.error.code] : [])]
const lastFindings = (sim: PlatformSimulator) => sim.journal.query({ kind: 'api' }).at(-1)!.findings

/** The status when the chat is read, and when an agent types, with a key. */
const uses = async (sim: PlatformSimulator, chat: ChatHandle, key: string) =>
  [await call(sim, `/api/v1/chats/${chat.id}`, { key }), await post(sim, 'typing_stop', chat, {}, { key })]
    .map(({ status }) => status)
    .join()

const setAvailability = (sim: PlatformSimulator, availability: string, more: { key?: string; queue?: string } = {}) => {
  const { key, ...fields } = more
  return call(sim, '/api/v2/handover/availability', { body: { availability, ...fields }, ...(key ? { key } : {}) })
}

/** Sends a message whose request has this many bytes. */
function messageOfSize(sim: PlatformSimulator, chat: ChatHandle, bytes: number) {
  const empty = JSON.stringify({ bot_id: chat.botId, chat_id: chat.id, message: '', sender: AGENT })
  const body = empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`)
  return call(sim, '/api/v2/handover/message/', { body })
}

async function sharedChat({ sim }: World) {
  await sim.configure({ 'keys.more': ['other-key:2002'] })
  const chat = await sim.chat({ botId: 2002 })
  const wrongPair = await post(sim, 'start', chat, { bot_id: sim.botId })
  const wrongKey = await call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey })
  return [wrongPair.status, wrongKey.status]
}

export const API_KNOBS = {
  'errors.body': behaviour(
    'json',
    {
      json: [401, matching(/^\{"error":\{"code":"unauthorized","message":/), 'application/json; charset=utf-8'],
      empty: [401, '', null],
      html: [401, matching(/^<!doctype html>.*401/), 'text/html; charset=utf-8'],
      text: [401, 'unauthorized', 'text/plain; charset=utf-8'],
    },
    async ({ sim }) => {
      const { status, text, headers } = await post(sim, 'end', await sim.chat(), {}, { key: 'nobody' })
      return [status, text, headers.get('content-type')]
    },
  ),
  'errors.validation': behaviour(
    '400',
    {
      400: ['400 timeout', '400 message', '400 message', '400 queue', '400 invalid_json'],
      422: ['422 timeout', '422 message', '422 message', '422 queue', '400 invalid_json'],
    },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      const replies = [
        await post(sim, 'typing_start', chat, { timeout: 'soon' }),
        await post(sim, 'message', chat, {}),
        await post(sim, 'message', chat, { message: '', sender: AGENT }),
        await setAvailability(sim, 'OPEN', { queue: 'VIP' }),
        await call(sim, '/api/v2/handover/end', { body: '{"bot_id":' }),
      ]
      return replies.map(reply => outcome(reply).join(' '))
    },
  ),
  'errors.idMismatch': behaviour('404', { '404': [404, 404], '400': [400, 400], '403': [403, 403] }, sharedChat),
  'strict.sender': behaviour(
    'off',
    {
      off: ['200 R-SENDER.4', '200 R-SENDER.4', '200 R-SENDER.4', '200'],
      on: [matching(/^400 sender\b/), matching(/^400 sender.name/), matching(/^400 sender.avatar/), '200'],
    },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      const seen: unknown[] = []
      for (const sender of [undefined, { avatar: AGENT.avatar }, { name: AGENT.name }, AGENT]) {
        const reply = await post(sim, 'message', chat, { message: 'Hi', sender })
        seen.push([...outcome(reply), ...lastFindings(sim).map(({ rule }) => rule)].join(' '))
      }
      return seen
    },
  ),
  'buttons.schema': behaviour(
    'any',
    {
      any: [[200], [{ label: 'Open', url: 'https://www.example.test' }, { weight: 3 }], [200]],
      strict: [[400, 'buttons[1].label'], [], [200]],
    },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      const buttons = [{ label: 'Open', url: 'https://www.example.test' }, { weight: 3 }]
      const both = outcome(await sends(sim, chat, 'Look', { buttons }))
      return [both, chat.transcript.at(-1)!.buttons, outcome(await sends(sim, chat, 'Look', { buttons: [buttons[0]] }))]
    },
  ),
  'message.allowEmpty': behaviour('off', { off: [400, 'message'], on: [200] }, async ({ sim }) =>
    outcome(await sends(sim, await takenOver(sim), '')),
  ),
  'limits.body': behaviour(
    '1048576',
    {
      '1048576': ['200', '200', '200', '413 payload_too_large'],
      '2000': ['200', ...Array(3).fill('413 payload_too_large')],
    },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      const seen: string[] = []
      for (const bytes of [2000, 2001, 1_048_576, 1_048_577])
        seen.push(outcome(await messageOfSize(sim, chat, bytes)).join(' '))
      return seen
    },
  ),
  // The limit is per key, and the window begins with the first call.
  'limits.rate': behaviour(
    'off',
    { off: ['200', '200', '200', '200', '200', 200], '2/10s': ['200', '200', '429 10', '429 4', '200', 200] },
    async ({ sim }) => {
      const chat = await sim.chat()
      const seen: unknown[] = []
      for (const time of ['0s', '0s', '0s', '6500ms', '3500ms'] as const) {
        await sim.clock.advance(time)
        const { status, headers } = await post(sim, 'typing_stop', chat)
        seen.push([status, headers.get('retry-after')].filter(Boolean).join(' '))
      }
      const otherKey = await call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey })
      return [...seen, otherKey.status]
    },
  ),
  'limits.attachmentKb': behaviour('off', { off: [100, 101, 20_000], '100': [100] }, async ({ sim, inbox }) => {
    const chat = await takenOver(sim, { supports_attachment: true })
    for (const size_kb of [100, 101, 20_000])
      await chat.says('', { attach: [{ name: 'a.bin', type: 'application/zip', size_kb }] }).catch(() => {})
    return inbox.map(({ json }) => json.attachments[0].size_kb)
  }),
  'availability.otherQueues': behaviour(
    'reject',
    { reject: [400, 'queue', true], accept: [200, 'VIP', true] },
    async ({ sim }) => {
      const { status, json } = await setAvailability(sim, 'CLOSED', { queue: 'VIP' })
      return [status, json.queue ?? json.error.field, (await (await sim.chat()).press('handover')).deliveryId !== null]
    },
  ),
  'time.format': behaviour(
    'iso',
    {
      iso: matching(/^2024-01-01T09:00:00\.\d{6}Z$/),
      epoch: String(Date.UTC(2024, 0, 1, 9) / 1000),
      offset: matching(/^2024-01-01T09:00:00\.\d{6}\+00:00$/),
    },
    async ({ sim }) => (await setAvailability(sim, 'OPEN')).json.updated_at,
  ),
  'keys.handover': behaviour(
    'sim-handover-key',
    {
      'sim-handover-key': ['sim-handover-key', ['403,200', '401,401'], 'sha256, base64, of the body'],
      'new-key': ['new-key', ['401,401', '403,200'], 'sha256, base64, of the body'],
    },
    async ({ sim, inbox }) => {
      const chat = await takenOver(sim)
      await chat.says('Hi')
      const statuses = [await uses(sim, chat, 'sim-handover-key'), await uses(sim, chat, 'new-key')]
      return [sim.apiKey, statuses, signatureOf(inbox[0]!, { key: sim.apiKey })]
    },
  ),
  'keys.bot': behaviour(
    'sim-bot-key',
    {
      'sim-bot-key': ['200,403', '401,401'],
      reader: ['401,401', '200,403'],
    },
    async ({ sim }) => {
      const chat = await sim.chat()
      return [await uses(sim, chat, 'sim-bot-key'), await uses(sim, chat, 'reader')]
    },
  ),
  'keys.shared': behaviour(
    'off',
    { off: ['403,200', '200,403', matching(/'Read chats'/)], on: ['200,200', '200,200', undefined] },
    async ({ sim }) => {
      const chat = await sim.chat()
      const { json } = await call(sim, `/api/v1/chats/${chat.id}`)
      return [await uses(sim, chat, sim.apiKey), await uses(sim, chat, sim.botApiKey), json.error?.message]
    },
  ),
  'keys.more': behaviour(
    'off',
    {
      off: [401, undefined, true, null, 'invalid'],
      'other-key:2002': [200, '2002', true, false, 'sha256, base64, of the body'],
    },
    async ({ sim, inbox }) => {
      const { status, json } = await setAvailability(sim, 'CLOSED', { key: 'other-key' })
      const other = await sim.chat({ botId: 2002 }).catch(() => null)
      const isMainOpen = (await (await sim.chat()).press('handover')).ack !== null
      const isOtherOpen = other && (await other.press('handover')).ack !== null
      await setAvailability(sim, 'OPEN', { key: 'other-key' })
      await other?.press('handover')
      return [status, json.bot_id, isMainOpen, isOtherOpen, signatureOf(inbox.at(-1)!, { key: 'other-key' })]
    },
  ),
  'keys.graceful': behaviour(
    'off',
    {
      off: ['sha256, base64, of the body', 401, 200, 401, 200, 401, 200],
      '10m': ['sha256, base64, of the body', 200, 200, 200, 200, 401, 200],
    },
    async ({ sim, inbox }) => {
      const chat = await takenOver(sim)
      await sim.configure({ 'keys.handover': 'second' })
      await chat.says('Hi')
      const seen: unknown[] = [signatureOf(inbox[0]!, { key: 'second' })]
      for (const time of ['0s', '599s', '1s'] as const) {
        await sim.clock.advance(time)
        for (const key of ['sim-handover-key', 'second'])
          seen.push((await post(sim, 'typing_stop', chat, {}, { key })).status)
      }
      return seen
    },
  ),
  'api.trailingSlash': behaviour(
    'accept',
    {
      accept: [200, 200, 200, 200],
      strict: [404, 404, 404, 200],
      redirect: ['message/', '../typing_stop', matching(/^\.\.\//), 200],
    },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      const body = { bot_id: chat.botId, chat_id: chat.id, message: 'Hi', sender: AGENT }
      const replies = [
        await call(sim, '/api/v2/takeover/message', { body }),
        await call(sim, '/api/v2/handover/typing_stop/', { body: { bot_id: chat.botId, chat_id: chat.id } }),
        await call(sim, `/api/v1/chats/${chat.id}/`, { key: sim.botApiKey }),
        await post(sim, 'message', chat, { message: 'Hi', sender: AGENT }),
      ]
      return replies.map(({ status, headers }) => headers.get('location') ?? status)
    },
  ),
  'api.contentType': behaviour(
    'accept',
    { accept: ['200 E0.2', '200 E0.2', '200 E0.2', '200'], '415': [...Array(3).fill(matching(/^415 /)), '200'] },
    async ({ sim }) => {
      const chat = await sim.chat()
      const seen: string[] = []
      for (const type of ['', 'text/plain', 'application/jsonp', 'Application/JSON ; charset=UTF-8']) {
        const reply = await post(sim, 'typing_stop', chat, {}, { headers: { 'content-type': type } })
        seen.push([...outcome(reply), ...lastFindings(sim).map(({ rule }) => rule)].join(' '))
      }
      return seen
    },
  ),
  'api.unknownFields': behaviour(
    'accept',
    { accept: [200, ['urgent', 'sender.team']], '400': [400, 'urgent, sender.team: not a known field.'] },
    async ({ sim }) => {
      const { status, json } = await post(sim, 'start', await sim.chat(), {
        urgent: 1,
        sender: { name: 'K', team: 'B' },
      })
      return [status, json.error?.message ?? lastFindings(sim).map(({ message }) => message.split(' ')[0])]
    },
  ),
  'api.answers': behaviour(
    'as-is',
    {
      'as-is': { added: Array(5), ends: ['active', 'messages'], words: matching(/^message/) },
      extra: { added: Array(5).fill(true), ends: ['active', 'added_later'], words: 'Error 400' },
      reordered: { added: Array(5), ends: ['messages', 'active'], words: 'Error 400' },
    },
    async ({ sim }) => {
      const chat = await sim.chat({ history: [{ user: 'Hi' }] })
      const { json } = await post(sim, 'transcript', chat)
      const { error } = (await post(sim, 'message', chat, { message: 12 })).json
      const parts = [json, json.chat, json.chat.context, json.chat.messages[0], error]
      const keys = Object.keys(json.chat)
      return { added: parts.map(part => part.added_later), ends: [keys[0], keys.at(-1)], words: error.message }
    },
  ),
  'api.versions': behaviour('off', { off: [200, 404, 404, 404], 'v3,v7': [200, 200, 404, 200] }, async ({ sim }) => {
    const { id: chat_id, botId: bot_id } = await sim.chat()
    const stop = (version: string) => call(sim, `/api/${version}/handover/typing_stop`, { body: { bot_id, chat_id } })
    return (await Promise.all(['v2', 'v3', 'v4', 'v7'].map(stop))).map(({ status }) => status)
  }),
  // cors.test.ts calls a server as a browser does.
  'api.cors': behaviour('off', { off: [false, false], 'https://desk.example.test': [false, true] }, async ({ sim }) => {
    const chat = await sim.chat()
    const origins: Record<string, string>[] = [{}, { origin: 'https://desk.example.test' }]
    const answers = origins.map(headers => call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey, headers }))
    return (await Promise.all(answers)).map(answer => assumedBy(answer).includes('api.cors'))
  }),
} satisfies Partial<Behaviours>
