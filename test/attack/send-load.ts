/**
 * Generates load over raw sockets with one request in flight per connection. Runs as a process. Prints one JSON line:
 * requests, seconds, p50, p99 and max in milliseconds.
 */
import { connect } from 'node:net'

interface Job {
  readonly port: number
  readonly connections: number
  readonly requests: number
  readonly head: string
  readonly body: string
}

const job = JSON.parse(process.argv[2] ?? '{}') as Job
const bytes = Buffer.from(`${job.head}Content-Length: ${Buffer.byteLength(job.body)}\r\n\r\n${job.body}`)
const times: number[] = []
let sent = 0

function runConnection(done: (error?: Error) => void): void {
  const socket = connect(job.port, '127.0.0.1')
  socket.setNoDelay(true)
  let started = 0
  let received = ''
  const next = () => {
    if (sent >= job.requests) {
      socket.end()
      return done()
    }
    sent++
    started = performance.now()
    socket.write(bytes)
  }
  socket.on('connect', next)
  socket.on('error', done)
  socket.on('data', chunk => {
    received += chunk.toString('latin1')
    const end = received.indexOf('\r\n\r\n')
    if (end === -1) return
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
    if (received.length < end + 4 + length) return
    if (!received.startsWith('HTTP/1.1 2')) return void done(new Error(received.slice(0, 300)))
    received = received.slice(end + 4 + length)
    times.push(performance.now() - started)
    next()
  })
}

const from = performance.now()
await Promise.all(
  Array.from(
    { length: job.connections },
    () => new Promise<void>((resolve, reject) => runConnection(error => (error ? reject(error) : resolve()))),
  ),
)
const seconds = (performance.now() - from) / 1000
times.sort((a, b) => a - b)
const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))]
process.stdout.write(
  `${JSON.stringify({ requests: times.length, seconds, p50: at(0.5), p99: at(0.99), max: times.at(-1) })}\n`,
)
process.exit(0)
