import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import { createControlClient } from '../../support/control-client.ts'

type Row = Record<string, unknown>

/** Draws the messages of a chat from its entries alone. */
function messagesOf(entries: readonly Entry[]): Row[] {
  let [user, bot] = ['', '']
  const rows: Row[] = []
  for (const entry of entries) {
    if (entry.kind === 'note' && entry.note === 'chat_created')
      [user, bot] = [String(entry.user_name), String(entry.bot_name)]
    else if (entry.kind === 'note' && entry.note === 'bot_message') rows.push(botRow(entry, bot))
    else if (entry.kind === 'user' && entry.action === 'message') {
      const { message_id: id, text, text_for_agent: original, attachments = [] } = entry
      rows.push({ id, from: 'user', name: user, text, ...(original && { original }), buttons: [], attachments })
    } else if (entry.kind === 'api' && entry.endpoint === 'message') rows.push(agentRow(entry))
  }
  return rows
}

const botRow = ({ message_id: id, text, buttons = [] }: Row, name: string): Row => ({
  id,
  from: 'bot',
  name,
  text,
  buttons,
  attachments: [],
})

function agentRow({ request, response, shown_to_user: shown }: Extract<Entry, { kind: 'api' }>): Row {
  const { message, sender, buttons = [] } = request.body as { message: string; sender?: Row; buttons?: Row[] }
  const [id, name] = [(response as Row).chatmessage_id, shown?.name ?? sender?.name]
  const original = shown?.text === undefined ? {} : { original: message }
  return { id, from: 'agent', name, text: shown?.text ?? message, ...original, buttons, attachments: [] }
}

const SENDER = { name: 'Kari', avatar: 'https://desk.example.test/kari.png', language_codes: ['en'] }

test('the journal alone says what the user saw: translations, files with their address, names of senders', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const { body: chat } = await ask('POST', '/chats', { body: { language: 'nb' } })
  const call = (path: string, body: Row) =>
    server.fetch(`${server.baseUrl}/api/v2/handover/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ bot_id: 1042, chat_id: chat.chat_id, ...body }),
    })
  const says = (body: Row) => ask('POST', `/chats/${chat.chat_id}/messages`, { body })

  await says({ text: 'Hei' })
  await ask('POST', `/chats/${chat.chat_id}/press`, { body: { button: 'handover' } })
  await call('start', { sender: SENDER, supports_attachment: true })
  await says({ text: 'Her', attachments: [{ name: 'a b.png', type: 'image/png', size_kb: 1 }] })
  await call('message', { message: 'Hello', sender: { name: 'Ola' }, buttons: [{ label: 'Yes' }] })
  await call('message', { message: 'Bye' })
  await call('end', {})
  await call('message', { message: 'Still here' })

  const { body: journal } = await ask('GET', `/journal?chat_id=${chat.chat_id}`)
  const { body: shown } = await ask('GET', `/chats/${chat.chat_id}`)
  const seen = shown.messages.map(({ created: _, ...message }: Row) => message)
  expect(messagesOf(journal.entries)).toEqual(seen)
  expect(seen.map(({ name, text }: Row) => [name, text]).slice(-2)).toEqual([
    [expect.any(String), expect.stringContaining('Kari')],
    ['En medarbeider', 'Still here'],
  ])
})

test('an entry says no more than the call when the user saw what the call says', async () => {
  await using server = await startSimulator({ port: 0 })
  const chat = await server.chat()
  await chat.says('Hi')
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ bot_id: 1042, chat_id: chat.id, message: 'Hello', sender: { name: 'Kari' } })
  await server.fetch(`${server.baseUrl}/api/v2/handover/message`, { method: 'POST', headers, body })
  const [said] = server.journal.query({ kind: 'user' })
  const [called] = server.journal.query({ kind: 'api' })
  expect(said).not.toHaveProperty('text_for_agent')
  expect(called).not.toHaveProperty('shown_to_user')
})

test('a long translation is shown as its beginning, with the length and hash of the whole text', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const chat = await server.chat({ language: 'nb' })
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' }
  const post = (path: string, body: Row) =>
    server.fetch(`${server.baseUrl}/api/v2/handover/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ bot_id: 1042, chat_id: chat.id, ...body }),
    })
  await post('start', { sender: SENDER })
  await post('message', { message: 'x'.repeat(70_000), sender: SENDER })
  const { body } = await ask('GET', '/journal?kind=api')
  const { shown_to_user: shown } = body.entries.at(-1)
  expect(shown).toEqual({
    text: `[en>nb] ${'x'.repeat(65_528)}`,
    truncated_from: { bytes: 70_008, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })
})

test('the note of a new chat says who talks, and how much of the chat came before the journal', async () => {
  await using server = await startSimulator({ port: 0, bot: { id: 7, name: 'Nora' } })
  await server.chat({ user: { firstName: 'Ada', lastName: 'Berg' } })
  await server.chat({ user: null, history: [{ user: 'Hi' }, { bot: 'Hello' }] })
  const ada = await server.chat({ transcript: 'nb-shop' })
  const { body } = await createControlClient(server)('GET', `/chats/${ada.id}`)
  const [plain, withHistory, shipped] = server.journal.query({ kind: 'note' })
  expect(plain).toMatchObject({ user_name: 'Ada Berg', bot_id: 7, bot_name: 'Nora' })
  expect(plain).not.toHaveProperty('history_count')
  expect(withHistory).toMatchObject({ user_name: 'User', history_count: 2 })
  expect(shipped).toMatchObject({ transcript: 'nb-shop', history_count: body.messages.length })
})

test('a change of settings or of the availability says what was there before', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  await ask('PATCH', '/config', { body: { 'bot.delay': '1s', 'keys.bot': 'secret', 'webhook.url': null } })
  await ask('PATCH', '/config', { body: { 'bot.delay': '2s' } })
  await ask('PUT', '/availability', { body: { availability: 'CLOSED', reason: 'OTHER' } })
  await ask('PUT', '/availability', { body: { availability: 'OPEN' } })
  const { body } = await ask('GET', '/journal?kind=note')
  expect(body.entries.map(({ previous }: Row) => previous)).toEqual([
    { 'bot.delay': '0s', 'keys.bot': '***', 'webhook.url': null },
    { 'bot.delay': '1s' },
    { availability: 'OPEN', reason: null, updated_at: null },
    { availability: 'CLOSED', reason: 'OTHER', updated_at: expect.any(String) },
  ])
})
