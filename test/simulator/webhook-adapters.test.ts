/** Uses applications of this process as the webhook: Express, Fastify, Hono, `node:http`. */
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import express from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import {
  createSimulator,
  fromFastify,
  fromFetch,
  fromNode,
  InvalidOptionError,
  type SimulatorOptions,
} from '../../src/index.ts'
import { verify } from '../../src/platform/signature/index.ts'

const KEY = 'sim-handover-key'
type Webhook = NonNullable<SimulatorOptions['webhook']>
/** Receives the bytes of a request, and returns the status of the answer. */
type OnEvent = (bytes: Uint8Array, signature: unknown) => Promise<number>
const header = 'kindly-hmac'

function expressApp(create: typeof express, onEvent: OnEvent): Webhook {
  const app = create()
  app.post('/webhook', create.raw({ type: '*/*' }), (request, response, next) => {
    onEvent(request.body, request.get(header)).then(status => response.sendStatus(status), next)
  })
  return fromNode(app)
}

function fastifyApp(onEvent: OnEvent): Webhook {
  const app = fastify()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.post('/webhook', async (request, reply) => {
    reply.code(await onEvent(request.body as Buffer, request.headers[header]))
    return 'ok'
  })
  onTestFinished(() => app.close())
  return fromFastify(app)
}

const handlerOf = (onEvent: OnEvent) => async (request: Request) => {
  const status = await onEvent(new Uint8Array(await request.arrayBuffer()), request.headers.get(header))
  return new Response(null, { status })
}

const listenerOf = (onEvent: OnEvent) => async (request: IncomingMessage, response: ServerResponse) => {
  response.statusCode = await onEvent(Buffer.concat(await request.toArray()), request.headers[header])
  response.end()
}

/** A Nest application, as far as `fromNode` sees it. The project examples/nest has a real one. */
const nestApp = (init: () => Promise<void>, getInstance: () => unknown) =>
  fromNode({ init, getHttpAdapter: () => ({ getInstance }) })

const APPLICATIONS: Readonly<Record<string, (onEvent: OnEvent) => Webhook>> = {
  'Express 5': onEvent => expressApp(express, onEvent),
  'Express 4': onEvent => expressApp(express4, onEvent),
  'Fastify 5': fastifyApp,
  Hono: onEvent => fromFetch(new Hono().post('/webhook', ({ req }) => handlerOf(onEvent)(req.raw))),
  'a function from Request to Response': onEvent => fromFetch(handlerOf(onEvent)),
  'a request listener': onEvent => fromNode(listenerOf(onEvent)),
  'a server of node:http': onEvent => fromNode(createServer(listenerOf(onEvent))),
  'a Nest application': onEvent =>
    nestApp(
      async () => {},
      () => listenerOf(onEvent),
    ),
}

function simulatorWith(webhook: Webhook, options: SimulatorOptions = {}) {
  const sim = createSimulator({ ...options, webhook })
  onTestFinished(() => sim.close())
  return sim
}

test.each(Object.entries(APPLICATIONS))(
  '%s receives the bytes that were signed, and its status is the answer',
  async (_, create) => {
    const texts: string[] = []
    const webhook = create(async (bytes, signature) => {
      texts.push(new TextDecoder().decode(bytes))
      return (await verify(bytes, String(signature), KEY)) ? 200 : 401
    })
    const sim = simulatorWith(webhook, { knobs: { 'webhook.json': 'ascii' } })
    expect((await (await sim.chat({ source: 'blåbær' })).press('handover')).ack).toMatchObject({ status: 200 })
    sim.faults.add({ on: 'webhook', sign: 'wrong-key' })
    expect((await (await sim.chat()).press('handover')).ack).toMatchObject({ status: 401 })
    expect(texts.map(text => JSON.parse(text).event)).toEqual(['REQUESTING TAKEOVER', 'REQUESTING TAKEOVER'])
    expect(sim.deliveries.map(({ request }) => request.body)).toEqual(texts)
  },
)

test('Express verifies the raw body that its JSON parser kept, when another middleware has parsed it', async () => {
  const app = express()
  const rawBodies = new WeakMap<IncomingMessage, Buffer>()
  app.use(express.json({ verify: (request, _, bytes) => rawBodies.set(request, bytes) }))
  app.post('/webhook', async (request, response) => {
    const isValid = await verify(rawBodies.get(request)!, request.headers, KEY)
    response.sendStatus(isValid && request.body.event === 'REQUESTING TAKEOVER' ? 200 : 401)
  })
  const sim = simulatorWith(fromNode(app), { knobs: { 'webhook.json': 'spaced' } })
  expect((await (await sim.chat()).press('handover')).ack).toMatchObject({ status: 200 })
})

