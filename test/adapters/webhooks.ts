/** Receives webhooks in the applications of an intermediary. */
import express from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { createSimulator, fromFastify, fromNode, type SimulatorOptions } from '../../src/index.ts'
import type { Adapter } from '../support/msw-adapter.ts'
import { inProcess } from '../support/test-simulator.ts'

type Webhook = NonNullable<SimulatorOptions['webhook']>
/** Receives the method, headers and bytes of a request, and returns the answer. */
type Receive = (method: string, headers: object, bytes: Buffer<ArrayBuffer>) => Promise<Response>

const receiveWith =
  (webhook: Webhook): Receive =>
  (method, headers, body) => {
    if (!('fetch' in webhook) || webhook.fetch === undefined) throw new Error('The webhook needs a function fetch.')
    return Promise.resolve(
      webhook.fetch(new Request('https://desk.example.test/webhook', { method, headers: { ...headers }, body })),
    )
  }

function expressApp(create: typeof express, receive: Receive): Webhook {
  const app = create()
  app.post('/webhook', create.raw({ type: '*/*' }), ({ method, headers, body }, response, next) => {
    receive(method, headers, body).then(({ status }) => response.sendStatus(status), next)
  })
  return fromNode(app)
}

function fastifyApp(receive: Receive): Webhook {
  const app = fastify()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.post('/webhook', async ({ method, headers, body }, reply) => {
    reply.code((await receive(method, headers, body as Buffer<ArrayBuffer>)).status)
    return 'ok'
  })
  return fromFastify(app)
}

/** Calls in-process, with the webhook in an application. */
const webhookIn = (name: string, mount: (receive: Receive) => Webhook): Adapter => ({
  ...inProcess,
  name,
  create: async options => createSimulator({ ...options, webhook: mount(receiveWith(options.webhook as Webhook)) }),
})

/** A function, and applications of frameworks. */
export const WEBHOOKS: readonly Adapter[] = [
  { ...inProcess, name: 'a function' },
  webhookIn('Express 4', receive => expressApp(express4, receive)),
  webhookIn('Express 5', receive => expressApp(express, receive)),
  webhookIn('Fastify', fastifyApp),
]
