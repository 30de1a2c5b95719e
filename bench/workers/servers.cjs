/**
 * Runs one of three servers: `bare`, the yardstick, which reads the request, parses its JSON and writes the JSON of the
 * answer that it is given; `relay`, which passes the bytes of each connection on to a port, and back; `receiver`, a webhook
 * that answers 200 after so many milliseconds. CommonJS starts faster than an ES module, which also loads Node's fetch, so
 * it is the fair yardstick of a start.
 */
const { createServer: createHttpServer } = require('node:http')
const { connect, createServer } = require('node:net')

function bare(answer) {
  const { status = 200, type = 'application/json; charset=utf-8', body: given = '' } = JSON.parse(answer)
  const value = given === '' ? undefined : JSON.parse(given)
  return createHttpServer((request, response) => {
    const chunks = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      if (text !== '') JSON.parse(text)
      const body = Buffer.from(value === undefined ? '' : JSON.stringify(value))
      response.writeHead(status, { 'content-type': type, 'content-length': body.length })
      response.end(body)
    })
  })
}

const relay = port =>
  createServer({ noDelay: true }, socket => {
    const other = connect({ port: Number(port), host: '127.0.0.1', noDelay: true })
    for (const side of [socket, other]) side.on('error', () => {})
    socket.pipe(other).pipe(socket)
  })

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** Over raw sockets, so that it costs less than what sends to it. */
const receiver = delayMs =>
  createServer({ noDelay: true }, socket => {
    let received = ''
    socket.on('error', () => socket.destroy())
    socket.on('data', chunk => {
      received += chunk.latin1Slice(0, chunk.length)
      for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
        const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
        if (received.length < end + 4 + length) return
        received = received.slice(end + 4 + length)
        if (delayMs === '0') socket.write(OK)
        else setTimeout(() => socket.write(OK), Number(delayMs))
      }
    })
  })

const [kind, argument] = process.argv.slice(2)
const server = { bare, relay, receiver }[kind](argument)
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`))
