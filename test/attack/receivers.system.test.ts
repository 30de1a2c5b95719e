/** Delivers events to receivers that never answer, answer without end or break the protocol, and checks time, failure code and memory. */

import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { EntryOf } from '../../src/platform/journal/entry.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { takenOver } from '../support/test-simulator.ts'
import { rounds } from './rounds.ts'

type Behaviour = (socket: Socket, url: string, request: string) => void

/** Starts a TCP server that calls `behave` when a request has arrived; `open` are the connections that are open now. */
async function startReceiver(behave: Behaviour) {
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    let text = ''
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      if (!text.endsWith('}')) return
      const request = text
      text = ''
      receiver.behave(socket, receiver.url, request)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const receiver = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, open, behave }
  return receiver
}

const TIMEOUT_MS = 300

const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`
const KILOBYTES = 'x'.repeat(60_000)
const LONG_HEADERS = `x-${'a'.repeat(40)}: ${'b'.repeat(2_000)}\r\n`.repeat(30)
const answer = (headers: string, body = 'ok') => `${HEAD}${headers}content-length: ${body.length}\r\n\r\n${body}`
const redirectTo = (url: string) => `HTTP/1.1 307 Moved\r\nlocation: ${url}\r\ncontent-length: 0\r\n\r\n`
const HINTS = Array.from({ length: 50 }, (_, index) => `HTTP/1.1 103 Early Hints\r\nx-${index}: y\r\n\r\n`).join('')

const sends =
  (text: string): Behaviour =>
  socket =>
    void socket.write(text)

/** Sends the text, then the piece as fast as the other side reads, until it closes the connection. */
const floods =
  (text: string, piece: string): Behaviour =>
  socket => {
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.write(text)
    socket.on('drain', more)
    more()
  }

/** Sends the text, then the piece every few milliseconds until the connection is closed. */
const drips =
  (text: string, piece: string): Behaviour =>
  socket => {
    socket.write(text)
    const timer = setInterval(() => socket.write(piece), 5)
    socket.on('close', () => clearInterval(timer))
  }

const healthy = sends(answer(''))
const ENDED = /^connection_(closed|reset)$/
const ENDLESS = /^(timeout|not_http|connection_closed)$/
const CUT_OFF = /^(timeout|headers_too_long|not_http)$/
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'

/** What a receiver does, and the outcome: a failure code, or `delivered`. test/webhooks has the usual failures. */
const RECEIVERS: readonly (readonly [what: string, Behaviour, outcome: string | RegExp])[] = [
  ['drips its headers', drips(HEAD, 'x-a: b\r\n'), /^(timeout|headers_too_long)$/],
  ['declares a body and sends nothing', sends(`${HEAD}content-length: 10\r\n\r\n`), 'timeout'],
  ['sends headers without end', floods(HEAD, LONG_HEADERS), 'headers_too_long'],
  ['sends one header without end', floods(`${HEAD}x-long: `, KILOBYTES), 'headers_too_long'],
  ['sends a status line without end', floods('HTTP/1.1 200 ', KILOBYTES), CUT_OFF],
  ['declares 1 GB and sends it', floods(`${HEAD}content-length: 1000000000\r\n\r\n`, KILOBYTES), 'delivered'],
  ['sends chunks without end', floods(CHUNKED, `ea60\r\n${KILOBYTES}\r\n`), 'delivered'],
  ['sends chunk extensions without end', floods(`${CHUNKED}1;`, KILOBYTES), ENDLESS],
  ['sends trailers without end', floods(`${CHUNKED}1\r\nx\r\n0\r\n`, LONG_HEADERS), CUT_OFF],
  ['sends a body until it closes', socket => void socket.end(`${HEAD}\r\n${KILOBYTES}`), 'delivered'],
  ['closes within the headers', socket => void socket.end(HEAD), ENDED],
  ['resets without an answer', socket => void socket.resetAndDestroy(), ENDED],
  ['redirects to itself', (socket, url) => void socket.write(redirectTo(url)), 'redirect'],
  ['redirects to another protocol', sends(redirectTo('file:///etc/passwd')), /^(network|redirect)$/],
  ['switches protocols', sends(SWITCH), /^(not_http|connection_closed|network)$/],
  ['sends garbage', floods('', '\u0000\u0001garbage'.repeat(6_000)), 'not_http'],
  ['answers in TLS', sends('\u0015\u0003\u0001\u0000\u0002\u0002F'), 'not_http'],
  ['sends informational answers without end', floods('', HINTS.repeat(20)), ENDLESS],
  ['sends different informational answers, then 200', sends(HINTS + answer('')), 'delivered'],
  ['sends 100 Continue without end', floods('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)), ENDLESS],
  ['sends a compressed bomb', sends(answer('content-encoding: gzip\r\n', 'x'.repeat(1_000))), 'delivered'],
  ['sends a second answer', sends(answer('') + answer('')), 'delivered'],
  ['sends status 999', sends('HTTP/1.1 999 ?\r\ncontent-length: 0\r\n\r\n'), /^(not_acknowledged|not_http)$/],
]

/** Only deliveries that have to fail of it have a short time. */
const SHORT = { 'webhook.timeout': `${TIMEOUT_MS}ms` } as const
const LONG = { 'webhook.timeout': '1m' } as const
const KNOBS = { ...LONG, 'webhook.redirect': 'follow' } as const

let sim: PlatformSimulator
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeEach(async () => {
  receiver = await startReceiver(healthy)
  sim = createSimulator({ ackTimeout: '5m', webhook: { url: receiver.url }, knobs: KNOBS })
})
afterEach(() => sim.close())

type Delivery = EntryOf<'delivery'>

const describeOutcome = ({ outcome, failure }: Delivery): string => failure?.code ?? outcome

/** Sends a message while the receiver behaves like this, and one to a healthy receiver afterwards. */
async function deliver(behave: Behaviour, mayTimeOut: boolean): Promise<readonly [Delivery, Delivery]> {
  const chat = await takenOver(sim)
  receiver.behave = behave
  if (mayTimeOut) await sim.configure(SHORT)
  await chat.says('Hello')
  receiver.behave = healthy
  await sim.configure(LONG)
  await chat.says('Hello again')
  await sim.settled()
  const [first, second] = sim.deliveries.slice(-2)
  return [first!, second!]
}

const residentMb = () => process.memoryUsage.rss() / 1e6

test.each(RECEIVERS)(
  'a receiver that %s ends the delivery in time, and not the next one',
  async (_, behave, expected) => {
    const before = residentMb()
    for (let round = 0; round < Math.ceil(rounds(1) / 20); round++) {
      const [first, second] = await deliver(behave, new RegExp(expected).test('timeout'))
      expect(describeOutcome(first)).toMatch(expected)
      expect(describeOutcome(second)).toBe('delivered')
      expect(Object.keys(first.response?.headers ?? {}).length).toBeLessThan(5)
    }
    expect(residentMb() - before).toBeLessThan(150)
    // At most the connections of healthy answers stay open.
    await expect.poll(() => receiver.open.size).toBeLessThanOrEqual(2)
  },
)

test('deliveries of more chats than connections wait in order while all are in use', async () => {
  const [CHATS, CONNECTIONS] = [1_000, 384]
  await sim.configure({ 'webhook.timeout': '10m' })
  let held: { readonly socket: Socket; readonly chatId: string }[] = []
  receiver.behave = (socket, _url, request) =>
    void held.push({ socket, chatId: JSON.parse(request.slice(request.indexOf('\r\n\r\n'))).chat.id })
  const chats = await Promise.all(Array.from({ length: CHATS }, () => sim.chat()))
  await Promise.all(chats.map(chat => chat.press('handover', { async: true })))
  for (let sent = 0; sent < CHATS; sent += CONNECTIONS) {
    const wave = chats.slice(sent, sent + CONNECTIONS).map(({ id }) => id)
    await expect.poll(() => held.length).toBe(wave.length)
    expect(receiver.open.size).toBeLessThanOrEqual(CONNECTIONS)
    // Requests that are sent at the same time may arrive in any order.
    expect(held.map(({ chatId }) => chatId).sort()).toEqual(wave.sort())
    const answered = held
    held = []
    for (const { socket } of answered) healthy(socket, receiver.url, '')
  }
  await sim.settled()
  expect(sim.deliveries.filter(({ outcome }) => outcome === 'delivered')).toHaveLength(CHATS)
})

/** Bodies without end, as a webhook function may return them. */
test.each([
  ['fast', (to: ReadableStreamDefaultController) => to.enqueue(new Uint8Array(65_536)), 'delivered'],
  ['silent', () => {}, 'timeout'],
] as const)('a %s body of a webhook function is cancelled', async (_, pull, outcome) => {
  let cancelled = 0
  const body = () => new ReadableStream({ pull, cancel: () => void cancelled++ })
  const knobs = outcome === 'timeout' ? SHORT : LONG
  const own = createSimulator({ webhook: { fetch: () => new Response(body()) }, knobs })
  onTestFinished(() => own.close())
  await (await own.chat()).press('handover')
  await own.settled()
  const delivery = own.deliveries.at(-1)!
  expect([describeOutcome(delivery), cancelled]).toEqual([outcome, 1])
  expect(delivery.response?.truncated ?? null).toBe(outcome === 'timeout' ? null : true)
})
