/** Records the outcome of deliveries to receivers that answer, refuse, break off or do not exist. */
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { post, takenOver } from '../knobs/support.ts'
import { freePort } from '../support/port.ts'
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

test.each<[number, string, string]>([
  [200, 'delivered', 'delivered'],
  ...[201, 204, 400, 401, 404, 410, 429, 500, 503].map(
    status => [status, 'failed', 'delivered'] as [number, string, string],
  ),
  ...[301, 302, 303, 304, 307, 308].map(status => [status, 'failed', 'failed'] as [number, string, string]),
])('%i: events are %s, typing events are %s', async (status, outcome, typing) => {
  const headers: Record<string, string> = typing === 'failed' ? { location: '/elsewhere' } : {}
  expect(await outcomes(answering(status, headers))).toEqual({
    'REQUESTING TAKEOVER': `${outcome} ${status}`,
    'MESSAGE FROM USER': `${outcome} ${status}`,
    'AGENT TYPING START': `${typing} ${status}`,
    'AGENT TYPING STOP': `${typing} ${status}`,
  })
})

test('the failure has status and event, and the chat is unchanged', async () => {
  const sim = simFor((await receiver(answering(204))).url)
  const chat = await takenOver(sim)
  await chat.says('Hello')
  expect(sim.deliveries).toMatchObject([
    {
      status: 204,
      failure: { code: 'not_acknowledged', status: 204, event: 'MESSAGE FROM USER' },
      response: { body: '', truncated: false },
    },
  ])
  expect([chat.status, chat.transcript.at(-1)!.text]).toEqual(['agent', 'Hello'])
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

test('a port without a server: connection_refused', async () => {
  const port = await freePort()
  const { outcome, failure } = await deliveredTo(`http://127.0.0.1:${port}/`)
  expect(outcome).toBe('failed')
  expect(failure).toEqual({ code: 'connection_refused', target: `127.0.0.1:${port}`, system_code: 'ECONNREFUSED' })
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

test('HTTPS to a server without TLS: no_tls', async () => {
  const { url } = await receiver()
  const { failure } = await deliveredTo(url.replace('http:', 'https:'))
  const system_code = 'ERR_SSL_WRONG_VERSION_NUMBER'
  expect(failure).toEqual({ code: 'no_tls', target: new URL(url).host, system_code })
})

test('a host that does not exist: dns_not_found', async () => {
  const { failure } = await deliveredTo('http://no-such-host.invalid/hook')
  const code = expect.stringMatching(/^dns_(not_found|no_answer)$/)
  expect(failure).toMatchObject({ code, target: 'no-such-host.invalid' })
})

test('a long answer is truncated and marked', async () => {
  const { url } = await receiver((_got, response) => response.end('ø'.repeat(20_000)))
  const { outcome, response } = await deliveredTo(url)
  expect(outcome).toBe('delivered')
  expect(response).toMatchObject({ truncated: true, body: 'ø'.repeat(16_384) })
})

test('an endless answer is truncated', async () => {
  const port = await rawServer(socket => {
    const more = () => {
      while (!socket.destroyed && socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`));
    }
    socket.on('drain', more)
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    more()
  })
  const { outcome, response } = await deliveredTo(`http://127.0.0.1:${port}/`)
  expect(outcome).toBe('delivered')
  expect(response).toMatchObject({ truncated: true, body: 'x'.repeat(16_384) })
})

test('without a webhook URL a delivery is skipped: no_url', async () => {
  const { url } = await receiver()
  const sim = simFor(url)
  const chat = await takenOver(sim)
  await sim.configure({ 'webhook.url': null })
  const { ack } = await chat.says('Anyone?')
  expect(ack).toMatchObject({ status: null, error: 'no webhook URL is set' })
  expect(sim.deliveries[0]).toMatchObject({ outcome: 'skipped', url: null, attempt: 1 })
})
