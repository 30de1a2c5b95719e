import * as msw2 from 'msw'
import { setupServer as setup2 } from 'msw/node'
import * as msw3 from 'msw3'
import { setupServer as setup3 } from 'msw3/node'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createPlatformSimulator, type PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { handlers } from '../../src/testing/msw.ts'
import { createHandlers, nodeProblem } from '../../src/testing/msw-handlers.ts'
import { startWebhook } from '../support/network.ts'
import { CLIENTS, withFetch } from './clients.ts'

/** The parts of both versions that tests use. */
interface Server {
  close(): void
  use(handler: unknown): void
  resetHandlers(): void
}

const versions = {
  'msw 2': {
    http: msw2.http,
    listen(simulators: readonly PlatformSimulator[]): Server {
      const server = setup2(...simulators.flatMap(sim => createHandlers<msw2.HttpHandler>(msw2.http, sim)))
      server.listen({ onUnhandledRequest: 'error' })
      return server as Server
    },
  },
  'msw 3': {
    http: msw3.http,
    listen(simulators: readonly PlatformSimulator[]): Server {
      const server = setup3(...simulators.flatMap(sim => createHandlers<msw3.HttpHandler>(msw3.http, sim)))
      server.listen({ onUnhandledFrame: 'error' })
      return server as Server
    },
  },
}

const realFetch = globalThis.fetch
let server: Server | null = null
afterEach(() => {
  server?.close()
  server = null
  expect(globalThis.fetch).toBe(realFetch)
})

const CLIENTS_OF_MSW = [withFetch, CLIENTS.axios!, CLIENTS.got!]
const AVATAR = 'https://desk.example.test/anna.png'

describe.each(Object.entries(versions))('%s', (_, { http, listen }) => {
  const listening = (...simulators: PlatformSimulator[]) => {
    server = listen(simulators)
    return server
  }
  const message = (sim: PlatformSimulator, chat_id: string, text: string) => ({
    method: 'POST',
    headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: sim.botId, chat_id, message: text, sender: { name: 'Anna', avatar: AVATAR } }),
  })

  it.each(['https://bot.example.test', 'https://bot.example.test/base/', 'http://127.0.0.1:8099/a.b'])(
    'answers everything under %s, unknown paths included',
    async baseUrl => {
      const sim = createPlatformSimulator({ baseUrl })
      listening(sim)
      const chat = await sim.chat()
      await chat.press('handover')
      const sent = message(sim, chat.id, 'Hei 👋')
      for (const send of CLIENTS_OF_MSW)
        expect(await send(`${sim.baseUrl}/api/v2/handover/message/`, sent)).toMatchObject({ status: 200 })
      expect(chat.transcript.slice(-CLIENTS_OF_MSW.length).map(({ text }) => text)).toEqual(
        CLIENTS_OF_MSW.map(() => 'Hei 👋'),
      )
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])
        expect((await fetch(`${sim.baseUrl}/none?a=b`, { method })).status, method).toBe(404)
      expect((await fetch(sim.baseUrl)).status).toBe(404)
    },
  )

  it('leaves other addresses to the strategy for unhandled requests', async () => {
    const sim = createPlatformSimulator({ baseUrl: 'https://bot.example.test/base' })
    listening(sim)
    const answer = vi.spyOn(console, 'error').mockReturnValue()
    onTestFinished(() => answer.mockRestore())
    for (const url of [
      'https://bot.example.test/basement',
      'https://botxexample.test/base',
      'https://other.example.test/',
    ])
      await expect(fetch(url), url).rejects.toThrow()
    expect(answer.mock.calls.join()).toContain('without a matching request handler')
    expect(sim.journal.query({ kind: 'api' })).toEqual([])
  })

  it('lets a handler of the test override one endpoint, until handlers are reset', async () => {
    const sim = createPlatformSimulator()
    const { use, resetHandlers } = listening(sim)
    const availability = `${sim.baseUrl}/api/v2/handover/availability/`
    const teapot = http.post(availability, () => new Response('short', { status: 418 }))
    use(teapot)
    const chat = await sim.chat()
    expect((await fetch(availability, { method: 'POST' })).status).toBe(418)
    const sent = message(sim, chat.id, 'Hei')
    expect((await fetch(`${sim.baseUrl}/api/v2/handover/message/`, sent)).status).toBe(200)
    resetHandlers()
    expect((await fetch(availability, { method: 'POST' })).status).toBe(401)
  })

  it('serves two simulators at two addresses', async () => {
    const [a, b] = ['https://a.example.test', 'https://b.example.test'].map(baseUrl =>
      createPlatformSimulator({ baseUrl }),
    )
    listening(a!, b!)
    await Promise.all(
      ['https://a.example.test/1', 'https://b.example.test/2', 'https://b.example.test/3'].map(url => fetch(url)),
    )
    expect([a!, b!].map(sim => sim.journal.query({ kind: 'api' }).length)).toEqual([1, 2])
  })

  it('turns a lost response into a network error', async () => {
    const sim = createPlatformSimulator()
    listening(sim)
    const { id } = await sim.chat()
    const read = { method: 'GET', headers: { authorization: `Bearer ${sim.botApiKey}` } }
    for (const fault of [{ reset: true }, { drop: 'after' }] as const) {
      for (const send of CLIENTS_OF_MSW) {
        sim.faults.add({ ...fault, on: { api: 'any' }, times: 1 })
        await expect(send(`${sim.baseUrl}/api/v1/chats/${id}`, read)).rejects.toThrow()
      }
    }
    expect(await withFetch(`${sim.baseUrl}/api/v1/chats/${id}`, read)).toMatchObject({ status: 200 })
  })

  it('does not intercept webhooks', async () => {
    await using webhook = await startWebhook()
    const sim = createPlatformSimulator({ webhook: { url: webhook.url } })
    onTestFinished(() => sim.close())
    listening(sim)
    const [first, second] = [await sim.chat(), await sim.chat()]
    await first.press('handover')
    expect(sim.deliveries.map(({ status }) => status)).toEqual([200])
    sim.faults.add({ on: { webhook: 'any' }, drip: '20ms' })
    await second.press('handover')
    expect(sim.deliveries.map(({ status }) => status)).toEqual([200, 200])
  })
})

it('handlers() builds with the msw that is installed', async () => {
  const sim = createPlatformSimulator()
  const running = setup2(...handlers(sim))
  running.listen({ onUnhandledRequest: 'error' })
  server = running as Server
  expect((await fetch(`${sim.baseUrl}/none`)).status).toBe(404)
})

it('handlers() rejects values that are no simulator', () => {
  expect(() => handlers(undefined as never)).toThrow('handlers takes a simulator: handlers(createSimulator()).')
  expect(() => handlers({ baseUrl: 'http://x' } as never)).toThrow('handlers takes a simulator')
})

describe('a Node too old for the installed msw', () => {
  const three = { version: '3.0.5', engines: { node: '>=22.12.0' } }

  it.each(['20.19.0', '22.11.9'])('is reported: %s', node => {
    expect(nodeProblem(three, node)).toBe(
      `msw 3.0.5 needs Node 22.12.0 or newer, and this is Node ${node}. Use a newer Node or install msw 2, which works too: npm install -D msw@2.`,
    )
  })

  it('is not reported for a new enough Node', () => {
    expect(['22.12.0', '22.12.1', '24.0.0'].map(node => nodeProblem(three, node))).toEqual([null, null, null])
    expect(nodeProblem({ version: '2.15.0', engines: { node: '>=18' } }, '20.19.0')).toBeNull()
    expect(nodeProblem({ version: '4.0.0' }, '20.19.0')).toBeNull()
  })
})
