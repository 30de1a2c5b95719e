/** Applies API faults to connections, and reads them as raw sockets and as HTTP clients. */

import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { connectRaw } from '../support/network.ts'

/** Starts a server with a fault, and writes the request of a start as a client sends it. */
async function setUp(spec: FaultSpec) {
  const server = await startSimulator({ port: 0 })
  onTestFinished(() => server.close())
  const chat = await server.chat()
  server.faults.add(spec)
  const body = JSON.stringify({ bot_id: server.botId, chat_id: chat.id })
  const head = ['POST /api/v2/handover/start HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${server.apiKey}`]
  const headers = [...head, 'Content-Type: application/json', `Content-Length: ${body.length}`].join('\r\n')
  return { server, chat, request: `${headers}\r\n\r\n${body}` }
}

/** Sends the request, and reads up to the end of the head of the answer. */
async function readHead(spec: FaultSpec) {
  const made = await setUp(spec)
  const line = await connectRaw(made.server.port)
  onTestFinished(() => line.destroy())
  line.send(made.request)
  return { ...made, line, head: await line.until(/\r\n\r\n/) }
}

test.each([
  [{ on: 'api', drop: 'before' }, 'UND_ERR_SOCKET'],
  [{ on: 'api', drop: 'after' }, 'UND_ERR_SOCKET'],
  [{ on: 'api', reset: true }, 'ECONNRESET'],
] as [FaultSpec, string][])(
  '%j: the connection ends without an answer, which fetch reports as %s',
  async (spec, code) => {
    const { server } = await setUp(spec)
    const failure = await fetch(`${server.url}/api/v2/handover/start`, { method: 'POST' }).catch(error => error)
    expect([failure.message, failure.cause.code]).toEqual(['fetch failed', code])
  },
)

test('slow_body: the body is sent after the head, with the right length', async () => {
  const { line, head } = await readHead({ on: 'api', slow_body: '80ms' })
  expect(head).toMatch(/^HTTP\/1\.1 200 OK/)
  const length = Number(/content-length: (\d+)/i.exec(head)![1])
  expect(head.split('\r\n\r\n')[1]!.length).toBeLessThan(length)
  const whole = await line.until(/\}$/)
  expect(whole.split('\r\n\r\n')[1]).toHaveLength(length)
})

test('malformed: the length is that of the sent body, and the connection stays open', async () => {
  const { line, request } = await readHead({ on: 'api', malformed: true, times: 1 })
  const [head, body] = (await line.until(/TAKEOVER/)).split('\r\n\r\n')
  expect(Number(/content-length: (\d+)/i.exec(head!)![1])).toBe(body!.length)
  line.send(request)
  expect((await line.until(/\}$/)).match(/HTTP\/1\.1 200/g)).toHaveLength(2)
})

test('closing the server does not wait for a slow body', async () => {
  const { server, line } = await readHead({ on: 'api', slow_body: '1h' })
  await server.close()
  expect(await line.ended()).toMatch(/^HTTP\/1\.1 200/)
})

test('a client may close the connection in the middle of a slow body', async () => {
  const { server, line, chat } = await readHead({ on: { api: 'start' }, slow_body: '40ms', times: 1 })
  line.destroy()
  await server.settled()
  expect((await fetch(`${server.url}/_sim/chats/${chat.id}`)).status).toBe(200)
})
