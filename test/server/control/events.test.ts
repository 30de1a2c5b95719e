import { expect, test } from 'vitest'
import { eventStream } from '../../../src/server/control/event-stream.ts'
import { type PlatformServer, startServer } from '../../../src/server/start.ts'
import { createPlatformSimulator } from '../../../src/simulator/simulator.ts'

interface Heard {
  readonly id: number | null
  readonly event: string
  readonly data: { seq?: number; note?: string }
}

/** Reads server-sent events one after the other. */
function listen(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const block = async (): Promise<string | null> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end !== -1) {
        const found = text.slice(0, end)
        text = text.slice(end + 2)
        return found
      }
      const { done, value } = await reader.read()
      if (done) return null
      text += decoder.decode(value, { stream: true })
    }
  }
  return {
    block,
    async next(): Promise<Heard | null> {
      for (let found = await block(); found !== null; found = await block()) {
        const fields = Object.fromEntries(found.split('\n').map(line => line.split(/: (.*)/s) as [string, string]))
        if (fields.data !== undefined)
          return {
            id: fields.id ? Number(fields.id) : null,
            event: fields.event ?? 'message',
            data: JSON.parse(fields.data),
          }
      }
      return null
    },
    stop: () => reader.cancel(),
  }
}

async function follow(server: PlatformServer, path = '', headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/_sim/events${path}`, { headers })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  return listen(response.body!)
}

test('sends every entry when it is appended, with its seq as id', async () => {
  await using server = await startServer({ port: 0 })
  const events = await follow(server)
  const ada = await server.chat()
  expect(await events.next()).toMatchObject({ id: 1, event: 'message', data: { seq: 1, note: 'chat_created' } })
  await ada.says('Hi')
  expect(await events.next()).toMatchObject({ id: 2, data: { kind: 'user', text: 'Hi' } })
  await events.stop()
})

test('resumes after the last seq of the client, by header or query', async () => {
  await using server = await startServer({ port: 0 })
  const ada = await server.chat()
  for (const text of ['one', 'two', 'three']) await ada.says(text)
  const last = server.journal.nextSeq - 1
  for (const events of [
    await follow(server, '', { 'last-event-id': String(last - 2) }),
    await follow(server, `?after=${last - 2}`),
  ]) {
    expect(await events.next()).toMatchObject({ id: last - 1 })
    expect(await events.next()).toMatchObject({ id: last })
    await events.stop()
  }
})

test('sends more than one chunk of old entries completely and in order', async () => {
  await using server = await startServer({ port: 0 })
  const ada = await server.chat()
  for (let i = 0; i < 450; i++) await ada.says('x')
  const events = await follow(server)
  for (let seq = 1; seq < server.journal.nextSeq; seq++) expect((await events.next())?.id).toBe(seq)
  await events.stop()
})

test('sends an event for a reset, and no earlier entry after it', async () => {
  await using server = await startServer({ port: 0 })
  const events = await follow(server)
  await server.chat()
  expect(await events.next()).toMatchObject({ id: 1 })
  server.reset()
  await server.chat()
  expect(await events.next()).toMatchObject({ id: null, event: 'reset' })
  expect(await events.next()).toMatchObject({ id: 1, data: { note: 'chat_created' } })
  await events.stop()
})

test('sends a reset event to a client that was disconnected during a reset', async () => {
  await using server = await startServer({ port: 0 })
  await server.chat()
  const events = await follow(server, '', { 'last-event-id': '57' })
  expect(await events.next()).toMatchObject({ event: 'reset' })
  expect(await events.next()).toMatchObject({ id: 1 })
  await events.stop()
})

test('ends the stream when the server closes', async () => {
  const server = await startServer({ port: 0 })
  const events = await follow(server)
  const ended = events.next()
  await server.close()
  expect(await ended).toBeNull()
})

test('sends heartbeats while no entry is appended; a cancelled stream removes its listeners', async () => {
  const sim = createPlatformSimulator()
  const closing = new AbortController()
  const options = {
    journal: sim.journal,
    after: 0,
    present: (entry: unknown) => entry,
    closing: closing.signal,
    streams: { count: 0 },
  }
  const events = listen(eventStream({ ...options, heartbeatMs: 1 }))
  expect(await events.block()).toBe(': handover-sim\nretry: 1000')
  expect(await events.block()).toBe(': still here')
  await events.stop()
  await sim.chat()
})

/** Opens a stream and resolves with its status; an open stream is read once, because a client may be slow. */
async function openStream(server: PlatformServer, method = 'GET') {
  const response = await fetch(`${server.url}/_sim/events`, { method })
  const body = response.status === 200 ? null : await response.json()
  return { status: response.status, body, close: () => response.body?.cancel() }
}

test('a server has at most 100 streams, and one that is closed makes room', async () => {
  await using server = await startServer({ port: 0 })
  for (let index = 0; index < 110; index++) await openStream(server, 'HEAD')
  const streams = await Promise.all(Array.from({ length: 100 }, () => openStream(server)))
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await openStream(server)).toMatchObject({ status: 503, body: { error: { code: 'too_many_streams' } } })
  await streams[0]!.close()
  await expect.poll(async () => (await openStream(server)).status).toBe(200)
  for (const { close } of streams.slice(1)) await close()
})
