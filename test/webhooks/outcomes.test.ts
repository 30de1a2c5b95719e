/** What real receivers do to a delivery, and the words for it. */
import { expect, test } from 'vitest'
import { post, takenOver } from '../knobs/support.ts'
import { freePort } from '../support/port.ts'
import { steadyTime } from '../support/steady-time.ts'
import { answering, deliveredTo, type Handler, rawServer, receiver, simFor } from './receiver.ts'

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

test('a failure changes nothing in the chat', async () => {
  const sim = simFor((await receiver(answering(500))).url)
  const chat = await takenOver(sim)
  await chat.says('Hello')
  expect([chat.status, chat.transcript.at(-1)!.text]).toEqual(['agent', 'Hello'])
})

test('no answer: timeout', async () => {
  steadyTime()
  const { url } = await receiver(() => {})
  const delivery = await deliveredTo(url, { 'webhook.timeout': '100ms' })
  expect(delivery).toMatchObject({ outcome: 'failed', status: null, response: null })
  expect(delivery.error).toBe('timeout: no complete answer within 100 ms')
  expect(delivery.duration_ms).toBeGreaterThanOrEqual(95)
})

test('an answer that drips and never ends: timeout', async () => {
  steadyTime()
  const port = await rawServer(socket => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const drip = setInterval(() => socket.write('1\r\nx\r\n'), 5)
    socket.on('close', () => clearInterval(drip))
  })
  const delivery = await deliveredTo(`http://127.0.0.1:${port}/`, { 'webhook.timeout': '100ms' })
  expect(delivery.error).toBe('timeout: no complete answer within 100 ms')
})

test('nothing listens: connection refused', async () => {
  const port = await freePort()
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
  expect(sim.deliveries[0]).toMatchObject({ outcome: 'skipped', url: null, attempt: 1 })
})