test('a Nest application is initialized once, also by events that arrive at the same time', async () => {
  let initialized = 0
  const init = async () => {
    await new Promise(resolve => setImmediate(resolve))
    initialized++
  }
  const sim = simulatorWith(nestApp(init, () => (initialized ? listenerOf(async () => 200) : null)))
  const chats = await Promise.all([sim.chat(), sim.chat()])
  const actions = await Promise.all(chats.map(chat => chat.press('handover')))
  expect(actions.map(({ ack }) => ack?.status)).toEqual([200, 200])
  expect(initialized).toBe(1)
})

test('the request is one of node:http, over a connection of its own', async () => {
  const seen: string[] = []
  const sockets = new Set<unknown>()
  const app = express()
  app.post('/hooks/:tenant', (request, response) => {
    sockets.add(request.socket)
    const { ip, protocol, hostname, httpVersion, method, originalUrl, params } = request
    seen.push(`${protocol} ${hostname} from ${ip}, HTTP ${httpVersion}: ${method} ${originalUrl} of ${params.tenant}`)
    response.status(200).set('x-desk', 'one').write('o')
    response.end('k')
  })
  const sim = simulatorWith(fromNode(app, { path: '/hooks/acme?from=platform' }))
  for (let count = 0; count < 4; count++) {
    await (await sim.chat()).press('handover')
    await new Promise(setImmediate) // As after every answer over a network.
  }
  const line = 'HTTP 1.1: POST /hooks/acme?from=platform of acme'
  expect(seen).toEqual(Array(4).fill(`https intermediary.example.test from 127.0.0.1, ${line}`))
  expect(sockets.size).toBe(4)
  expect(sim.deliveries[0]).toMatchObject({
    url: 'https://intermediary.example.test/hooks/acme?from=platform',
    response: { headers: { 'x-desk': 'one' }, body: 'ok' },
  })
})

const kaputt = () => {
  throw new TypeError('desk is down')
}

const THROWN = /^the webhook function threw: desk is down at .*webhook-adapters\.test\.ts:\d+:\d+$/

test.each<[string, Webhook, RegExp]>([
  ['a path without a route', fromNode(express()), /check the path of the webhook/],
  ['a listener that throws', fromNode(kaputt), THROWN],
  ['a listener that rejects', fromNode(async () => kaputt()), THROWN],
  ['a function that throws', fromFetch(kaputt), THROWN],
])('%s: the failure names the error and its place', async (_, webhook, error) => {
  const { ack } = await (await simulatorWith(webhook).chat()).press('handover')
  expect(ack!.error).toMatch(error)
})

test('a request is aborted at the time limit, and by a reset', async () => {
  const events = new EventEmitter()
  const webhook = fromNode(request => {
    request.on('close', () => events.emit('closed'))
    request.resume()
  })
  const sim = simulatorWith(webhook, { knobs: { 'webhook.timeout': '50ms' } })
  const first = once(events, 'closed')
  expect((await (await sim.chat()).press('handover')).ack!.error).toBe('timeout: no complete answer within 50 ms')
  await first
  const second = once(events, 'closed')
  await (await sim.chat()).press('handover', { async: true })
  sim.reset()
  await second
})

test('faults of the connection apply, as over the network', async () => {
  const requests: string[] = []
  const webhook = fromNode(async (request, response) => {
    requests.push(request.rawHeaders.join(), Buffer.concat(await request.toArray()).toString())
    response.end('ok')
  })
  const sim = simulatorWith(webhook)
  sim.faults.add({ on: 'webhook', http: ['header-case', 'chunked'], drip: '10ms', reset_after_answer: true })
  expect((await (await sim.chat()).press('handover')).ack).toMatchObject({ status: 200 })
  for (const name of ['KINDLY-HMAC', 'Transfer-Encoding']) expect(requests[0]).toContain(name)
  expect(JSON.parse(requests[1]!)).toMatchObject({ event: 'REQUESTING TAKEOVER' })
  expect(sim.journal.query({ kind: 'fault' })[0]).not.toHaveProperty('not_applied')
})

test.each<[() => unknown, string]>([
  [() => fromNode(7 as never), 'fromNode takes an Express or Nest application, a server of node:http'],
  [() => fromFastify(express() as never), 'fromFastify takes a Fastify application, got'],
  [() => fromFetch({} as never), 'fromFetch takes a function from Request to Response'],
  [() => fromNode(express(), { path: 'webhook' }), 'path must be a path such as /webhook'],
  [() => fromNode(express(), { pth: '/' } as never), 'fromNode takes no pth; it takes path'],
  [() => createSimulator({ webhook: { fetch: () => new Response(), listener: () => {} } }), 'not both.'],
])('%s: InvalidOptionError', (create, message) => {
  expect(create).toThrow(InvalidOptionError)
  expect(create).toThrow(message)
})
