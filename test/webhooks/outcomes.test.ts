/** Records the outcome of deliveries to receivers that answer, refuse, break off or do not exist. */
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../support/port.ts'
import { post, takenOver } from '../support/test-simulator.ts'
import { answering, deliveredTo, type Handler, rawServer, receiver, simFor } from './receiver.ts'

/** The outcome of each of the four events with this receiver. */
async function outcomes(handler: Handler): Promise<Record<string, string>> {
  const sim = simFor((await receiver(handler)).url)
  const chat = await sim.chat()
  await chat.press('handover')
  await takenOver(sim, {}, chat)
  await chat.says('Hello')
  await post(sim, 'typing_start', chat)
  await post(sim, 'typing_stop', chat)
  await sim.settled()
  return Object.fromEntries(sim.deliveries.map(one => [one.event, `${one.outcome} ${one.status}`]))
}

test.each([
  [[200], 'delivered', 'delivered'],
  [[201, 204, 400, 401, 404, 410, 429, 500, 503], 'failed', 'delivered'],
  [[301, 302, 303, 304, 307, 308], 'failed', 'failed'],
])('%j: events are %s, typing events are %s', async (statuses, outcome, typing) => {
  for (const status of statuses) {
    expect(await outcomes(answering(status, typing === 'failed' ? { location: '/elsewhere' } : {}))).toEqual({
      'REQUESTING TAKEOVER': `${outcome} ${status}`,
      'MESSAGE FROM USER': `${outcome} ${status}`,
      'AGENT TYPING START': `${typing} ${status}`,
      'AGENT TYPING STOP': `${typing} ${status}`,
    })
  }
})

const dripping = (socket: Socket) => {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
  const drip = setInterval(() => socket.write('1\r\nx\r\n'), 5)
  socket.on('close', () => clearInterval(drip))
}

test.each([
  ['does not answer', () => {}],
  ['drips an answer without end', dripping],
])('a receiver that %s: timeout', async (_, onData) => {
  const port = await rawServer(onData)
  const delivery = await deliveredTo(`http://127.0.0.1:${port}/`, { 'webhook.timeout': '100ms' })
  expect(delivery).toMatchObject({ outcome: 'failed', failure: { code: 'timeout', timeout_ms: 100 } })
  expect(delivery.duration_ms).toBeGreaterThanOrEqual(95)
})

test.each([
  ['a port without a server', async () => `http://127.0.0.1:${await freePort()}/`, 'connection_refused'],
  ['HTTPS to a server without TLS', async () => (await receiver()).url.replace('http:', 'https:'), 'no_tls'],
  ['a host that does not exist', async () => 'http://no-such-host.invalid/hook', /^dns_(not_found|no_answer)$/],
])('%s: the code of the failure', async (_, urlOf, code) => {
  const url = await urlOf()
  const { outcome, failure } = await deliveredTo(url)
  expect(outcome).toBe('failed')
  expect(failure).toMatchObject({ code: expect.stringMatching(code), target: new URL(url).host })
})

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n'
const ends = (text: string) => (socket: Socket) => void socket.end(text)
const resets = (socket: Socket) => void socket.write(`${HEAD}part`, () => socket.resetAndDestroy())

test.each([
  ['a reset in the middle', resets, expect.stringMatching(/^connection_(reset|closed)$/)],
  ['closed in the middle', ends(`${HEAD}part`), 'connection_closed'],
  ['closed before', ends(''), 'connection_closed'],
  ['a greeting', ends('220 mail.example.test ESMTP\r\n'), 'not_http'],
  ['a bad status', ends('HTTP/1.1 fine\r\n\r\n'), 'not_http'],
  ['a bad header', ends('HTTP/1.1 200 OK\r\nno colon here\r\n\r\n'), 'not_http'],
])('an answer that is %s: %s', async (_, onData, code) => {
  const port = await rawServer(onData)
  const { failure } = await deliveredTo(`http://127.0.0.1:${port}/`)
  expect(failure).toMatchObject({ code, target: `127.0.0.1:${port}` })
})

test('an endless answer is truncated', async () => {
  const port = await rawServer(socket => {
    const more = () => {
      while (!socket.destroyed && socket.write(`10000\r\n${'ø'.repeat(0x8000)}\r\n`));
    }
    socket.on('drain', more)
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    more()
  })
  const { outcome, response } = await deliveredTo(`http://127.0.0.1:${port}/`)
  expect(outcome).toBe('delivered')
  expect(response).toMatchObject({ truncated: true, body: `${'ø'.repeat(16_383)}…` })
})
