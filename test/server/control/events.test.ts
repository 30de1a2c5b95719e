import { expect, test } from 'vitest'
import { createSimulator, startSimulator } from '../../../src/index.ts'
import { eventStream } from '../../../src/server/control/event-stream.ts'
import type { PlatformServer } from '../../../src/server/start.ts'
import { freePort } from '../../support/port.ts'

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
  await using server = await startSimulator({ port: 0 })
  const events = await follow(server)
  const ada = await server.chat()
  expect(await events.next()).toMatchObject({ id: 1, event: 'message', data: { seq: 1, note: 'chat_created' } })
  await ada.says('Hi')
  expect(await events.next()).toMatchObject({ id: 2, data: { kind: 'user', text: 'Hi' } })
  await events.stop()
})

test('resumes after the last seq of the client, by header or query', async () => {
  await using server = await startSimulator({ port: 0 })
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
  await using server = await startSimulator({ port: 0 })
  const ada = await server.chat()
  for (let i = 0; i < 450; i++) await ada.says('x')
  const events = await follow(server)
  for (let seq = 1; seq < server.journal.nextSeq; seq++) expect((await events.next())?.id).toBe(seq)
  await events.stop()
})

test('sends an event for a reset, and no earlier entry after it', async () => {
  await using server = await startSimulator({ port: 0 })
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
  await using server = await startSimulator({ port: 0 })
  await server.chat()
  const events = await follow(server, '', { 'last-event-id': '57' })
  expect(await events.next()).toMatchObject({ event: 'reset' })
  expect(await events.next()).toMatchObject({ id: 1 })
  await events.stop()
})

/** What a client has that follows the journal, and starts anew at a reset. */
async function collect(events: ReturnType<typeof listen>, known: Heard['data'][], last: number) {
  let instance: string | null = null
  for (let heard = await events.next(); heard !== null; heard = await events.next()) {
    if (heard.event === 'reset') {
      known.length = 0
      instance = String(Reflect.get(heard.data, 'instance'))
    } else known.push(heard.data)
    if (heard.id === last) break
  }
  await events.stop()
  return instance
}

const stateOf = async ({ url }: PlatformServer) => (await fetch(`${url}/_sim/state`)).json()

test('a client that names its instance has no gap and no double after a restart with more entries', async () => {
  const known: Heard['data'][] = []
  const port = await freePort()
  const first = await startSimulator({ port })
  for (let count = 0; count < 3; count++) await first.chat()
  const { journal } = await stateOf(first)
  await collect(await follow(first, `?instance=${journal.instance}`), known, 3)
  expect(known.map(({ seq }) => seq)).toEqual([1, 2, 3])
  await first.close()

  await using second = await startSimulator({ port })
  for (let count = 0; count < 5; count++) await second.chat({ id: `later-${count}` })
  const resumed = await follow(second, `?after=3&instance=${journal.instance}`)
  expect(await collect(resumed, known, 5)).toBe((await stateOf(second)).journal.instance)
  expect(known.map(entry => [entry.seq, Reflect.get(entry, 'chat_id')])).toEqual(
    [1, 2, 3, 4, 5].map(seq => [seq, `later-${seq - 1}`]),
  )
})

test('the same instance resumes in place; a reset while the client was away begins anew', async () => {
  await using server = await startSimulator({ port: 0 })
  for (let count = 0; count < 3; count++) await server.chat()
  const { journal } = await stateOf(server)
  const response = await fetch(`${server.url}/_sim/events?after=2&instance=${journal.instance}`)
  expect(response.headers.get('x-handover-sim-instance')).toBe(journal.instance)
  const events = listen(response.body!)
  expect(await events.next()).toMatchObject({ id: 3, event: 'message' })
  await events.stop()

  server.reset()
  for (let count = 0; count < 4; count++) await server.chat()
  const { instance } = (await stateOf(server)).journal
  expect(instance).not.toBe(journal.instance)
  const later = await follow(server, `?after=3&instance=${journal.instance}`)
  expect(await later.next()).toMatchObject({ event: 'reset', data: { instance } })
  expect(await later.next()).toMatchObject({ id: 1 })
  await later.stop()
})

test('a restored snapshot is a new instance', async () => {
  await using server = await startSimulator({ port: 0 })
  await server.chat()
  const before = (await stateOf(server)).journal
  await server.restore(server.snapshot({ journal: true }))
  const after = (await stateOf(server)).journal
  expect(after.instance).not.toBe(before.instance)
  expect(after.next_seq).toBe(before.next_seq)
})

test('ends the stream when the server closes', async () => {
  const server = await startSimulator({ port: 0 })
  const events = await follow(server)
  const ended = events.next()
  await server.close()
  expect(await ended).toBeNull()
})

test('sends heartbeats while no entry is appended; a cancelled stream removes its listeners', async () => {
  const sim = createSimulator()
  const closing = new AbortController()
  const options = {
    journal: sim.journal,
    after: 0,
    instance: undefined,
    currentInstance: () => 'a',
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
  await using server = await startSimulator({ port: 0 })
  for (let index = 0; index < 110; index++) await openStream(server, 'HEAD')
  const streams = await Promise.all(Array.from({ length: 100 }, () => openStream(server)))
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await openStream(server)).toMatchObject({ status: 503, body: { error: { code: 'too_many_streams' } } })
  await streams[0]!.close()
  await expect.poll(async () => (await openStream(server)).status).toBe(200)
  for (const { close } of streams.slice(1)) await close()
})
