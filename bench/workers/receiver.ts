/** A webhook receiver over raw sockets that answers 200 to everything, after `delayMs` when given. */
import { createServer } from 'node:net'

const delayMs = Number(process.argv[2] ?? 0)
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

const server = createServer(socket => {
  socket.setNoDelay(true)
  let seen = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', chunk => {
    seen += chunk.toString('latin1')
    for (let end = seen.indexOf('\r\n\r\n'); end !== -1; end = seen.indexOf('\r\n\r\n')) {
      const length = Number(/content-length: (\d+)/i.exec(seen)?.[1] ?? 0)
      if (seen.length < end + 4 + length) return
      seen = seen.slice(end + 4 + length)
      if (delayMs === 0) socket.write(OK)
      else setTimeout(() => socket.write(OK), delayMs)
    }
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as { port: number }).port })}\n`)
})
