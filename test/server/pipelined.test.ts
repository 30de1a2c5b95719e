/** Requests that arrive together, also on one connection: each gets its own answer. */

import { createServer } from 'node:http'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { ApiRequest } from '../../src/platform/api/messages.ts'
import { createNodeAdapter, listen } from '../../src/server/http.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import { connectRaw } from '../support/network.ts'

const start = async (): Promise<PlatformServer> => {
  const server = await startSimulator({ port: 0 })
  onTestFinished(() => server.close())
  return server
}

const post = (server: PlatformServer, path: string, value: object, last = false): string => {
  const body = JSON.stringify({ bot_id: server.botId, ...value })
  const head = ['Host: localhost', `Authorization: Bearer ${server.apiKey}`, 'Content-Type: application/json']
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  const lines = [`POST /api/v2/handover/${path} HTTP/1.1`, ...head, length, ...(last ? ['Connection: close'] : [])]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Writes the requests of each connection before the server can read one of them. */
async function sendTogether(port: number, requests: readonly string[]): Promise<readonly string[]> {
  const lines = await Promise.all(requests.map(() => connectRaw(port)))
  lines.forEach((line, at) => {
    line.send(requests[at] ?? '')
  })
  return Promise.all(lines.map(line => line.ended()))
}

test('each of many requests gets its own answer', async () => {
  const server = await start()
  const chat = await server.chat()
  await sendTogether(server.port, [post(server, 'start', { chat_id: chat.id }, true)])
  const textOf = (id: string) => chat.transcript.find(message => message.id === id)?.text
  const message = (text: string, last: boolean) =>
    post(
      server,
      'message/',
      { chat_id: chat.id, message: text, sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' } },
      last,
    )
  const texts = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 8 }), async lists => {
      const requests = lists.map(list => list.map((text, at) => message(text, at === list.length - 1)).join(''))
      const answers = await sendTogether(server.port, requests)
      const ids = answers.map(answer => [...answer.matchAll(/"chatmessage_id":"(\w+)"/g)].map(([, id = '']) => id))
      expect(ids.map(list => list.map(textOf))).toEqual(lists)
    }),
    { numRuns: 20 },
  )
})

test('a request whose handling fails leaves the others their answers', async () => {
  const thrown: unknown[] = []
  const api = ({ target }: ApiRequest) => {
    if (target === '/broken') throw new Error('broken')
    return { status: 200, headers: {}, body: target }
  }
  const adapter = createNodeAdapter(
    api,
    () => 1000,
    error => thrown.push(error),
  )
  const server = createServer(adapter)
  const line = await connectRaw(await listen(server, '127.0.0.1', 0))
  onTestFinished(() => {
    line.destroy()
    server.close()
  })
  const one = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
  line.send(one('/first') + one('/broken') + one('/third', 'Connection: close\r\n'))
  const answers = await line.ended()
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 500', 'HTTP/1.1 200'])
  expect(answers).toMatch(/\/first[\s\S]*\/third/)
  expect(thrown).toHaveLength(1)
})
