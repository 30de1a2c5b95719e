import { Agent, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import axios from 'axios'
import { getGlobalDispatcher } from 'undici'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'
import { CLIENTS, GET, overNode, sendMessage, withFetch } from './clients.ts'
import { callsOf, startElsewhere } from './elsewhere.ts'

const addRequest = () => (Agent.prototype as unknown as { addRequest: unknown }).addRequest
const patched = () => [addRequest(), getGlobalDispatcher(), globalThis.fetch, overHttp]
const untouched = patched()
afterAll(() => expect(patched()).toEqual(untouched))

function interceptUntilEnd(...simulators: PlatformSimulator[]) {
  const interception = intercept(simulators)
  onTestFinished(() => interception.stop())
  return interception
}

function intercepted(baseUrl = 'https://bot.example.test') {
  const sim = createSimulator({ baseUrl })
  interceptUntilEnd(sim)
  return sim
}

const noneOf = (sim: PlatformSimulator) => `${sim.baseUrl}/api/v1/chats/none`

describe.each(Object.entries(CLIENTS))('%s', (_, send) => {
  it.each(['https://bot.example.test', 'http://bot.example.test:8080/base'])(
    'reaches the simulator at %s, also with errors, unknown paths and lost responses',
    async baseUrl => {
      const sim = intercepted(baseUrl)
      const chat = await sim.chat()
      const text = 'Hei, jeg heter Anna 👋 '.repeat(2000)
      expect((await sendMessage(send, sim, chat.id, text)).text).toContain('"event":"MESSAGE SENT TO USER"')
      expect(chat.transcript.at(-1)).toMatchObject({ from: 'agent', name: 'Anna', text })
      expect(await send(noneOf(sim), GET)).toMatchObject({ status: 401 })
      expect(await send(`${sim.baseUrl}/nowhere?a=b`, { method: 'DELETE', headers: {} })).toMatchObject({ status: 404 })
      sim.faults.add({ slow_body: '5ms', on: 'api', times: 1 })
      expect((await send(noneOf(sim), GET)).text).toContain('unauthorized')
      for (const fault of [{ reset: true }, { drop: 'before' }] as const) {
        sim.faults.add({ ...fault, on: 'api', times: 1 })
        await expect(sendMessage(send, sim, chat.id, 'lost'), JSON.stringify(fault)).rejects.toThrow()
      }
      expect(sim.journal.query({ kind: 'api' }).map(({ status }) => status)).toEqual([200, 401, 404, 401, 0, 0])
    },
  )

  it('finds two simulators at two addresses, and neither elsewhere', async () => {
    const origin = 'https://a.example.test'
    const sims = [origin, `${origin}/b`].map(intercepted)
    const paths = [`${origin}/x`, `${origin}/b/x`, `${origin}/bx`, `${await startElsewhere()}/b/x`]
    const answers = await Promise.all(paths.map(path => send(path, GET)))
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 200])
    expect(answers[3]!.text).toBe('GET /b/x')
    expect(sims.map(callsOf)).toEqual([2, 1])
  })
})

