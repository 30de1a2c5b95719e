/** Sends raw bytes over sockets that end, break off or stay open, and checks that the server answers and survives. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { createRandom, type Random } from '../../src/base/runtime/random.ts'
import { connectRaw, startWebhook } from '../support/network.ts'
import { playHandover, sendRaw, startAttackedServer } from './attacked-server.ts'
import { rounds, seed } from './rounds.ts'

const SMUGGLED = '/smuggled'

const FIXED = ['Host: 127.0.0.1', 'Authorization: Bearer sim-handover-key']
const request = ({ path = '/api/v2/handover/start', headers = [''], body = '' }): string =>
  [`POST ${path} HTTP/1.1`, ...FIXED, ...headers.filter(Boolean), '', body].join('\r\n')

const withLength = (path: string, body: string): string =>
  request({ path, headers: [`Content-Length: ${body.length}`, 'Content-Type: application/json'], body })

const INNER = withLength(SMUGGLED, '{}')

const CHUNKED = 'Transfer-Encoding: chunked'
const LAST_CHUNK = `0\r\n\r\n${INNER}`

/** Requests whose length can be understood in two ways, so that a part of the body could pass as a second request. */
const AMBIGUOUS: readonly (readonly [what: string, body: string, ...headers: string[]])[] = [
  ['a length and chunks', LAST_CHUNK, 'Content-Length: 4', CHUNKED],
  ['two lengths', INNER, 'Content-Length: 0', `Content-Length: ${INNER.length}`],
  ['a list of lengths', INNER, `Content-Length: 0, ${INNER.length}`],
  ['a length with a sign', INNER, 'Content-Length: +0'],
  ['chunks that are not the last encoding', LAST_CHUNK, 'Transfer-Encoding: chunked, gzip'],
  ['an unknown encoding', LAST_CHUNK, 'Transfer-Encoding: xchunked'],
  ['a space before the colon', LAST_CHUNK, 'Transfer-Encoding : chunked'],
  ['a folded header', LAST_CHUNK, 'Transfer-Encoding:', ' chunked', 'Content-Length: 3'],
  ['a chunk size with a sign', `-1\r\n${INNER}`, CHUNKED],
  ['a chunk size that overflows', `fffffffffffffffff\r\n${INNER}`, CHUNKED],
]

describe('ambiguous lengths', () => {
  test.each(AMBIGUOUS)('%s is refused, and no part of the body is a request', async (_what, body, ...headers) => {
    const server = await startAttackedServer()
    const connection = await connectRaw(server.port)
    connection.send(request({ headers, body }))
    expect(await connection.ended()).toMatch(/^HTTP\/1\.1 400 /)
    expect(server.journal.query({ kind: 'api' }).filter(({ path }) => path === SMUGGLED)).toEqual([])
    await playHandover(server)
  })
})

/** Whole and broken requests, one or several of which an attempt sends. */
const BYTES: readonly ((random: Random) => string)[] = [
  () => withLength('/api/v2/handover/start', '{"bot_id":1042,"chat_id":"none"}'),
  () => 'GET /_sim/state HTTP/1.1\r\nHost: localhost\r\n\r\n',
  () => 'GET /_sim/events HTTP/1.1\r\nHost: localhost\r\n\r\n',
  () => 'GET /_sim/wait?kind=note&timeout=1h HTTP/1.1\r\nHost: localhost\r\n\r\n',
  random => request({ headers: [`Content-Length: ${random.below(2_000_000)}`, 'Expect: 100-continue'] }),
  random => request({ headers: ['Transfer-Encoding: chunked'], body: `${random.below(99).toString(16)}\r\nx` }),
  random => `GET /${'a'.repeat(random.below(20_000))} HTTP/1.1\r\nHost: x\r\n\r\n`,
  random => request({ headers: Array.from({ length: random.below(3_000) }, (_, index) => `X-${index}: y`) }),
  random => String.fromCharCode(...Array.from({ length: random.below(200) }, () => random.below(256))),
  () => 'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  () => 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n',
]

/** How the client ends: after half of its bytes, or after all. */
const ENDINGS: readonly ((socket: Socket) => void)[] = [
  socket => socket.end(),
  socket => socket.destroy(),
  socket => socket.resetAndDestroy(),
]

/** Sends bytes in pieces, ends the connection in one of several ways, and resolves with what the server sent. */
function abuse(port: number, random: Random): Promise<string> {
  const requests = Array.from({ length: 1 + random.below(4) }, () => random.pick(BYTES)(random))
  const bytes = Buffer.from(requests.join(''), 'latin1')
  const length = random.below(3) === 0 ? random.below(bytes.length) : bytes.length
  return new Promise(resolve => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => {
      for (let at = 0; at < length; at += 1 + Math.floor(length / 3))
        socket.write(bytes.subarray(at, at + 1 + length / 3))
      random.pick(ENDINGS)(socket)
    })
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received = (received + chunk).slice(-100_000)
      // Streams and waits have no end of their own.
      if (/text\/event-stream/.test(received)) socket.destroy()
    })
    socket.on('error', () => {}).on('close', () => resolve(received))
  })
}

