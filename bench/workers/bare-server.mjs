/** Runs the baseline: a bare `node:http` server that reads and answers JSON. Plain JavaScript starts without type stripping. */
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    const { chat_id = '' } = text === '' ? {} : JSON.parse(text)
    const body = JSON.stringify({ event: 'MESSAGE SENT TO USER', chat_id, chatmessage_id: '76a5725c85ec97249e11de8e' })
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`)
})
