/** Records the outcome of deliveries to receivers that answer, refuse, break off or do not exist. */
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

const all = (outcome: string, typing = outcome) => ({
  'REQUESTING TAKEOVER': outcome,
  'MESSAGE FROM USER': outcome,
  'AGENT TYPING START': typing,
  'AGENT TYPING STOP': typing,
})

test('200 delivers all four events', async () => {
  expect(await outcomes(answering(200))).toEqual(all('delivered 200'))
})

test.each([201, 204, 400, 401, 404, 410, 429, 500, 503])('%i acknowledges only the typing events', async status => {
  expect(await outcomes(answering(status))).toEqual(all(`failed ${status}`, `delivered ${status}`))
})

test.each([301, 302, 303, 304, 307, 308])('%i acknowledges no event', async status => {
  expect(await outcomes(answering(status, { location: '/elsewhere' }))).toEqual(all(`failed ${status}`))
})

test('the failure has status and event', async () => {
  const { url } = await receiver(answering(204))
  expect(await deliveredTo(url)).toMatchObject({
    status: 204,
    failure: { code: 'not_acknowledged', status: 204, event: 'MESSAGE FROM USER' },
    response: { body: '', truncated: false },
  })
})

test('a failed delivery does not change the chat', async () => {
  const sim = simFor((await receiver(answering(500))).url)
  const chat = await takenOver(sim)
  await chat.says('Hello')
  expect([chat.status, chat.transcript.at(-1)!.text]).toEqual(['agent', 'Hello'])
})

test('a receiver that does not answer: timeout', async () => {
  const { url } = await receiver(() => {})
  const delivery = await deliveredTo(url, { 'webhook.timeout': '100ms' })
  expect(delivery).toMatchObject({ outcome: 'failed', status: null, response: null })
  expect(delivery.failure).toEqual({ code: 'timeout', timeout_ms: 100 })
  expect(delivery.duration_ms).toBeGreaterThanOrEqual(95)
})

test('an answer that drips and never ends: timeout', async () => {
  const port = await rawServer(socket => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const drip = setInterval(() => socket.write('1\r\nx\r\n'), 5)
    socket.on('close', () => clearInterval(drip))
  })
  const delivery = await deliveredTo(`http://127.0.0.1:${port}/`, { 'webhook.timeout': '100ms' })
  expect(delivery.failure).toEqual({ code: 'timeout', timeout_ms: 100 })
})

test('a port without a server: connection_refused', async () => {
  const port = await freePort()
  const { outcome, failure } = await deliveredTo(`http://127.0.0.1:${port}/`)
  expect(outcome).toBe('failed')
  expect(failure).toEqual({ code: 'connection_refused', target: `127.0.0.1:${port}`, system_code: 'ECONNREFUSED' })
})

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n'

test('a reset in the middle of the answer: connection_reset', async () => {
  const port = await rawServer(socket => socket.write(`${HEAD}part`, () => socket.resetAndDestroy()))
  const { failure } = await deliveredTo(`http://127.0.0.1:${port}/`)
  expect(failure).toMatchObject({
    code: expect.stringMatching(/^connection_(reset|closed)$/),
    target: `127.0.0.1:${port}`,
  })
})

test('closed before or in the middle of the answer: connection_closed', async () => {
  const inside = await rawServer(socket => socket.end(`${HEAD}part`))
  const before = await rawServer(socket => socket.end())
  for (const port of [inside, before]) {
    const { failure } = await deliveredTo(`http://127.0.0.1:${port}/`)
    expect(failure).toMatchObject({ code: 'connection_closed', target: `127.0.0.1:${port}` })
  }
})

test.each([
  ['a greeting', '220 mail.example.test ESMTP\r\n'],
  ['a bad status', 'HTTP/1.1 fine\r\n\r\n'],
  ['a bad header', 'HTTP/1.1 200 OK\r\nno colon here\r\n\r\n'],
])('an answer that is not HTTP: %s', async (_what, garbage) => {
  const port = await rawServer(socket => socket.end(garbage))
  const { failure } = await deliveredTo(`http://127.0.0.1:${port}/`)
  expect(failure).toMatchObject({ code: 'not_http', target: `127.0.0.1:${port}` })
})

test('HTTPS to a server without TLS: no_tls', async () => {
  const { url } = await receiver()
  const { failure } = await deliveredTo(url.replace('http:', 'https:'))
  expect(failure).toEqual({
    code: 'no_tls',
    target: new URL(url).host,
    system_code: 'ERR_SSL_WRONG_VERSION_NUMBER',
  })
})

test('a host that does not exist: dns_not_found', async () => {
  const { failure } = await deliveredTo('http://no-such-host.invalid/hook')
  expect(failure).toMatchObject({
    code: expect.stringMatching(/^dns_(not_found|no_answer)$/),
    target: 'no-such-host.invalid',
  })
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