test('a client that takes the server for its proxy gets an answer', async () => {
  const server = await startAttackedServer()
  const connection = await connectRaw(server.port)
  connection.send('CONNECT intermediary.example:443 HTTP/1.1\r\nHost: intermediary.example:443\r\n\r\n')
  expect(await connection.ended()).toMatch(/^HTTP\/1\.1 405 .*handover-sim is no proxy.*HTTPS_PROXY/s)
  await playHandover(server)
})

test('random bytes, broken off in random ways', async () => {
  const server = await startAttackedServer()
  const random = createRandom(seed(), 'sockets')
  const total = rounds(1_000)
  for (let round = 0; round < total; round++) {
    const received = await abuse(server.port, random)
    expect(received).not.toMatch(/^HTTP\/1\.1 5\d\d /m)
    if (round % 250 === 249) await playHandover(server)
  }
  await playHandover(server)
})

const BIN = fileURLToPath(new URL('../../bin/handover-sim.js', import.meta.url))

/** Starts the built command with at most `files` open files; `log` is what it has written to stderr, in one line. */
async function startLimited(files: number, ...flags: string[]) {
  const command = [process.execPath, BIN, 'start', '--port', '0', ...flags]
  const child = spawn('sh', ['-c', 'ulimit -n "$0" && exec "$@"', String(files), ...command])
  onTestFinished(() => void child.kill('SIGKILL'))
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const [line] = await once(child.stdout, 'data')
  const port = Number(new URL(String(line).replace('Ready: ', '').trim()).port)
  /** Sends a request on a connection of its own. */
  const send = (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', connection: 'close' }
    return sendRaw(port, { method, path, headers, body: JSON.stringify(body) ?? '' })
  }
  return { child, port, send, log: () => log.replace(/\s+/g, ' ') }
}

const sockets = new Set<Socket>()
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
})

/** Opens connections and sends the beginning of a request on each. Resolves when each is open or refused. */
async function openSlow(port: number, count: number): Promise<void> {
  const opened = Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1')
    sockets.add(socket)
    return new Promise<void>(resolve => {
      socket.on('error', () => resolve()).on('close', () => resolve())
      socket.on('connect', () => socket.write('GET / HTTP/1.1\r\nX-Slow: ', () => resolve()))
    })
  })
  await Promise.all(opened)
}

const CHATS = 150
const FULL = /closes further connections, because (\d+) are open/g

describe.runIf(process.platform === 'linux')('connections', () => {
  test.each([
    ['more than the server accepts', 4_096],
    ['more than a usual process may open', 1_024],
    ['more than the process may open', 200],
  ])('%s: it says so in one line, and answers again when some are closed', async (_what, files) => {
    const { child, port, send, log } = await startLimited(files)
    const statusOf = (path: string) => send('GET', path).then(({ status }) => status, String)
    for (let round = 0; round < Math.ceil(rounds(2) / 50); round++) {
      await openSlow(port, 2_000)
      for (const socket of sockets) socket.resetAndDestroy()
      sockets.clear()
      await expect.poll(() => statusOf('/_sim/readyz')).toBe(200)
      expect(await statusOf('/api/v1/chats/none')).toBe(401)
    }
    expect([...log().matchAll(FULL)].length).toBeGreaterThanOrEqual(1)
    expect(log().length).toBeLessThan(3_000)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([143, null])
  })

  test('to clients and to the webhook, at few open files: deliveries wait, and none fails for lack of files', async () => {
    await using silent = await startWebhook(() => {})
    const { port, send, log } = await startLimited(200, '--webhook-url', silent.url, '--set', 'webhook.timeout=500ms')
    await openSlow(port, 60)
    for (let count = 0; count < CHATS; count++) {
      const { chat_id } = JSON.parse((await send('POST', '/_sim/chats')).body)
      expect(await send('POST', `/_sim/chats/${chat_id}/press`, { button: 'handover' })).toMatchObject({ status: 200 })
    }
    const codes = async (): Promise<string[]> => {
      const { deliveries } = JSON.parse((await send('GET', '/_sim/deliveries')).body)
      return deliveries.map(({ failure }: { failure?: { code: string } }) => failure?.code)
    }
    await expect.poll(async () => (await codes()).length).toBe(CHATS)
    expect(new Set(await codes())).toEqual(new Set(['timeout']))
    expect(log()).not.toContain('EMFILE')
  })
})
