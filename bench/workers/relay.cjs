/** Passes the bytes of each connection on to the port that it is given, and back. */
const { connect, createServer } = require('node:net')

const server = createServer({ noDelay: true }, socket => {
  const other = connect({ port: Number(process.argv[2]), host: '127.0.0.1', noDelay: true })
  for (const side of [socket, other]) side.on('error', () => {})
  socket.pipe(other).pipe(socket)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`))
