/** Snapshots over the control API. */
import { describe, expect, test } from 'vitest'
import type { Snapshot } from '../../../src/platform/simulator/snapshot/schema.ts'
import { connectRaw } from '../../support/network.ts'
import { startTestServer } from '../../support/test-server.ts'

const start = async () => {
  const started = await startTestServer({ clock: 'virtual' })
  const restore = (body: unknown) => started.control('PUT', '/snapshot', { body })
  return { ...started, restore }
}
const fieldsOf = (body: { error: { issues: { field: string }[] } }) => [
  ...new Set(body.error.issues.map(({ field }) => field)),
]

test('captures the state and restores it', async () => {
  const { server, control, restore } = await start()
  await control('POST', '/chats', { body: { id: 'ada' } })
  const { body: snapshot } = await control('GET', '/snapshot?journal=true')
  expect(snapshot).toMatchObject({
    ...{ v: 1, seed: 1, chats: [{ id: 'ada' }] },
    journal: { nextSeq: 2, entries: [{ seq: 1 }] },
  })
  expect(JSON.stringify(snapshot)).not.toContain(server.apiKey)
  await control('POST', '/chats', { body: { id: 'bob' } })
  const { body } = await restore(snapshot)
  expect(body).toMatchObject({ restored: true, chats: 1, next_seq: 2, taken_at: snapshot.taken_at })
  expect((await control('GET', '/chats')).body.chats).toHaveLength(1)
  const withKeys = await control('GET', '/snapshot?keys=true')
  expect(withKeys.body.config['keys.handover']).toBe(server.apiKey)
  expect(withKeys.body.journal.entries).toBeUndefined()
})

test('restores a deadline beyond the end of the clock, and a request with the header Set-Cookie', async () => {
  const { server, control, call, restore } = await start()
  await call('typing_start', { chat_id: (await server.chat()).id, timeout: Number.MAX_SAFE_INTEGER })
  const line = await connectRaw(server.port)
  line.send('GET /api/v1/chats/x HTTP/1.1\r\nHost: sim\r\nSet-Cookie: a=1\r\nConnection: close\r\n\r\n')
  await line.ended()
  const { body } = await control('GET', '/snapshot?journal=true')
  expect(body.deadlines).toMatchObject([{ atMs: Date.UTC(2255, 0, 1) }])
  expect(body.journal.entries.at(-1).request.headers['set-cookie']).toBe('***')
  expect((await restore(body)).status).toBe(200)
})

test('a body may nest 64 levels deep, so that every chat can be restored', async () => {
  const { control, restore } = await start()
  const create = (levels: number) =>
    control('POST', '/chats', { text: `{"context":{"deep":${'['.repeat(levels)}${']'.repeat(levels)}}}` })
  expect((await create(62)).status).toBe(201)
  for (const levels of [63, 5000]) {
    const { status, body } = await create(levels)
    expect([status, fieldsOf(body)]).toEqual([422, ['body']])
  }
  expect((await restore((await control('GET', '/snapshot?journal=true')).body)).status).toBe(200)
})

test('a chat with many messages and labels is restored, and a wrong one of them is named', async () => {
  const { control, restore } = await start()
  const history = Array.from({ length: 250 }, (_, at) => ({ user: `Text ${at}` }))
  const labels = Array.from({ length: 120 }, (_, at) => `label ${at}`)
  await control('POST', '/chats', { body: { id: 'ada', history, labels } })
  await control('POST', '/chats', { body: { id: 'bo' } })
  const { body: snapshot } = await control('GET', '/snapshot?keys=true')
  expect((await restore(snapshot)).status).toBe(200)
  const { body: again } = await control('GET', '/snapshot?keys=true')
  expect([again.chats, again.chats[0].messages.length]).toEqual([snapshot.chats, 250])
  const messages = snapshot.chats[0].messages.with(212, { ...snapshot.chats[0].messages[212], text: 7 })
  const refused = await restore({ ...snapshot, chats: [{ ...snapshot.chats[0], messages }] })
  expect([refused.status, fieldsOf(refused.body)]).toEqual([422, ['chats[0].messages[212].text']])
})

