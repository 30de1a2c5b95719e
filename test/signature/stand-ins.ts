/** Implements the parts of frameworks that docs/reference/signature.md uses, for machines without them. */

/** Like Express 5: a raw body is a Buffer, and undefined for a request without one. */
const EXPRESS = `
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

export default function express() {
  let handlers = []
  return {
    post: (_path, ...given) => { handlers = given },
    listen: port => createServer(async (request, response) => {
      response.sendStatus = status => response.writeHead(status).end()
      try {
        for (const handler of handlers) await handler(request, response)
      } catch {
        response.sendStatus(500)
      }
    }).listen(port, '127.0.0.1'),
  }
}

express.raw = () => async request => {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  request.body = length === undefined && encoding === undefined ? undefined : await buffer(request)
}
`

/** Like Fastify 5: JSON is parsed unless the scope has another parser; a missing body is undefined. */
const FASTIFY = `
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

export default function Fastify() {
  let parser = (_request, body, done) => done(null, JSON.parse(body))
  let handler = null
  const scope = {
    removeAllContentTypeParsers: () => { parser = null },
    addContentTypeParser: (_type, _options, given) => { parser = given },
    post: (_path, given) => { handler = given },
  }
  const parsed = (request, body) =>
    new Promise((resolve, reject) => parser(request, body, (error, value) => (error ? reject(error) : resolve(value))))
  return {
    register: plugin => plugin(scope),
    listen: ({ port, host }) => createServer(async (request, response) => {
      const reply = { code: status => ((response.statusCode = status), reply), send: () => void response.end() }
      try {
        const bytes = await buffer(request)
        request.body = bytes.length === 0 ? undefined : await parsed(request, bytes)
        await handler(request, reply)
      } catch {
        reply.code(500).send()
      }
    }).listen(port, host),
  }
}
`

export const STAND_INS: Readonly<Record<string, string>> = { express: EXPRESS, fastify: FASTIFY }
