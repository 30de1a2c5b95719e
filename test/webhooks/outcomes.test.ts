/** What real receivers do to a delivery, and the words for it. */
import { expect, test } from 'vitest'
import type { DeliveryContent } from '../../src/journal/entry.ts'
import type { Simulator } from '../../src/simulator.ts'
import { post, takenOver } from '../knobs/support.ts'
import { closedPort, type Handler, rawServer, receiver, simFor } from './receiver.ts'

const last = (sim: Simulator): DeliveryContent => sim.deliveries.at(-1)!

/** One user message to the receiver at `url`, and what the journal says about it. */
async function deliveredTo(url: string, knobs: Record<string, unknown> = {}): Promise<DeliveryContent> {
  const sim = simFor(url, { knobs })
  const chat = await takenOver(sim)
  await chat.says('Hello')
  expect(chat.status).toBe('agent')
  return last(sim)
}

const answering =
  (status: number, headers: Record<string, string> = {}): Handler =>
  (_got, response) =>
    response.writeHead(status, headers).end('body')

/** The outcome of each of the four events, for a receiver that always answers so. */
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

test.each([201, 204, 400, 401, 404, 410, 429, 500, 503])('%i is enough for the typing events only', async status => {
  expect(await outcomes(answering(status))).toEqual(all(`failed ${status}`, `delivered ${status}`))
})

test.each([301, 302, 303, 304, 307, 308])('%i fails, for the typing events as well', async status => {
  expect(await outcomes(answering(status, { location: '/elsewhere' }))).toEqual(all(`failed ${status}`))
})

test('the reason names status and event', async () => {
  const { url } = await receiver(answering(204))
  expect(await deliveredTo(url)).toMatchObject({
    status: 204,
    error: 'answered 204; only 200 acknowledges MESSAGE FROM USER',
    response: { body: '', truncated: false },
  })
})

test.each([302, 307])('%i: by default the other address is not asked', async status => {
  const { url, got } = await receiver(answering(status, { location: '/elsewhere' }))
  const { error } = await deliveredTo(url)
  expect(error).toBe(`answered with a redirect (${status}); redirects are not followed`)
  expect(got).toHaveLength(1)
})

test.each([302, 307])('%i: followed by knob, to another server, with the same bytes and headers', async status => {
  const target = await receiver()
  const { url, got } = await receiver(answering(status, { location: target.url }))
  expect(await deliveredTo(url, { 'webhook.redirect': 'follow' })).toMatchObject({ outcome: 'delivered', status: 200 })
  expect(target.got).toHaveLength(1)
  expect(target.got[0]!.method).toBe('POST')
  expect(target.got[0]!.bytes).toEqual(got[0]!.bytes)
  expect(target.got[0]!.headers['kindly-hmac']).toBe(got[0]!.headers['kindly-hmac'])
})

const NOWHERE = 'answered with a redirect (307); it has no usable Location, or is one too many in a row'

test('following ends: a loop fails after five hops and says so', async () => {
  const { url, got } = await receiver(answering(307, { location: '/again' }))
  const { outcome, error } = await deliveredTo(url, { 'webhook.redirect': 'follow' })
  expect(outcome).toBe('failed')
  expect(error).toBe(NOWHERE)
  expect(got).toHaveLength(6)
})

test('following a redirect that names no address fails', async () => {
  const { url } = await receiver(answering(307))
  const { error } = await deliveredTo(url, { 'webhook.redirect': 'follow' })
  expect(error).toBe(NOWHERE)
})

test('following a redirect to something that is no address fails', async () => {
  const { url } = await receiver(answering(307, { location: 'http://[' }))
  const { error } = await deliveredTo(url, { 'webhook.redirect': 'follow' })
  expect(error).toBe(NOWHERE)
})

test('a timeout behind a redirect', async () => {
  const { url, got } = await receiver((_got, response, index) => {
    if (index === 0) response.writeHead(307, { location: '/next' }).end()
  })
  const delivery = await deliveredTo(url, { 'webhook.redirect': 'follow', 'webhook.timeout': '100ms' })
  expect(delivery.error).toBe('timeout: no complete answer within 100 ms')
  expect(got).toHaveLength(2)
})

