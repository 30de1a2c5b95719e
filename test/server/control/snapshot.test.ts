/** Snapshots over the control API, and what a reader of the events hears of them. */

import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { createControlClient } from '../../support/control-client.ts'

const SERVER = { port: 0, clock: 'virtual' } as const

test('captures the state and restores it', async () => {
  await using server = await startSimulator(SERVER)
  const ask = createControlClient(server)
  await ask('POST', '/chats', { body: { id: 'ada' } })
  const { body: snapshot } = await ask('GET', '/snapshot?journal=true')
  expect(snapshot).toMatchObject({
    v: 1,
    seed: 1,
    chats: [{ id: 'ada' }],
    journal: { nextSeq: 2, entries: [{ seq: 1 }] },
  })
  expect(JSON.stringify(snapshot)).not.toContain(server.apiKey)
  await ask('POST', '/chats', { body: { id: 'bob' } })
  const restored = await ask('PUT', '/snapshot', { body: snapshot })
  expect(restored.body).toMatchObject({ restored: true, chats: 1, next_seq: 2, taken_at: snapshot.taken_at })
  expect((await ask('GET', '/chats')).body.chats).toHaveLength(1)
  const withKeys = await ask('GET', '/snapshot?keys=true')
  expect(withKeys.body.config['keys.handover']).toBe(server.apiKey)
  expect(withKeys.body.journal.entries).toBeUndefined()
})

test('refuses a wrong snapshot with every reason, by field', async () => {
  await using server = await startSimulator(SERVER)
  const ask = createControlClient(server)
  const { body: snapshot } = await ask('GET', '/snapshot')
  const other = await ask('PUT', '/snapshot', { body: { ...snapshot, v: 7 } })
  expect([other.status, other.body.error.code]).toEqual([422, 'invalid_snapshot'])
  expect(other.body.error.issues).toMatchObject([{ field: 'v', message: expect.stringContaining('has version 7') }])
  const config = { ...snapshot.config, 'typing.webhook': 'maybe', nothing: 1 }
  const { error } = (await ask('PUT', '/snapshot', { body: { ...snapshot, config } })).body
  expect(error.issues.map((issue: { field: string }) => issue.field)).toEqual([
    'config.typing.webhook',
    'config.nothing',
  ])
  expect((await ask('PUT', '/snapshot', { text: '[]' })).status).toBe(422)
})

test('names the rows of a long list that are wrong', async () => {
  await using server = await startSimulator(SERVER)
  const ask = createControlClient(server)
  await server.chat({ id: 'ada', history: Array.from({ length: 300 }, (_, at) => ({ user: `${at}` })) })
  const { body: snapshot } = await ask('GET', '/snapshot')
  const [row] = snapshot.chats
  const wrong = row.messages.map((message: object, at: number) => (at < 250 ? message : { ...message, text: at }))
  const { error } = (await ask('PUT', '/snapshot', { body: { ...snapshot, chats: [{ ...row, messages: wrong }] } }))
    .body
  expect(error.issues[0]).toEqual({
    field: 'chats[0].messages[250].text',
    message: 'chats[0].messages[250].text must be a string, got the number 250; write it in quotes: "250".',
  })
  expect(error.issues).toHaveLength(5)
  expect((await ask('PUT', '/snapshot', { body: snapshot })).body).toMatchObject({ restored: true })
  expect(server.findChat('ada')!.transcript).toHaveLength(300)
})

test('sends an event for a reset and a restore before later entries', async () => {
  await using server = await startSimulator(SERVER)
  await server.chat({ id: 'ada' })
  const snapshot = server.snapshot({ journal: true })
  const response = await fetch(`${server.url}/_sim/events`)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let heard = ''
  const until = async (text: string) => {
    while (!heard.includes(text)) heard += (await reader.read()).value
    const seen = heard
    heard = ''
    return seen
  }
  await until('"chat_id":"ada"')
  server.reset()
  expect(await until('event: reset')).not.toContain('ada')
  await server.restore(snapshot)
  expect(await until('"chat_id":"ada"')).toMatch(/event: reset\ndata: \{"instance":"[\w-]+"\}\n\nid: 1\n/)
  await reader.cancel()
})

test('refuses to write a snapshot that could not be restored, with its size and the limit', async () => {
  await using server = await startSimulator(SERVER)
  const chat = await server.chat()
  await server.fetch(server.url)
  const bytes = new Uint8Array(51_000_000)
  await chat.says('Here', { attach: [{ name: 'a.bin', type: 'application/octet-stream', bytes }] })
  const { status, body } = await createControlClient(server)('GET', '/snapshot')
  expect([status, body.error.code]).toEqual([422, 'invalid_snapshot'])
  expect(body.error.message).toMatch(/The snapshot has 68\d+ bytes; at most 67108864 are written and read/)
})

test('refuses a body that is larger than a snapshot may be', async () => {
  await using server = await startSimulator(SERVER)
  const text = JSON.stringify({ v: 1, padding: 'x'.repeat(67_108_864) })
  const { status, body } = await createControlClient(server)('PUT', '/snapshot', { text })
  expect([status, body.error.code]).toEqual([413, 'payload_too_large'])
  expect(body.error.message).toMatch(/at most 67108864 bytes; this one has 6710\d+ bytes/)
})
