/** How strict the API is about paths, headers and fields. */

import { expect, test } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { AGENT, assumedBy, call, post, takenOver, world } from './support.ts'

const findings = (sim: PlatformSimulator) => sim.journal.query({ kind: 'api' }).at(-1)!.findings

test('api.trailingSlash: accepts any slash, answers 404, or redirects to the path as written', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const body = { bot_id: chat.botId, chat_id: chat.id, message: 'Hi', sender: AGENT }
  const slashless = () => call(sim, '/api/v2/takeover/message', { body })
  const slashed = () => call(sim, '/api/v2/handover/typing_stop/', { body: { bot_id: chat.botId, chat_id: chat.id } })
  const accepted = await slashless()
  expect([accepted.status, (await slashed()).status]).toEqual([200, 200])
  expect(assumedBy(accepted)).toContain('api.trailingSlash')

  await sim.configure({ 'api.trailingSlash': 'strict' })
  expect([(await slashless()).status, (await slashed()).status]).toEqual([404, 404])
  expect((await post(sim, 'message', chat, { message: 'Hi', sender: AGENT })).status).toBe(200)

  await sim.configure({ 'api.trailingSlash': 'redirect' })
  const moved = await slashless()
  expect([moved.status, moved.headers.get('location')]).toEqual([308, 'message/'])
  expect((await slashed()).headers.get('location')).toBe('../typing_stop')
})

test('api.trailingSlash: applies to the chat transcript as well', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const slashed = () => call(sim, `/api/v1/chats/${chat.id}/`, { key: sim.botApiKey })
  const accepted = await slashed()
  expect(accepted.json.chat.id).toBe(chat.id)
  expect(assumedBy(accepted)).toContain('api.trailingSlash')
  await sim.configure({ 'api.trailingSlash': 'strict' })
  expect((await slashed()).status).toBe(404)
})

test.each(['', 'text/plain', 'application/jsonp'])('api.contentType: %j gives a finding, or 415', async type => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const stop = () => post(sim, 'typing_stop', chat, {}, { headers: { 'content-type': type } })
  const lenient = await stop()
  expect(lenient.status).toBe(200)
  expect(assumedBy(lenient)).toContain('api.contentType')
  expect(findings(sim)).toMatchObject([{ rule: 'E0.2' }])
  await sim.configure({ 'api.contentType': '415' })
  const strict = await stop()
  expect([strict.status, strict.json.error.code]).toEqual([415, 'unsupported_media_type'])
})

test('api.contentType: accepts parameters and any case of application/json', async () => {
  const { sim } = world({ knobs: { 'api.contentType': '415' } })
  const headers = { 'content-type': 'Application/JSON ; charset=UTF-8' }
  expect((await post(sim, 'typing_stop', await sim.chat(), {}, { headers })).status).toBe(200)
})

test('api.byteOrderMark: a body that begins with one is accepted with a finding', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const body = `\ufeff${JSON.stringify({ bot_id: chat.botId, chat_id: chat.id })}`
  const accepted = await call(sim, '/api/v2/handover/typing_stop', { body })
  expect([accepted.status, assumedBy(accepted).includes('api.byteOrderMark')]).toEqual([200, true])
  expect(findings(sim)).toMatchObject([{ rule: 'E0.2', message: expect.stringContaining('byte order mark') }])
})

test('api.contentEncoding: is a finding, and the body is parsed as it is', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const stop = (encoding: string) =>
    post(
      sim,
      'typing_stop',
      chat,
      {},
      { headers: { 'content-type': 'application/json', 'content-encoding': encoding } },
    )
  expect(assumedBy(await stop('identity'))).not.toContain('api.contentEncoding')
  const accepted = await stop('gzip')
  expect([accepted.status, assumedBy(accepted).includes('api.contentEncoding')]).toEqual([200, true])
  expect(findings(sim)).toMatchObject([
    { rule: 'E0.2', message: expect.stringContaining('Content-Encoding is "gzip"') },
  ])
  const headers = { 'content-encoding': 'gzip' }
  const refused = await call(sim, '/api/v2/handover/typing_stop', { body: '\u001f\u008b', headers })
  expect([refused.status, assumedBy(refused).includes('api.contentEncoding')]).toEqual([400, true])
})