test('no answer: timeout', async () => {
  const { url } = await receiver(() => {})
  const delivery = await deliveredTo(url, { 'webhook.timeout': '100ms' })
  expect(delivery).toMatchObject({ outcome: 'failed', status: null, response: null })
  expect(delivery.error).toBe('timeout: no complete answer within 100 ms')
  expect(delivery.duration_ms).toBeGreaterThanOrEqual(95)
})

test('an answer that drips and never ends: timeout', async () => {
  const port = await rawServer(socket => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const drip = setInterval(() => socket.write('1\r\nx\r\n'), 5)
    socket.on('close', () => clearInterval(drip))
  })
  const delivery = await deliveredTo(`http://127.0.0.1:${port}/`, { 'webhook.timeout': '100ms' })
  expect(delivery.error).toBe('timeout: no complete answer within 100 ms')
})

test('nothing listens: connection refused', async () => {
  const port = await closedPort()
  const { outcome, error } = await deliveredTo(`http://127.0.0.1:${port}/`)
  expect(outcome).toBe('failed')
  expect(error).toBe(`connection refused: nothing listens at 127.0.0.1:${port} (ECONNREFUSED)`)
})

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n'

test('reset in the middle of the answer', async () => {
  const port = await rawServer(socket => socket.write(`${HEAD}part`, () => socket.resetAndDestroy()))
  const { error } = await deliveredTo(`http://127.0.0.1:${port}/`)
  expect(error).toMatch(new RegExp(`^connection (reset|closed) by 127.0.0.1:${port} before a complete answer`))
})

test('closed in the middle of the answer, and before it', async () => {
  const inside = await rawServer(socket => socket.end(`${HEAD}part`))
  const before = await rawServer(socket => socket.end())
  for (const port of [inside, before]) {
    const { error } = await deliveredTo(`http://127.0.0.1:${port}/`)
    expect(error).toContain(`connection closed by 127.0.0.1:${port} before a complete answer`)
  }
})

test.each([
  ['a greeting', '220 mail.example.test ESMTP\r\n'],
  ['a bad status', 'HTTP/1.1 fine\r\n\r\n'],
  ['a bad header', 'HTTP/1.1 200 OK\r\nno colon here\r\n\r\n'],
])('garbage instead of HTTP: %s', async (_what, garbage) => {
  const port = await rawServer(socket => socket.end(garbage))
  const { error } = await deliveredTo(`http://127.0.0.1:${port}/`)
  expect(error).toContain(`not HTTP: 127.0.0.1:${port} answered something else`)
})

test('HTTPS to a plain port', async () => {
  const { url } = await receiver()
  const { error } = await deliveredTo(url.replace('http:', 'https:'))
  expect(error).toBe(`TLS: ${new URL(url).host} does not speak HTTPS (ERR_SSL_WRONG_VERSION_NUMBER)`)
})

test('a host that cannot exist', async () => {
  const { error } = await deliveredTo('http://no-such-host.invalid/hook')
  expect(error).toMatch(/^DNS: no (such host|answer) for no-such-host\.invalid/)
})

test('a long answer is kept in part and says so', async () => {
  const { url } = await receiver((_got, response) => response.end('ø'.repeat(20_000)))
  const { outcome, response } = await deliveredTo(url)
  expect(outcome).toBe('delivered')
  expect(response).toMatchObject({ truncated: true, body: 'ø'.repeat(16_384) })
})

test('an endless answer is cut off', async () => {
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

test('without a webhook URL a delivery is skipped and says why', async () => {
  const { url } = await receiver()
  const sim = simFor(url)
  const chat = await takenOver(sim)
  await sim.configure({ 'webhook.url': null })
  const { ack } = await chat.says('Anyone?')
  expect(ack).toMatchObject({ status: null, error: 'no webhook URL is set' })
  expect(last(sim)).toMatchObject({ outcome: 'skipped', url: null, attempt: 1 })
})
