import { Agent, createServer, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import axios from 'axios'
import { getGlobalDispatcher } from 'undici'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { type Interception, intercept } from '../../src/testing/interceptors/interceptors.ts'
import { CLIENTS, overNode, type Sent, withFetch } from './clients.ts'

const patched = () => [
  (Agent.prototype as unknown as { addRequest: unknown }).addRequest,
  getGlobalDispatcher(),
  globalThis.fetch,
  overHttp,
]
const untouched = patched()

const started: Interception[] = []
const catching = (...simulators: PlatformSimulator[]) => {
  const interception = intercept(simulators)
  started.push(interception)
  return interception
}
afterEach(() => {
  for (const one of started.splice(0)) one.stop()
  expect(patched()).toEqual(untouched)
})

const MESSAGE = '/api/v2/handover/message/'
const asAgent = (sim: PlatformSimulator, chatId: string, message: string): Sent => ({
  method: 'POST',
  headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' },
  body: JSON.stringify({
    bot_id: sim.botId,
    chat_id: chatId,
    message,
    sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' },
  }),
})
const GET: Sent = { method: 'GET', headers: {} }

/** Another server, which records its requests. */
async function elsewhere(): Promise<string> {
  const server = createServer((request, response) => void response.end(`${request.method} ${request.url}`))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.each(Object.entries(CLIENTS))('%s', (_, send) => {
  it.each(['https://bot.example.test', 'http://bot.example.test:8080/base'])(
    'reaches the simulator at %s',
    async baseUrl => {
      const sim = createSimulator({ baseUrl })
      catching(sim)
      const chat = await sim.chat()
      await chat.press('handover')
      const text = 'Hei, jeg heter Anna 👋 '.repeat(2000)
      const answer = await send(sim.baseUrl + MESSAGE, asAgent(sim, chat.id, text))
      expect(answer).toMatchObject({ status: 200, type: expect.stringMatching(/^application\/json/) })
      expect(JSON.parse(answer.text)).toMatchObject({ event: 'MESSAGE SENT TO USER' })
      expect(chat.transcript.at(-1)).toMatchObject({ from: 'agent', name: 'Anna', text })
      expect(sim.journal.query({ kind: 'api' })).toHaveLength(1)
    },
  )

  it('receives errors and unknown paths from the simulator too', async () => {
    const sim = createSimulator()
    catching(sim)
    expect(await send(`${sim.baseUrl}/api/v1/chats/none`, GET)).toMatchObject({ status: 401 })
    expect(await send(`${sim.baseUrl}/nowhere?a=b`, { method: 'DELETE', headers: {} })).toMatchObject({ status: 404 })
    expect(sim.journal.query({ kind: 'api' }).map(entry => 'path' in entry && entry.path)).toEqual([
      '/api/v1/chats/none',
      '/nowhere?a=b',
    ])
  })

  it('finds two simulators at two addresses, and neither elsewhere', async () => {
    const [a, b] = [
      createSimulator({ baseUrl: 'https://a.example.test' }),
      createSimulator({ baseUrl: 'https://a.example.test/b' }),
    ]
    catching(a, b)
    const other = await elsewhere()
    const paths = [
      'https://a.example.test/x',
      'https://a.example.test/b/x',
      'https://a.example.test/bx',
      `${other}/b/x`,
    ]
    const answers = await Promise.all(paths.map(path => send(path, GET)))
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 200])
    expect(answers[3]!.text).toBe('GET /b/x')
    expect([a, b].map(sim => sim.journal.query({ kind: 'api' }).length)).toEqual([2, 1])
  })

  it('fails as over a network when the response is lost', async () => {
    const sim = createSimulator()
    catching(sim)
    const { id } = await sim.chat()
    const read = () =>
      send(`${sim.baseUrl}/api/v1/chats/${id}`, {
        method: 'GET',
        headers: { authorization: `Bearer ${sim.botApiKey}` },
      })
    for (const fault of [{ reset: true }, { drop: 'before' }] as const) {
      sim.faults.add({ ...fault, on: { api: 'any' }, times: 1 })
      const error = await read().then(
        () => null,
        (reason: Error) => reason,
      )
      expect(error, JSON.stringify(fault)).toBeInstanceOf(Error)
    }
    expect(await read()).toMatchObject({ status: 200 })
  })
})

