/**
 * Sends requests over raw sockets where there is no `wrk`, one in flight per connection. Prints the result as one JSON line,
 * with the same fields as `request.lua`.
 */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

interface Input {
  readonly port: number
  readonly seconds: number
  readonly connections: number
  readonly pauseMs: number
  readonly chats: readonly string[]
  /** The request; `{chat}` in it is each of the chats in turn. */
  readonly text: string
}

const input = JSON.parse(process.argv[2] ?? '{}') as Input
const parts = input.text.split('{chat}')
const times: number[] = []
let refused = 0
let broken = 0
let sent = 0

const nextRequest = () => parts.join(input.chats[sent++ % input.chats.length] ?? '')

async function runConnection(until: number): Promise<void> {
  const socket = connect(input.port, '127.0.0.1').setNoDelay(true)
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  while (performance.now() < until) {
    if (input.pauseMs > 0) await sleep(input.pauseMs)
    const from = performance.now()
    socket.write(nextRequest())
    if (!(await readAnswer(chunks)).startsWith('HTTP/1.1 2')) refused++
    times.push(performance.now() - from)
  }
  socket.destroy()
}

async function readAnswer(chunks: AsyncIterator<Buffer>): Promise<string> {
  for (let received = ''; ; ) {
    const { value, done } = await chunks.next()
    if (done) throw new Error('The server closed the connection')
    received += value.toString('latin1')
    const end = received.indexOf('\r\n\r\n')
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
    if (end !== -1 && received.length >= end + 4 + length) return received
  }
}

const startedAt = performance.now()
const until = startedAt + input.seconds * 1000
await Promise.all(Array.from({ length: input.connections }, () => runConnection(until).catch(() => void broken++)))
const seconds = (performance.now() - startedAt) / 1000
const p99Ms = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
process.stdout.write(`${JSON.stringify({ requests: times.length, seconds, p99Ms, refused, broken })}\n`)
process.exit(0)
