/** Delivers events to receivers that never answer, answer without end or break the protocol, and checks time, failure code and memory. */

import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { EntryOf } from '../../src/platform/journal/entry.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { takenOver } from '../knobs/support.ts'
import { rounds, startAttack } from './rounds.ts'

type Behaviour = (socket: Socket, url: string, request: string) => void

interface TcpReceiver {
  readonly url: string
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>
  behave: Behaviour
}

const receivers: Server[] = []

/** Starts a TCP server that calls `behave` when a request has arrived. */
async function startReceiver(behave: Behaviour): Promise<TcpReceiver> {
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
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const receiver = { url: `http://127.0.0.1:${port}/hook`, open, behave }
  receivers.push(server)
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return receiver
}

const TIMEOUT_MS = 300

/** Writes as fast as the other side reads, until it closes the connection. */
function flood(socket: Socket, piece: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', more)
  more()
}

const HEAD = 'HTTP/1.1 200 OK\r\n'
const KILOBYTES = 'x'.repeat(60_000)

/** Repeats a piece every few milliseconds until the connection is closed. */
function drip(socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.write(piece), 5)
  socket.on('close', () => clearInterval(timer))
}

const answer = (socket: Socket, headers: string, body = 'ok') =>
  void socket.write(`${HEAD}${headers}content-length: ${body.length}\r\n\r\n${body}`)

const healthy: Behaviour = socket => answer(socket, '')

const ENDED = /^connection_(closed|reset)$/

/** What a receiver does, and the outcome: a failure code, or `delivered`. */
const RECEIVERS: Readonly<Record<string, readonly [Behaviour, string | RegExp]>> = {
  'never answers': [() => {}, 'timeout'],
  'drips its headers': [
    socket => {
      socket.write(HEAD)
      drip(socket, 'x-a: b\r\n')
    },
    /^(timeout|headers_too_long)$/,
  ],
  'drips its body': [
    socket => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`)
      drip(socket, '1\r\nx\r\n')
    },
    'timeout',
  ],
  'declares a body and sends nothing': [socket => void socket.write(`${HEAD}content-length: 10\r\n\r\n`), 'timeout'],
  'sends headers without end': [
    socket => {
      socket.write(HEAD)
      flood(socket, `x-${'a'.repeat(40)}: ${'b'.repeat(2_000)}\r\n`.repeat(30))
    },
    'headers_too_long',
  ],
  'sends one header without end': [
    socket => {
      socket.write(`${HEAD}x-long: `)
      flood(socket, KILOBYTES)
    },
    'headers_too_long',
  ],
  'sends a status line without end': [
    socket => flood(socket, `HTTP/1.1 200 ${KILOBYTES}`),
    /^(not_http|headers_too_long|timeout)$/,
  ],
  'declares 1 GB and sends it': [
    socket => {
      socket.write(`${HEAD}content-length: 1000000000\r\n\r\n`)
      flood(socket, KILOBYTES)
    },
    'delivered',
  ],
  'sends chunks without end': [
    socket => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`)
      flood(socket, `ea60\r\n${KILOBYTES}\r\n`)
    },
    'delivered',
  ],
  'sends chunk extensions without end': [
    socket => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n1;`)
      flood(socket, KILOBYTES)
    },
    /^(timeout|not_http|connection_closed)$/,
  ],
  'sends trailers without end': [
    socket => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n`)
      flood(socket, `x-trailer: ${'b'.repeat(2_000)}\r\n`.repeat(30))
    },
    /^(timeout|headers_too_long|not_http)$/,
  ],
  'sends a body without length until it closes': [
    socket => socket.end(`${HEAD}connection: close\r\n\r\n${KILOBYTES}`),
    'delivered',
  ],
  'closes without an answer': [socket => socket.end(), ENDED],
  'closes within the headers': [socket => socket.end(HEAD), ENDED],
  'closes within the body': [socket => socket.end(`${HEAD}content-length: 10\r\n\r\nx`), ENDED],
  'resets without an answer': [socket => socket.resetAndDestroy(), ENDED],
  'resets within the body': [
    socket => socket.write(`${HEAD}content-length: 10\r\n\r\nx`, () => socket.resetAndDestroy()),
    ENDED,
  ],
  'redirects to itself': [
    (socket, url) => socket.write(`HTTP/1.1 307 Moved\r\nlocation: ${url}\r\ncontent-length: 0\r\n\r\n`),
    'redirect',
  ],
  'redirects slowly': [
    (socket, url) => {
      const text = `HTTP/1.1 307 Moved\r\nlocation: ${url}\r\ncontent-length: 0\r\n\r\n`
      const timer = setTimeout(() => socket.write(text), TIMEOUT_MS * 0.6)
      socket.on('close', () => clearTimeout(timer))
    },
    'timeout',
  ],
  'redirects to another protocol': [
    socket => socket.write('HTTP/1.1 302 Moved\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\n\r\n'),
    /^(network|redirect)$/,
  ],
  'switches protocols': [
    socket => socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    /^(not_http|connection_closed|network)$/,
  ],
  'sends garbage': [socket => flood(socket, '\u0000\u0001garbage'.repeat(6_000)), 'not_http'],
  'answers in TLS': [socket => void socket.write('\u0015\u0003\u0001\u0000\u0002\u0002F'), 'not_http'],
  'sends informational answers without end': [
    socket => flood(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(1_000)),
    /^(timeout|not_http|connection_closed)$/,
  ],
  'sends different informational answers, then 200': [
    socket => {
      for (let index = 0; index < 50; index++) socket.write(`HTTP/1.1 103 Early Hints\r\nx-${index}: y\r\n\r\n`)
      answer(socket, '')
    },
    'delivered',
  ],
  'sends 100 Continue without end': [
    socket => flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)),
    /^(timeout|not_http|connection_closed)$/,
  ],
  'sends a compressed bomb': [socket => answer(socket, 'content-encoding: gzip\r\n', 'x'.repeat(1_000)), 'delivered'],
  'sends a second answer': [
    socket => {
      answer(socket, '')
      answer(socket, '')
    },
    'delivered',
  ],
  'sends status 999': [
    socket => void socket.write('HTTP/1.1 999 ?\r\ncontent-length: 0\r\n\r\n'),
    /^(not_acknowledged|not_http)$/,
  ],
}