describe('an interception', () => {
  const chatsOf = (sim: PlatformSimulator) => `${sim.baseUrl}/api/v1/chats/none`
  const calls = (sim: PlatformSimulator) => sim.journal.query({ kind: 'api' }).length

  it('ends with its block, also for idle connections', async () => {
    const sim = createSimulator({ baseUrl: 'https://nobody.example.test' })
    {
      using _ = intercept(sim)
      for (const send of Object.values(CLIENTS)) expect(await send(chatsOf(sim), GET)).toMatchObject({ status: 401 })
    }
    const before = calls(sim)
    for (const [name, send] of Object.entries(CLIENTS)) await expect(send(chatsOf(sim), GET), name).rejects.toThrow()
    expect(calls(sim)).toBe(before)
  })

  it('ends once, however often it is stopped', async () => {
    const sim = createSimulator()
    const [first, second] = [catching(sim), catching(sim)]
    first.stop()
    first.stop()
    expect(await withFetch(chatsOf(sim), GET)).toMatchObject({ status: 401 })
    second.stop()
    expect(patched()).toEqual(untouched)
  })

  it('overrides an earlier one at the same address while it is active, whichever ends first', async () => {
    const [a, b] = [createSimulator(), createSimulator()]
    const outer = catching(a)
    const inner = catching(b)
    await withFetch(chatsOf(a), GET)
    inner.stop()
    await overNode(chatsOf(a), GET)
    const again = catching(b)
    outer.stop()
    await withFetch(chatsOf(a), GET)
    again.stop()
    expect([calls(a), calls(b)]).toEqual([1, 2])
  })

  it('rejects two simulators at one address, an empty list, and values that are no simulator', () => {
    const [one, other] = [createSimulator(), createSimulator()]
    expect(() => catching(one, other)).toThrow('Two simulators answer at https://bot.example.test: give one of them')
    const respelled = createSimulator({ baseUrl: 'https://BOT.example.test:443/' })
    expect(() => catching(one, respelled)).toThrow('Two simulators answer at https://bot.example.test')
    expect(() => intercept([])).toThrow('intercept takes at least one simulator, received an empty list')
    expect(() => intercept(undefined as never)).toThrow('intercept takes a simulator, or a list of simulators.')
    expect(() => intercept(Promise.resolve(one) as never)).toThrow('intercept takes a simulator')
    expect(() => intercept({ baseUrl: 'http://x' } as never)).toThrow('intercept takes a simulator')
    const withOptions: (...given: readonly unknown[]) => unknown = intercept as never
    expect(() => withOptions(one, { bogus: 1 })).toThrow('intercept takes one argument and no options')
    expect(() => withOptions(one, other)).toThrow('several simulators are a list')
    expect(patched()).toEqual(untouched)
  })

  it('that fails to begin changes nothing', async () => {
    const never = async () => new Response()
    expect(() => intercept({ baseUrl: 'bot.example.test', fetch: never })).toThrow(
      'must be a URL, received "bot.example.test"',
    )
    expect(patched()).toEqual(untouched)
    const sim = createSimulator()
    catching(sim)
    expect(await withFetch(chatsOf(sim), GET)).toMatchObject({ status: 401 })
  })

  it('lets requests in flight finish', async () => {
    const pending: (() => void)[] = []
    const fetch = () => new Promise<Response>(resolve => pending.push(() => resolve(new Response('late'))))
    const interception = intercept({ baseUrl: 'https://late.example.test', fetch })
    const answers = Object.values(CLIENTS).map(send => send('https://late.example.test/', GET))
    await expect.poll(() => pending.length).toBe(answers.length)
    interception.stop()
    for (const answer of pending) answer()
    expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(answers.map(() => 'late'))
  })

  it('reaches agents of their own and requests that name a proxy', async () => {
    const sim = createSimulator({ baseUrl: 'http://bot.example.test' })
    catching(sim)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = (options: object) =>
      new Promise<number | undefined>((resolve, reject) => {
        const request = overHttp({ agent, ...options }, response => {
          response.resume().on('end', () => resolve(response.statusCode))
        })
        request.on('error', reject).end()
      })
    expect(await Promise.all([1, 2, 3].map(() => ask({ host: 'bot.example.test', path: '/none' })))).toEqual([
      404, 404, 404,
    ])
    expect(agent.sockets).toEqual({})
    expect(await ask({ host: '127.0.0.1', port: 9, path: 'http://bot.example.test/none' })).toBe(404)
    expect(calls(sim)).toBe(4)
  })

  it('supports timeouts and aborts of the client', async () => {
    const sim = createSimulator()
    catching(sim)
    const { id } = await sim.chat()
    sim.faults.add({ on: { api: 'any' }, latency: '60s' })
    const url = `${sim.baseUrl}/api/v1/chats/${id}`
    await expect(axios.get(url, { timeout: 30 })).rejects.toMatchObject({ code: 'ECONNABORTED' })
    await expect(fetch(url, { signal: AbortSignal.timeout(30) })).rejects.toMatchObject({ name: 'TimeoutError' })
    const timedOut = new Promise(resolve => {
      const request = overHttps(url, { timeout: 30 })
      request
        .on('timeout', () => resolve('timeout'))
        .on('error', () => {})
        .end()
    })
    expect(await timedOut).toBe('timeout')
    sim.reset()
  })

  it('works with fake timers', async () => {
    const sim = createSimulator()
    catching(sim)
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    for (const [name, send] of Object.entries(CLIENTS))
      for (const _ of [1, 2, 3]) expect(await send(chatsOf(sim), GET), name).toMatchObject({ status: 401 })
  })

  it('works with fake timers after requests without them', async () => {
    const sim = createSimulator()
    catching(sim)
    for (const send of Object.values(CLIENTS)) await send(chatsOf(sim), GET)
    await new Promise(resolve => setImmediate(resolve))
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    for (const [name, send] of Object.entries(CLIENTS))
      expect(await send(chatsOf(sim), GET), name).toMatchObject({ status: 401 })
  })

  it('serves an agent for one request, and many requests at once', async () => {
    const sim = createSimulator()
    catching(sim)
    const once = new Promise<number | undefined>(resolve => {
      overHttps(chatsOf(sim), { agent: false }, response => resolve(response.resume().statusCode)).end()
    })
    const many = Array.from({ length: 100 }, (_, index) => Object.values(CLIENTS)[index % 6]!(chatsOf(sim), GET))
    expect(await once).toBe(401)
    expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([401]))
    expect(calls(sim)).toBe(101)
  })

  it('passes a slow body on in pieces', async () => {
    const sim = createSimulator()
    catching(sim)
    const { id } = await sim.chat()
    sim.faults.add({ on: { api: 'any' }, slow_body: '30ms' })
    const headers = { authorization: `Bearer ${sim.botApiKey}` }
    for (const [name, send] of Object.entries(CLIENTS)) {
      const answer = await send(`${sim.baseUrl}/api/v1/chats/${id}`, { method: 'GET', headers })
      expect(JSON.parse(answer.text), name).toHaveProperty('chat')
    }
  })
})