test('api.unknownFields: ignores unknown fields with a finding, or answers 400', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const start = () => post(sim, 'start', chat, { urgent: true, sender: { name: 'Kim', team: 'B' } })
  const lenient = await start()
  expect(lenient.status).toBe(200)
  expect(assumedBy(lenient)).toContain('api.unknownFields')
  expect(findings(sim).map(finding => finding.message.split(' ')[0])).toEqual(['urgent', 'sender.team'])
  await sim.configure({ 'api.unknownFields': '400' })
  const strict = await start()
  expect([strict.status, strict.json.error.code]).toEqual([400, 'invalid_parameter'])
  expect(strict.json.error.message).toBe('urgent, sender.team: not a known field.')
})

test('api.answers: answers as described, with further fields, or with fields in another order and errors in other words', async () => {
  const { sim } = world()
  const chat = await sim.chat({ history: [{ user: 'Hi' }] })
  const read = async () => (await post(sim, 'transcript', chat)).json
  const refused = async () => (await post(sim, 'message/', chat, { message: 12 })).json.error
  const described = await read()
  const error = await refused()
  await sim.configure({ 'api.answers': 'extra' })
  const extra = await post(sim, 'transcript', chat)
  expect(assumedBy(extra)).toContain('api.answers')
  expect(extra.json).toEqual({
    ...described,
    added_later: true,
    chat: {
      ...described.chat,
      added_later: true,
      context: { ...described.chat.context, added_later: true },
      messages: [{ ...described.chat.messages[0], added_later: true }],
    },
  })
  expect(await refused()).toEqual({ ...error, message: 'Error 400', added_later: true })
  await sim.configure({ 'api.answers': 'reordered' })
  const reordered = await read()
  expect(reordered).toEqual(described)
  expect(Object.keys(reordered.chat)).toEqual(Object.keys(described.chat).reverse())
  expect(await refused()).toEqual({ ...error, message: 'Error 400' })
})

test('api.versions: answers 404 for versions that are not listed; v2 always works', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  const stop = (version: string) =>
    call(sim, `/api/${version}/handover/typing_stop`, { body: { bot_id: chat.botId, chat_id: chat.id } })
  const unknown = await stop('v3')
  expect(unknown.status).toBe(404)
  expect(assumedBy(unknown)).toContain('api.versions')
  await sim.configure({ 'api.versions': ['v3', 'v7'] })
  expect([(await stop('v3')).status, (await stop('v7')).status, (await stop('v4')).status]).toEqual([200, 200, 404])
  expect((await post(sim, 'typing_stop', chat)).status).toBe(200)
})

test('api.cors: pages of listed origins call the API from a browser, * lets every page', async () => {
  await using server = await startSimulator({ port: 0 })
  const chat = await server.chat()
  const read = async (origin: string) => {
    const headers = { origin, authorization: `Bearer ${server.botApiKey}` }
    const answer = await fetch(`${server.url}/api/v1/chats/${chat.id}`, { headers })
    return [answer.status, answer.headers.get('access-control-allow-origin'), answer.headers.get('vary')]
  }
  const [desk, other] = ['https://desk.example.test', 'https://other.example.test:8443']
  expect([await read(desk), await read(other)]).toEqual([
    [403, null, 'Origin'],
    [403, null, 'Origin'],
  ])

  await server.configure({ 'api.cors': ['https://Desk.example.test:443'] })
  expect([await read(desk), await read(other)]).toEqual([
    [200, desk, 'Origin'],
    [403, null, 'Origin'],
  ])
  expect((await read('http://desk.example.test'))[0]).toBe(403)

  await server.configure({ 'api.cors': '*' })
  expect([await read(other), await read('null')]).toEqual([
    [200, '*', null],
    [200, '*', null],
  ])
})

test('api.cors: an answer to a page names the assumption', async () => {
  const { sim } = world({ knobs: { 'api.cors': 'https://desk.example.test' } })
  const chat = await sim.chat()
  const read = (headers: Record<string, string>) =>
    call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey, headers })
  expect(assumedBy(await read({ origin: 'https://desk.example.test' }))).toContain('api.cors')
  expect(assumedBy(await read({}))).not.toContain('api.cors')
})

test.each([
  'desk.example.test',
  'https://desk.example.test/',
  'https://*.example.test',
  'null',
  'ftp://x',
  'https://a/b',
])('api.cors: %s is no origin', async origin => {
  const { sim } = world()
  await expect(sim.configure({ 'api.cors': [origin] })).rejects.toThrow(/api\.cors.*origins such as/)
})