const KNOBS = { 'webhook.timeout': `${TIMEOUT_MS}ms`, 'webhook.redirect': 'follow' } as const

let sim: PlatformSimulator
let receiver: TcpReceiver
beforeEach(async () => {
  receiver = await startReceiver(healthy)
  sim = createSimulator({ webhook: { url: receiver.url }, knobs: KNOBS })
})
afterEach(() => sim.close())

type Delivery = EntryOf<'delivery'>

const describeOutcome = ({ outcome, failure }: Delivery): string => failure?.code ?? outcome

/** Sends a message while the receiver behaves like this, and one to a healthy receiver afterwards. */
async function deliver(behave: Behaviour): Promise<readonly [Delivery, Delivery]> {
  const chat = await takenOver(sim)
  receiver.behave = behave
  await chat.says('Hello')
  receiver.behave = healthy
  await chat.says('Hello again')
  await sim.settled()
  const [first, second] = sim.deliveries.slice(-2)
  return [first!, second!]
}

/** Idle connections are closed after 10 s, and those of failed deliveries at once. */
const BEFORE_IDLE_TIMEOUT = { timeout: 5_000 }

const residentMb = () => process.memoryUsage.rss() / 1e6

describe.each(Object.entries(RECEIVERS))('a receiver that %s', (what, [behave, expected]) => {
  test('ends the delivery in time, and does not disturb the next one', async () => {
    const attempt = startAttack('receivers', what)
    const before = residentMb()
    for (let round = 0; round < Math.ceil(rounds(1) / 20); round++) {
      const [first, second] = await attempt(() => deliver(behave))
      expect(describeOutcome(first)).toMatch(expected)
      expect(first.duration_ms).toBeLessThan(TIMEOUT_MS * 10)
      expect(describeOutcome(second)).toBe('delivered')
      expect(Object.keys(first.response?.headers ?? {}).length).toBeLessThan(5)
    }
    expect(residentMb() - before).toBeLessThan(150)
    // At most the connections of healthy answers stay open.
    await expect.poll(() => receiver.open.size, BEFORE_IDLE_TIMEOUT).toBeLessThanOrEqual(2)
  })
})

