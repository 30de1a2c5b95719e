/**
 * Runs the yardstick: a bare `node:http` server that reads the request, parses its JSON and writes the JSON of its answer:
 * to a message as the platform does, else the value that it is given. CommonJS starts faster than an ES module, which
 * also loads Node's fetch, so it is the fair yardstick of a start.
 */
const { createServer } = require('node:http')

const { status = 200, type = 'application/json; charset=utf-8', body: given } = JSON.parse(process.argv[2] ?? '{}')
const value = given === undefined || given === '' ? given : JSON.parse(given)

function answerTo({ chat_id = '' }) {
  if (given === '') return Buffer.alloc(0)
  const message = { event: 'MESSAGE SENT TO USER', chat_id, chatmessage_id: '76a5725c85ec97249e11de8e' }
  return Buffer.from(JSON.stringify(given === undefined ? message : value))
}

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    const parsed = text === '' ? {} : JSON.parse(text)
    const body = answerTo(parsed)
    response.writeHead(status, { ...(type && { 'content-type': type }), 'content-length': body.length })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`)
})
