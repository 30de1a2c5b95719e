/** What the API accepts, refuses and answers, for each knob of requests, errors, limits and keys. */

import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { AGENT, assumedBy, call, post, type Reply, sends, takenOver } from '../support/test-simulator.ts'
import { type Behaviours, behaviour, matching, signatureOf } from './behaviour.ts'

const outcome = ({ status, json }: Reply) => [status, ...(json?.error ? [json.error.field ?? json.error.code] : [])]
const lastFindings = (sim: PlatformSimulator) => sim.journal.query({ kind: 'api' }).at(-1)!.findings

const readChat = (sim: PlatformSimulator, chat: ChatHandle, key = sim.botApiKey, headers = {}) =>
  call(sim, `/api/v1/chats/${chat.id}`, { key, headers })

/** The status when the chat is read, and when an agent types, with a key. */
const uses = async (sim: PlatformSimulator, chat: ChatHandle, key: string) =>
  `${(await readChat(sim, chat, key)).status},${(await post(sim, 'typing_stop', chat, {}, { key })).status}`

const setAvailability = (sim: PlatformSimulator, body: object, key = sim.apiKey) =>
  call(sim, '/api/v2/handover/availability', { key, body })

const ANY_BUTTONS = [{ label: 'Open' }, { weight: 3 }]

