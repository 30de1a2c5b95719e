import fastify from 'fastify'
import { expect, it } from 'vitest'
import { createSimulator, fromFastify } from '../../../src/index.ts'
import { verify } from '../../../src/platform/signature/index.ts'

const app = fastify()
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.post<{ Body: Buffer }>('/webhook', async (request, reply) => {
  const isValid = await verify(request.body, request.headers, 'sim-handover-key')
  return reply.code(isValid ? 200 : 401).send()
})

const sim = createSimulator({ webhook: fromFastify(app) })

it('accepts a signed event', async () => {
  const { ack } = await (await sim.chat()).press('handover')
  expect(ack?.status).toBe(200)
})