describe('more chats than connections', () => {
  const CHATS = 1_000
  const CONNECTIONS = 384

  const pressAll = async () => {
    const chats = await Promise.all(Array.from({ length: CHATS }, () => sim.chat()))
    for (const chat of chats) void chat.press('handover')
    return chats
  }

  test('deliveries wait in order while all connections are in use', async () => {
    await sim.configure({ 'webhook.timeout': '10m' })
    let held: { readonly socket: Socket; readonly chatId: string }[] = []
    receiver.behave = (socket, _url, request) =>
      void held.push({ socket, chatId: JSON.parse(request.slice(request.indexOf('\r\n\r\n'))).chat.id })
    const ids = (await pressAll()).map(({ id }) => id)
    for (let sent = 0; sent < CHATS; sent += CONNECTIONS) {
      const wave = ids.slice(sent, sent + CONNECTIONS)
      await expect.poll(() => held.length).toBe(wave.length)
      expect(receiver.open.size).toBeLessThanOrEqual(CONNECTIONS)
      // Requests that are sent at the same time may arrive in any order.
      expect(held.map(({ chatId }) => chatId).sort()).toEqual([...wave].sort())
      const answered = held
      held = []
      for (const { socket } of answered) healthy(socket, receiver.url, '')
    }
    await sim.settled()
    expect(sim.deliveries.filter(({ outcome }) => outcome === 'delivered')).toHaveLength(CHATS)
  })

  test('deliveries end in time once they are sent, and leave no connection open', async () => {
    receiver.behave = () => {}
    const chats = await pressAll()
    await expect.poll(() => sim.deliveries.length).toBe(CHATS)
    expect(new Set(sim.deliveries.map(describeOutcome))).toEqual(new Set(['timeout']))
    await expect.poll(() => receiver.open.size).toBe(0)
    receiver.behave = healthy
    await chats[0]!.press('handover')
    await sim.settled()
    expect(describeOutcome(sim.deliveries.at(-1)!)).toBe('delivered')
  })

  test('a reset cancels those that wait', async () => {
    receiver.behave = () => {}
    const chats = await Promise.all(Array.from({ length: CHATS }, () => sim.chat()))
    const pressed = Promise.allSettled(chats.map(chat => chat.press('handover')))
    sim.reset()
    expect(new Set((await pressed).map(({ status }) => status))).toEqual(new Set(['rejected']))
    await sim.settled()
    expect(sim.deliveries).toEqual([])
    await expect.poll(() => receiver.open.size).toBe(0)
  })
})

/** A body without end, as a webhook function may return. */
const endless = (onCancel: () => void) =>
  new ReadableStream<Uint8Array>({
    pull: controller => controller.enqueue(new Uint8Array(65_536).fill(120)),
    cancel: onCancel,
  })

describe('a webhook function', () => {
  const deliveredBy = async (fetch: () => Response): Promise<Delivery> => {
    const own = createSimulator({ webhook: { fetch }, knobs: KNOBS })
    onTestFinished(() => own.close())
    const chat = await own.chat()
    await chat.press('handover')
    await own.settled()
    return own.deliveries.at(-1)!
  }

  test('that returns a body without end is read up to 1 MiB', async () => {
    let cancelled = 0
    const delivery = await deliveredBy(() => new Response(endless(() => cancelled++)))
    expect([describeOutcome(delivery), delivery.response?.truncated, cancelled]).toEqual(['delivered', true, 1])
  })

  test('that returns a body that never ends in time is cancelled', async () => {
    let cancelled = 0
    const silent = () => new ReadableStream<Uint8Array>({ cancel: () => void cancelled++ })
    const delivery = await deliveredBy(() => new Response(silent()))
    expect([delivery.failure, cancelled]).toEqual([{ code: 'timeout', timeout_ms: TIMEOUT_MS }, 1])
  })
})
