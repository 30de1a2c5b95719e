/** Reading the journal over the control API: filters, waiting, masks, and what entries say about a chat. */
import { describe, expect, test } from 'vitest'
import { connectRaw, startWebhook } from '../../support/network.ts'
import { startTestServer } from '../../support/test-server.ts'

describe('wait', () => {
  test.each([
    ['call=start', { kind: 'api', endpoint: 'start', status: 200 }],
    ['event=REQUESTING%20TAKEOVER', { kind: 'event', event: 'REQUESTING TAKEOVER' }],
    ['kind=delivery&event=REQUESTING%20TAKEOVER', { kind: 'delivery', outcome: 'skipped' }],
    ['note=chat_created', { kind: 'note', note: 'chat_created' }],
    ['kind=user', { kind: 'user', action: 'press' }],
    ['call=end&status=404', { endpoint: 'end', status: 404 }],
  ])('answers with an entry that exists, by %s, and with a later one', async (query, expected) => {
    const { server, control, call } = await startTestServer()
    const act = async () => {
      const chat = await server.chat()
      await chat.press('handover')
      await call('start', { chat_id: chat.id })
      await call('end', { chat_id: 'other' })
    }
    await act()
    const { body } = await control('GET', `/wait?${query}`)
    expect(body).toMatchObject(expected)
    const later = control('GET', `/wait?${query}&after=${server.journal.nextSeq - 1}`)
    await act()
    expect((await later).body).toMatchObject(expected)
    expect((await later).body.seq).toBeGreaterThan(body.seq)
  })

  test('answers 408 with the nearest entries, only a few of them, and the note that was meant', async () => {
    const { server, control, call } = await startTestServer()
    const [ada, ben] = [await server.chat(), await server.chat()]
    for (let count = 0; count < 9; count++) await call('end', { chat_id: ada.id })
    await call('start', { chat_id: ben.id })
    const { status, body } = await control('GET', `/wait?call=start&chat_id=${ada.id}&timeout=1ms`)
    expect(status).toBe(408)
    expect(body.nearest).toMatchObject({
      other_chat: [{ endpoint: 'start', chat_id: ben.id }],
      same_chat: Array(3).fill({ endpoint: 'end', chat_id: ada.id }),
      last: [{}, {}, {}, {}, { seq: server.journal.nextSeq - 1 }],
    })
    const other = await control('GET', '/wait?note=chat_creatd&timeout=1ms')
    expect(other.body.error.message).toContain('did you mean chat_created?')
  })

  test('ends when the simulator is reset', async () => {
    const { server } = await startTestServer()
    // Two requests on one line are taken up in their order.
    const line = await connectRaw(server.port)
    line.send('GET /_sim/wait?call=start&timeout=1m HTTP/1.1\r\nHost: localhost\r\n\r\n')
    line.send('POST /_sim/reset HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    expect(await line.ended()).toMatch(/^HTTP\/1\.1 409 [\s\S]*"code":"reset"[\s\S]*HTTP\/1\.1 200 /)
  })
})

test('filters by kind, chat and seq, and limits the number of entries', async () => {
  const { server, control } = await startTestServer()
  const [ada, ben] = [await server.chat(), await server.chat()]
  await ada.says('Hi')
  await ben.says('Hi')
  const all = (await control('GET', '/journal')).body
  expect(all).toMatchObject({ first_seq: 1, next_seq: server.journal.nextSeq })
  expect(all.entries.length).toBe(server.journal.nextSeq - 1)
  const { entries } = (await control('GET', `/journal?kind=user&chat_id=${ben.id}`)).body
  expect(entries).toMatchObject([{ kind: 'user', chat_id: ben.id }])
  expect((await control('GET', '/journal?after=1&limit=2')).body.entries).toMatchObject([{ seq: 2 }, { seq: 3 }])
})

test('no export shows keys or signatures', async () => {
  await using webhook = await startWebhook()
  const { server, control, call } = await startTestServer({ webhook: { url: webhook.url } })
  const ada = await server.chat()
  await ada.press('handover')
  await call('start', { chat_id: ada.id })
  await call('start', { chat_id: ada.id }, { authorization: 'wrong-key-here' })
  const signature = server.deliveries[0]!.request.headers['Kindly-HMAC']!
  expect(signature.length).toBeGreaterThan(20)
  const paths = ['/journal', '/deliveries', '/wait?kind=delivery', '/wait?call=start&status=418&timeout=1ms']
  const texts = await Promise.all(paths.map(async path => JSON.stringify((await control('GET', path)).body)))
  for (const secret of [server.apiKey, signature, 'wrong-key-here']) expect(texts.join()).not.toContain(secret)
  expect(texts[0]).toContain('"authorization":"Bearer ***"')
  expect(texts[1]).toContain('"Kindly-HMAC":"***"')
})

describe('entries of a chat', () => {
  const SENDER = { name: 'Kari', avatar: 'https://desk.example.test/kari.png', language_codes: ['en'] }

  test('say what the user saw: translations, files with their address, names of senders', async () => {
    const { server, call } = await startTestServer()
    const chat = await server.chat({ language: 'nb' })
    const post = (path: string, body: object = {}) => call(path, { chat_id: chat.id, ...body })
    await chat.says('Hei')
    await chat.press('handover')
    await post('start', { sender: SENDER, supports_attachment: true })
    await chat.says('Her', { attach: [{ name: 'a b.png', type: 'image/png', size_kb: 1 }] })
    await post('message', { message: 'Hello', sender: { name: 'Ola' } })
    await post('end')
    await post('message', { message: 'Still here' })
    const [said, withFile] = server.journal.query({ kind: 'user' }).filter(({ action }) => action === 'message')
    const file = { name: 'a b.png', url: expect.stringMatching(/a%20b\.png$/) }
    expect(said).toMatchObject({ text: 'Hei' })
    expect(said).not.toHaveProperty('text_for_agent')
    expect(withFile).toMatchObject({ text: 'Her', text_for_agent: '[nb>en] Her', attachments: [file] })
    const messages = server.journal.query({ kind: 'api' }).filter(({ endpoint }) => endpoint === 'message')
    expect(messages.map(entry => entry.shown_to_user)).toEqual([{ text: '[en>nb] Hello' }, { name: 'En medarbeider' }])
    expect(chat.transcript.map(({ id }) => id)).toEqual(
      expect.arrayContaining(messages.map(({ response }) => Object(response).chatmessage_id)),
    )
  })

  test('begin with who talks, and how much of the chat came before the journal', async () => {
    const { server } = await startTestServer({ bot: { id: 7, name: 'Nora' } })
    await server.chat({ user: { firstName: 'Ada', lastName: 'Berg' } })
    await server.chat({ user: null, history: [{ user: 'Hi' }, { bot: 'Hello' }] })
    const shop = await server.chat({ transcript: 'nb-shop' })
    const notes = server.journal.query({ kind: 'note' })
    expect(notes).toMatchObject([
      { user_name: 'Ada Berg', bot_id: 7, bot_name: 'Nora' },
      { user_name: 'User', history_count: 2 },
      { transcript: 'nb-shop', history_count: shop.transcript.length },
    ])
    expect(notes[0]).not.toHaveProperty('history_count')
  })

  test('of a change of settings or of the availability say what was there before', async () => {
    const { server, control } = await startTestServer()
    await control('PATCH', '/config', { body: { 'bot.delay': '1s', 'keys.bot': 'secret', 'webhook.url': null } })
    await control('PATCH', '/config', { body: { 'bot.delay': '2s' } })
    await control('PUT', '/availability', { body: { availability: 'CLOSED', reason: 'OTHER' } })
    await control('PUT', '/availability', { body: { availability: 'OPEN' } })
    expect(server.journal.query({ kind: 'note' }).map(entry => 'previous' in entry && entry.previous)).toEqual([
      { 'bot.delay': '0s', 'keys.bot': '***', 'webhook.url': null },
      { 'bot.delay': '1s' },
      { availability: 'OPEN', reason: null, updated_at: null },
      { availability: 'CLOSED', reason: 'OTHER', updated_at: expect.any(String) },
    ])
  })
})