describe('an interception', () => {
  it('ends with its block, also for idle connections', async () => {
    const sim = createSimulator({ baseUrl: 'https://nobody.example.test' })
    {
      using _ = intercept(sim)
      for (const send of Object.values(CLIENTS)) expect(await send(noneOf(sim), GET)).toMatchObject({ status: 401 })
    }
    for (const [name, send] of Object.entries(CLIENTS)) await expect(send(noneOf(sim), GET), name).rejects.toThrow()
    expect(callsOf(sim)).toBe(Object.keys(CLIENTS).length)
  })

  it('ends once, and overrides an earlier one at the same address while it is active, whichever ends first', async () => {
    const [a, b] = [createSimulator(), createSimulator()]
    const outer = interceptUntilEnd(a)
    const inner = interceptUntilEnd(b)
    await withFetch(noneOf(a), GET)
    inner.stop()
    inner.stop()
    await overNode(noneOf(a), GET)
    const again = interceptUntilEnd(b)
    outer.stop()
    await withFetch(noneOf(a), GET)
    again.stop()
    expect([callsOf(a), callsOf(b)]).toEqual([1, 2])
    expect(patched()).toEqual(untouched)
  })

  const one = createSimulator()
  const respelled = createSimulator({ baseUrl: 'https://BOT.example.test:443/' })
  it.each([
    [[[one, createSimulator()]], 'Two simulators answer at https://bot.example.test: give one of them'],
    [[[one, respelled]], 'Two simulators answer at https://bot.example.test'],
    [[[]], 'intercept takes at least one simulator, received an empty list'],
    [[undefined], 'intercept takes a simulator, or a list of simulators.'],
    [[Promise.resolve(one)], 'intercept takes a simulator'],
    [[{ baseUrl: 'http://x' }], 'intercept takes a simulator'],
    [[{ baseUrl: 'bot.example.test', fetch: one.fetch }], 'must be a URL, received "bot.example.test"'],
    [[one, { bogus: 1 }], 'intercept takes one argument and no options'],
    [[one, respelled], 'several simulators are a list'],
  ])('is refused for wrong arguments, and changes nothing: case %#', (args, message) => {
    expect(() => Reflect.apply(intercept, null, args)).toThrow(message)
    expect(patched()).toEqual(untouched)
  })

  it('lets requests in flight finish', async () => {
    const [allArrived, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let arrived = 0
    const fetch = async () => {
      if (++arrived === Object.keys(CLIENTS).length) allArrived.resolve()
      await release.promise
      return new Response('late')
    }
    const interception = intercept({ baseUrl: 'https://late.example.test', fetch })
    const answers = Object.values(CLIENTS).map(send => send('https://late.example.test/', GET))
    await allArrived.promise
    interception.stop()
    release.resolve()
    expect(new Set((await Promise.all(answers)).map(({ text }) => text))).toEqual(new Set(['late']))
  })

  it('reaches agents of their own and requests that name a proxy', async () => {
    const sim = intercepted('http://bot.example.test')
    const kept = new Agent({ keepAlive: true, maxSockets: 1 })
    const statusOf = (options: object) =>
      new Promise<number | undefined>((resolve, reject) => {
        const request = overHttp(options, response => response.resume().on('end', () => resolve(response.statusCode)))
        request.on('error', reject).end()
      })
    const bot = { host: 'bot.example.test', path: '/none' }
    const proxy = { host: '127.0.0.1', port: 9, path: 'http://bot.example.test/none' }
    const requests = [bot, bot, bot, proxy].map(options => ({ ...options, agent: kept }))
    const statuses = await Promise.all([...requests, { ...bot, agent: false }].map(statusOf))
    expect(statuses).toEqual(Array(5).fill(404))
    expect(kept.sockets).toEqual({})
    expect(callsOf(sim)).toBe(5)
  })

  it('supports timeouts and aborts of the client', async () => {
    const sim = intercepted()
    sim.faults.add({ on: { api: 'any' }, latency: '60s' })
    const url = noneOf(sim)
    await expect(axios.get(url, { timeout: 30 })).rejects.toMatchObject({ code: 'ECONNABORTED' })
    await expect(fetch(url, { signal: AbortSignal.timeout(30) })).rejects.toMatchObject({ name: 'TimeoutError' })
    await new Promise<void>(resolve => {
      const request = overHttps(url, { timeout: 30 })
      request.on('timeout', resolve).on('error', () => {})
      request.end()
    })
    sim.reset()
  })

  it.each(['from the beginning', 'after requests without them'])('works with fake timers %s', async when => {
    const sim = intercepted()
    if (when !== 'from the beginning') {
      for (const send of Object.values(CLIENTS)) await send(noneOf(sim), GET)
      await new Promise(resolve => setImmediate(resolve))
    }
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    for (const [name, send] of Object.entries(CLIENTS))
      for (const _ of [1, 2, 3]) expect(await send(noneOf(sim), GET), name).toMatchObject({ status: 401 })
  })
})
