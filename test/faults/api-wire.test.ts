/** Applies API faults to connections, and reads them as raw sockets and as HTTP clients. */

import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { connectRaw } from '../support/network.ts'

async function setUp(spec: FaultSpec) {
  const server = await startSimulator({ port: 0 })
  const chat = await server.chat()
  server.faults.add(spec)
  const body = JSON.stringify({ bot_id: server.botId, chat_id: chat.id })
  const head = `POST /api/v2/handover/start HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.apiKey}\r\nContent-Type: application/json\r\n`
  return { server, chat, body, asked: `${head}Content-Length: ${body.length}\r\n\r\n${body}` }
}

/** The code with which the connection ends, such as ECONNRESET; null for a normal end. */
function ending(port: number, asked: string): Promise<{ seen: string; code: string | null }> {
  return new Promise(resolve => {
    let seen = ''
    let code: string | null = null
    const socket = connect(port, '127.0.0.1', () => socket.write(asked))
    socket.on('data', chunk => {
      seen += chunk
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code ?? 'unknown'
    })
    socket.on('close', () => resolve({ seen, code }))
  })
}

test.each([
  [{ on: 'api', drop: 'before' }, null],
  [{ on: 'api', drop: 'after' }, null],
  [{ on: 'api', reset: true }, 'ECONNRESET'],
] as [FaultSpec, string | null][])('%j: the connection sends no byte and ends with %s', async (spec, code) => {
  const { server, asked } = await setUp(spec)
  await using _ = server
  expect(await ending(server.port, asked)).toEqual({ seen: '', code })
})

test('slow_body: the body is sent after the head, with the right length', async () => {
  const { server, asked } = await setUp({ on: 'api', slow_body: '80ms' })
  await using _ = server
  const line = await connectRaw(server.port)
  line.send(asked)
  const head = await line.until(/\r\n\r\n/)
  expect(head).toMatch(/^HTTP\/1\.1 200 OK/)
  const length = Number(/content-length: (\d+)/i.exec(head)![1])
  expect(head.split('\r\n\r\n')[1]!.length).toBeLessThan(length)
  const whole = await line.until(/\}$/)
  expect(whole.split('\r\n\r\n')[1]).toHaveLength(length)
  line.destroy()
})

test('malformed: the length is that of the sent body, and the connection stays open', async () => {
  const { server, asked } = await setUp({ on: 'api', malformed: true, times: 1 })
  await using _ = server
  const line = await connectRaw(server.port)
  line.send(asked)
  const first = await line.until(/TAKEOVER/)
  const [head, body] = first.split('\r\n\r\n')
  expect(Number(/content-length: (\d+)/i.exec(head!)![1])).toBe(body!.length)
  line.send(asked)
  expect((await line.until(/\}$/)).match(/HTTP\/1\.1 200/g)).toHaveLength(2)
  line.destroy()
})

test('node:http reports a reset as ECONNRESET', async () => {
  const { server, body } = await setUp({ on: 'api', reset: true })
  await using _ = server
  const error = await new Promise<NodeJS.ErrnoException>(resolve => {
    const headers = { authorization: `Bearer ${server.apiKey}` }
    request(`${server.url}/api/v2/handover/end`, { method: 'POST', headers }).on('error', resolve).end(body)
  })
  expect(error.code).toBe('ECONNRESET')
})

test('closing the server does not wait for a slow body', async () => {
  const { server, asked } = await setUp({ on: 'api', slow_body: '1h' })
  const line = await connectRaw(server.port)
  line.send(asked)
  await line.until(/\r\n\r\n/)
  await server.close()
  expect(await line.ended()).toMatch(/^HTTP\/1\.1 200/)
})

test('a client may close the connection in the middle of a slow body', async () => {
  const { server, asked, chat } = await setUp({ on: { api: 'start' }, slow_body: '40ms', times: 1 })
  await using _ = server
  const line = await connectRaw(server.port)
  line.send(asked)
  await line.until(/\r\n\r\n/)
  line.destroy()
  await server.settled()
  expect((await fetch(`${server.url}/_sim/chats/${chat.id}`)).status).toBe(200)
})