test('the snapshot of a workspace shows no key of the server', async () => {
  const { control } = await startTestServer({ knobs: { 'keys.handover': 'key-of-the-server-1' } })
  await control('POST', '/workspaces', { body: { name: 'other' } })
  await control('POST', '/workspaces/other/chats', { body: { history: [{ user: 'is it key-of-the-server-1?' }] } })
  const { status, body: snapshot } = await control('GET', '/workspaces/other/snapshot?journal=true')
  expect([status, snapshot.chats[0].messages[0].text]).toEqual([200, 'is it ***?'])
})

describe('refuses', () => {
  test('another version, and wrong settings, with every reason', async () => {
    const { control, restore } = await start()
    const { body: snapshot } = await control('GET', '/snapshot')
    const other = await restore({ ...snapshot, v: 7 })
    expect([other.status, other.body.error.code, fieldsOf(other.body)]).toEqual([422, 'invalid_snapshot', ['v']])
    const config = { ...snapshot.config, 'typing.webhook': 'maybe', nothing: 1 }
    const text = JSON.stringify({ ...snapshot, config }).replace('"config":{', '"config":{"__proto__":1,')
    const { body } = await restore(JSON.parse(text))
    expect(fieldsOf(body)).toEqual(['config.__proto__', 'config.typing.webhook', 'config.nothing'])
  })

  test('rows of a long list, by their number, and changes nothing', async () => {
    const { server, control, restore } = await start()
    await server.chat({ id: 'ada', history: Array.from({ length: 300 }, (_, at) => ({ user: `${at}` })) })
    const { body: snapshot } = await control('GET', '/snapshot')
    for (const message of snapshot.chats[0].messages.slice(250)) message.text = 250
    const { error } = (await restore(snapshot)).body
    expect(error.issues).toHaveLength(5)
    expect(error.issues[0]).toMatchObject({ field: 'chats[0].messages[250].text' })
    expect(server.findChat('ada')!.transcript).toHaveLength(300)
  })

  const ABSURD = [9e21, 9e18, -1, 0.5, 'NaN', null]
  test.each<[string, (snapshot: Snapshot) => object, readonly unknown[]]>([
    ['clock.now_ms', ({ clock }) => clock, ABSURD],
    ['clock.start_ms', ({ clock }) => clock, ABSURD],
    ['chats[0].created', ({ chats }) => chats[0]!, ABSURD],
    ['chats[0].updated', ({ chats }) => chats[0]!, ABSURD],
    ['continuation.stamp', ({ continuation }) => continuation, ABSURD],
    ['continuation.journalStamp', ({ continuation }) => continuation, ABSURD],
    ['deadlines[0].at_ms', ({ deadlines }) => deadlines[0]!, ABSURD],
    ['journal.entries[0].time', ({ journal }) => journal.entries![0]!, ABSURD],
    ['journal.entries[5].payload', ({ journal }) => journal.entries![5]!, [null, 'x']],
    ['journal.entries[6].request', ({ journal }) => journal.entries![6]!, [null, 'x']],
    ['journal.entries[0].kind', ({ journal }) => journal.entries![0]!, ['notes', null]],
    ['faults[0].name', ({ faults }) => faults[0]!, ['a\r\nb', 'å', 'x'.repeat(61)]],
  ])('an absurd %s', async (field, rowOf, values) => {
    const { server, control, restore } = await start()
    await control('PATCH', '/config', { body: { 'chat.idleTimeout': '1h' } })
    await control('POST', '/faults', { body: { on: { api: 'any' }, slow_body: '1ms' } })
    await (await server.chat()).press('handover')
    const { body } = await control('GET', '/snapshot?journal=true')
    for (const value of values) {
      const copy = structuredClone(body)
      Object.assign(rowOf(copy), { [field.split('.').at(-1)!]: value })
      const refused = await restore(copy)
      expect([refused.status, fieldsOf(refused.body)], String(value)).toEqual([422, [field]])
    }
    expect(await control('GET', '/state')).toMatchObject({ status: 200, body: { chats: [{}] } })
  })
})
