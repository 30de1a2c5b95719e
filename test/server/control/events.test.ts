/** The stream of journal entries: `GET /_sim/events`. */
import { describe, expect, test } from 'vitest'
import { createSimulator } from '../../../src/index.ts'
import { eventStream } from '../../../src/server/control/event-stream.ts'
import type { PlatformServer } from '../../../src/server/start.ts'
import { readEvents } from '../../support/event-stream.ts'
import { startTestServer } from '../../support/test-server.ts'

/** Opens the stream of a server; `next` resolves with each event, and with null at the end. */
async function follow({ url }: PlatformServer, path = '', headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/_sim/events${path}`, { headers })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const events = readEvents(response.body!)
  return {
    async next() {
      const { done, value } = await events.next()
      return done ? null : { event: value.event, id: value.id && Number(value.id), data: JSON.parse(value.data) }
    },
    stop: () => events.return(undefined),
  }
}

test('sends every entry when it is appended, and its end when the server closes', async () => {
  const { server } = await startTestServer()
  const events = await follow(server)
  const ada = await server.chat()
  expect(await events.next()).toMatchObject({ id: 1, data: { seq: 1, note: 'chat_created' } })
  await ada.says('Hi')
  expect(await events.next()).toMatchObject({ id: 2, data: { kind: 'user', text: 'Hi' } })
  const ended = events.next().then(async next => (next?.id === 3 ? events.next() : next))
  await server.close()
  expect(await ended).toBeNull()
})

test('resumes after the last seq of the client, by header or query, in more than one chunk', async () => {
  const { server } = await startTestServer()
  const ada = await server.chat()
  for (let i = 0; i < 450; i++) await ada.says('x')
  const last = server.journal.nextSeq - 1
  for (const [path, headers, after] of [
    ['', { 'last-event-id': String(last - 2) }, last - 2],
    [`?after=${last - 2}`, {}, last - 2],
    ['', {}, 0],
  ] as const) {
    const events = await follow(server, path, headers)
    for (let seq = after + 1; seq <= last; seq++) expect((await events.next())?.id).toBe(seq)
    await events.stop()
  }
})

describe('an instance', () => {
  const stateOf = async ({ url }: PlatformServer) => (await (await fetch(`${url}/_sim/state`)).json()).journal

  test.each<[string, (server: PlatformServer) => unknown, object[]]>([
    ['a reset', server => server.reset(), []],
    [
      'a restored snapshot',
      server => server.restore(server.snapshot({ journal: true })),
      [{ id: 1, data: { chat_id: 'ada' } }],
    ],
  ])('ends with %s: the stream says so, and sends no earlier entry after it', async (_, change, restored) => {
    const { server } = await startTestServer()
    const events = await follow(server)
    await server.chat({ id: 'ada' })
    expect(await events.next()).toMatchObject({ id: 1 })
    const before = await stateOf(server)
    await change(server)
    await server.chat({ id: 'ben' })
    const { instance } = await stateOf(server)
    expect(instance).not.toBe(before.instance)
    const created = { data: { chat_id: 'ben', note: 'chat_created' } }
    for (const expected of [{ id: undefined, event: 'reset', data: { instance } }, ...restored, created])
      expect(await events.next()).toMatchObject(expected)
    await events.stop()
  })

  test('is what a client names to resume in place, or to begin anew after a reset while it was away', async () => {
    const { server } = await startTestServer()
    for (let count = 0; count < 3; count++) await server.chat()
    const { instance } = await stateOf(server)
    const same = await follow(server, `?after=2&instance=${instance}`)
    expect(await same.next()).toMatchObject({ id: 3, event: undefined })
    await same.stop()

    server.reset()
    for (let count = 0; count < 4; count++) await server.chat()
    const other = (await stateOf(server)).instance
    for (const path of [`?after=3&instance=${instance}`, '?after=57']) {
      const later = await follow(server, path)
      expect(await later.next()).toMatchObject({ event: 'reset', data: { instance: other } })
      expect(await later.next()).toMatchObject({ id: 1 })
      await later.stop()
    }
    const { headers, body } = await fetch(`${server.url}/_sim/events`)
    expect(headers.get('x-handover-sim-instance')).toBe(other)
    await body?.cancel()
  })
})

test('sends heartbeats while no entry is appended', async () => {
  const sim = createSimulator()
  const stream = eventStream({
    ...{ journal: sim.journal, after: 0, instance: undefined, currentInstance: () => 'a' },
    ...{ present: (entry: unknown) => entry, closing: new AbortController().signal, streams: { count: 0 } },
    heartbeatMs: 1,
  })
  let text = ''
  for await (const bytes of stream) {
    text += Buffer.from(bytes)
    if (text.includes('still here')) break
  }
  expect(text).toBe(': handover-sim\nretry: 1000\n\n: still here\n\n')
  await sim.chat()
})

test('a server has at most 100 streams, and one that is closed makes room', async () => {
  const { server } = await startTestServer()
  const open = (method = 'GET') => fetch(`${server.url}/_sim/events`, { method })
  for (let index = 0; index < 110; index++) await open('HEAD')
  const streams = await Promise.all(Array.from({ length: 100 }, () => open()))
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
  const refused = await open()
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'too_many_streams' } }])
  await streams[0]!.body!.cancel()
  await expect.poll(async () => (await open()).status).toBe(200)
  for (const { body } of streams.slice(1)) await body?.cancel()
})
