/** How strict the API is about paths, headers and fields. */
import { expect, test } from 'vitest'
import type { PlatformSimulator } from '../../src/simulator/simulator.ts'
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
