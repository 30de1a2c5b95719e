/** Each delivery has a connection of its own, so that none is lost with a kept one, or answered by what came before. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createSimulator } from '../../src/index.ts'

it('a server that answers too often, and breaks kept connections, neither loses an event nor answers the next one', async () => {
  const sockets: Socket[] = []
  const server = createServer(socket => {
    sockets.push(socket)
    let requests = 0
    socket.on('error', () => {})
    socket.on('data', () => {
      // A request on a kept connection is reset, as when its closing crosses the request.
      if (requests++ > 0) return socket.resetAndDestroy()
      const answer = (status: string) => `HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`
      socket.write(answer('200 OK') + answer('500 Nobody Asked'))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`
  await using sim = createSimulator({ webhook: { url } })
  const chat = await sim.chat()
  await chat.press('handover')
  for (const text of ['one', 'two', 'three']) await chat.says(text)
  await sim.settled()
  const statuses = sim.deliveries.map(({ status }) => status)
  expect(statuses.length).toBeGreaterThan(0)
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(sockets.length).toBe(statuses.length)
})
