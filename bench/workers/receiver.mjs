/** Runs a webhook over raw sockets that answers 200 to every request, after `delayMs` when it is given. */
import { createServer } from 'node:net'

const delayMs = Number(process.argv[2] ?? 0)
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

const server = createServer(socket => {
  socket.setNoDelay(true)
  let received = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', chunk => {
    received += chunk.latin1Slice(0, chunk.length)
    for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
      if (received.length < end + 4 + length) return
      received = received.slice(end + 4 + length)
      if (delayMs === 0) socket.write(OK)
      else setTimeout(() => socket.write(OK), delayMs)
    }
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`)
})