export const API_KNOBS = {
  'errors.body': behaviour(
    {
      '*json': [401, matching(/^\{"error":\{"code":"unauthorized","message":/), 'application/json; charset=utf-8'],
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
    { '*400': ['400 timeout', '400 invalid_json'], 422: ['422 timeout', '400 invalid_json'] },
    async ({ sim }) => {
      const replies = [
        await post(sim, 'typing_start', await takenOver(sim), { timeout: 'soon' }),
        await call(sim, '/api/v2/handover/end', { body: '{"bot_id":' }),
      ]
      return replies.map(reply => outcome(reply).join(' '))
    },
  ),
  'errors.idMismatch': behaviour({ '*404': [404, 404], '400': [400, 400], '403': [403, 403] }, async ({ sim }) => {
    await sim.configure({ 'keys.more': ['other-key:2002'] })
    const chat = await sim.chat({ botId: 2002 })
    const wrongPair = await post(sim, 'start', chat, { bot_id: sim.botId })
    return [wrongPair.status, (await readChat(sim, chat)).status]
  }),
  'strict.sender': behaviour(
    {
      '*off': ['200 R-SENDER.4', '200 R-SENDER.4', '200'],
      on: [matching(/^400 sender\b/), matching(/^400 sender.avatar/), '200'],
    },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      const seen: unknown[] = []
      for (const sender of [undefined, { name: AGENT.name }, AGENT]) {
        const reply = await post(sim, 'message', chat, { message: 'Hi', sender })
        seen.push([...outcome(reply), ...lastFindings(sim).map(({ rule }) => rule)].join(' '))
      }
      return seen
    },
  ),
  'buttons.schema': behaviour(
    {
      '*any': [[200], ANY_BUTTONS, [200], [200]],
      strict: [[400, 'buttons[0].button_type'], [], [200], [400, 'buttons[0].label']],
    },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      const answer = await sends(sim, chat, 'Look', { buttons: ANY_BUTTONS })
      const { buttons } = chat.transcript.at(-1)!
      const clients = { button_type: 'EXTERNAL_LINK', label: 'Open', value: 'https://a.example.test', index: null }
      const typed = await sends(sim, chat, 'Look', { buttons: [clients] })
      await sim.configure({ 'buttons.form': 'own' })
      return [
        outcome(answer),
        buttons,
        outcome(typed),
        outcome(await sends(sim, chat, 'Look', { buttons: [{ url: 'a' }] })),
      ]
    },
  ),
  'message.allowEmpty': behaviour({ '*off': [400, 'message'], on: [200] }, async ({ sim }) =>
    outcome(await sends(sim, await takenOver(sim), '')),
  ),
  'limits.body': behaviour(
    {
      '*1048576': [[200], [200], [413, 'payload_too_large']],
      '2000': [[200], ...Array(2).fill([413, 'payload_too_large'])],
    },
    async ({ sim }) => {
      const { id: chat_id, botId: bot_id } = await sim.chat()
      const stop = JSON.stringify({ bot_id, chat_id })
      const bodies = [2000, 1_048_576, 1_048_577].map(bytes => stop.padEnd(bytes))
      const answers = bodies.map(body => call(sim, '/api/v2/handover/typing_stop', { body }))
      return (await Promise.all(answers)).map(outcome)
    },
  ),
  'limits.rate': behaviour({ '*off': [200, 200, 200, 200], '2/10s': [200, 200, 429, 200] }, async ({ sim }) => {
    const chat = await sim.chat()
    const seen: number[] = []
    for (let count = 0; count < 3; count++) seen.push((await post(sim, 'typing_stop', chat)).status)
    return [...seen, (await readChat(sim, chat)).status] // The limit is per key.
  }),
  'limits.attachmentKb': behaviour({ '*off': [100, 101], '100': [100] }, async ({ sim, inbox }) => {
    const chat = await takenOver(sim, { supports_attachment: true })
    for (const size_kb of [100, 101])
      await chat.says('', { attach: [{ name: 'a.bin', type: 'application/zip', size_kb }] }).catch(() => {})
    return inbox.map(({ json }) => json.attachments[0].size_kb)
  }),
  'availability.otherQueues': behaviour(
    { '*reject': [400, 'queue', true], accept: [200, 'VIP', true] },
    async ({ sim }) => {
      const { status, json } = await setAvailability(sim, { availability: 'CLOSED', queue: 'VIP' })
      return [status, json.queue ?? json.error.field, (await (await sim.chat()).press('handover')).deliveryId !== null]
    },
  ),
  'time.format': behaviour(
    {
      '*iso': matching(/^2024-01-01T09:00:00\.\d{6}Z$/),
      epoch: String(Date.UTC(2024, 0, 1, 9) / 1000),
      offset: matching(/^2024-01-01T09:00:00\.\d{6}\+00:00$/),
    },
    async ({ sim }) => (await setAvailability(sim, { availability: 'OPEN' })).json.updated_at,
  ),
  'keys.handover': behaviour(
    {
      '*sim-handover-key': ['sim-handover-key', '403,200', '401,401', 'sha256, base64, of the body'],
      'new-key': ['new-key', '401,401', '403,200', 'sha256, base64, of the body'],
    },
    async ({ sim, inbox }) => {
      const chat = await takenOver(sim)
      await chat.says('Hi')
      const statuses = [await uses(sim, chat, 'sim-handover-key'), await uses(sim, chat, 'new-key')]
      return [sim.apiKey, ...statuses, signatureOf(inbox[0]!, { key: sim.apiKey })]
    },
  ),
  'keys.bot': behaviour(
    {
      '*sim-bot-key': ['200,403', '401,401'],
      reader: ['401,401', '200,403'],
    },
    async ({ sim }) => {
      const chat = await sim.chat()
      return [await uses(sim, chat, 'sim-bot-key'), await uses(sim, chat, 'reader')]
    },
  ),
  'keys.shared': behaviour({ '*off': ['403,200', '200,403'], on: ['200,200', '200,200'] }, async ({ sim }) => {
    const chat = await sim.chat()
    return [await uses(sim, chat, sim.apiKey), await uses(sim, chat, sim.botApiKey)]
  }),
  'keys.more': behaviour(
    { '*off': [401, undefined], 'other-key:2002': [200, 'sha256, base64, of the body'] },
    async ({ sim, inbox }) => {
      const { status } = await setAvailability(sim, { availability: 'OPEN' }, 'other-key')
      const chat = await sim.chat({ botId: 2002 }).catch(() => null)
      await chat?.press('handover')
      return [status, inbox[0] && signatureOf(inbox[0], { key: 'other-key' })]
    },
  ),
  'keys.graceful': behaviour({ '*off': [401, 200], '10m': [200, 200] }, async ({ sim }) => {
    const chat = await sim.chat()
    await sim.configure({ 'keys.handover': 'second' })
    const calls = ['sim-handover-key', 'second'].map(key => post(sim, 'typing_stop', chat, {}, { key }))
    return (await Promise.all(calls)).map(({ status }) => status)
  }),
  'api.trailingSlash': behaviour(
    { '*accept': [200, 200, 200], strict: [404, 404, 200], redirect: ['message/', '../typing_stop', 200] },
    async ({ sim }) => {
      const chat = await takenOver(sim)
      const body = { bot_id: chat.botId, chat_id: chat.id, message: 'Hi', sender: AGENT }
      const replies = [
        await call(sim, '/api/v2/takeover/message', { body }),
        await call(sim, '/api/v2/handover/typing_stop/', { body: { bot_id: chat.botId, chat_id: chat.id } }),
        await sends(sim, chat, 'Hi'),
      ]
      return replies.map(({ status, headers }) => headers.get('location') ?? status)
    },
  ),
  'api.contentType': behaviour({ '*accept': [200, 200, 200], '415': [415, 415, 200] }, async ({ sim }) => {
    const chat = await sim.chat()
    const types = ['', 'text/plain', 'Application/JSON ; charset=UTF-8']
    const calls = types.map(type => post(sim, 'typing_stop', chat, {}, { headers: { 'content-type': type } }))
    return (await Promise.all(calls)).map(({ status }) => status)
  }),
  'api.unknownFields': behaviour({ '*accept': [200], '400': [400, 'sender.team'] }, async ({ sim }) =>
    outcome(await post(sim, 'start', await sim.chat(), { sender: { name: 'K', team: 'B' } })),
  ),
  'api.nulls': behaviour({ '*accept': [200], '400': [400, 'sender.avatar'] }, async ({ sim }) =>
    outcome(await post(sim, 'start', await sim.chat(), { sender: { name: 'K', avatar: null } })),
  ),
  'api.emptyFields': behaviour({ '*accept': [200], '400': [400, 'sender.language_codes'] }, async ({ sim }) =>
    outcome(await post(sim, 'start', await sim.chat(), { sender: { name: 'K', language_codes: [] } })),
  ),
  'api.answers': behaviour(
    {
      '*as-is': [Array(5).fill(undefined), 'active', 'messages', matching(/^message/)],
      extra: [Array(5).fill(true), 'active', 'added_later', 'Error 400'],
      reordered: [Array(5).fill(undefined), 'messages', 'active', 'Error 400'],
    },
    async ({ sim }) => {
      const chat = await sim.chat({ history: [{ user: 'Hi' }] })
      const { json } = await post(sim, 'transcript', chat)
      const { error } = (await post(sim, 'message', chat, { message: 12 })).json
      const parts = [json, json.chat, json.chat.context, json.chat.messages[0], error]
      const keys = Object.keys(json.chat)
      return [parts.map(part => part.added_later), keys[0], keys.at(-1), error.message]
    },
  ),
  'api.versions': behaviour({ '*off': [200, 404, 404, 404], 'v3,v7': [200, 200, 404, 200] }, async ({ sim }) => {
    const { id: chat_id, botId: bot_id } = await sim.chat()
    const stop = (version: string) => call(sim, `/api/${version}/handover/typing_stop`, { body: { bot_id, chat_id } })
    return (await Promise.all(['v2', 'v3', 'v4', 'v7'].map(stop))).map(({ status }) => status)
  }),
  // cors.test.ts calls a server as a browser does.
  'api.cors': behaviour({ '*off': [false, false], 'https://desk.example.test': [false, true] }, async ({ sim }) => {
    const chat = await sim.chat()
    const calls = [{}, { origin: 'https://desk.example.test' }].map(from => readChat(sim, chat, sim.botApiKey, from))
    return (await Promise.all(calls)).map(answer => assumedBy(answer).includes('api.cors'))
  }),
} satisfies Partial<Behaviours>
