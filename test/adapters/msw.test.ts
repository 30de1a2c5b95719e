import * as msw2 from 'msw'
import { setupServer as setup2 } from 'msw/node'
import * as msw3 from 'msw3'
import { setupServer as setup3 } from 'msw3/node'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createPlatformSimulator, type PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { handlers } from '../../src/testing/msw.ts'
import { createHandlers, nodeProblem } from '../../src/testing/msw-handlers.ts'
import { startWebhook } from '../support/network.ts'
import { CLIENTS, sendMessage, withFetch } from './clients.ts'
import { callsOf } from './elsewhere.ts'

type Server = { use(handler: unknown): void } & Record<'close' | 'resetHandlers', () => void>

function listenWith2(simulators: readonly PlatformSimulator[]): Server {
  const server = setup2(...simulators.flatMap(sim => createHandlers<msw2.HttpHandler>(msw2.http, sim)))
  server.listen({ onUnhandledRequest: 'error' })
  return server as Server
}

function listenWith3(simulators: readonly PlatformSimulator[]): Server {
  const server = setup3(...simulators.flatMap(sim => createHandlers<msw3.HttpHandler>(msw3.http, sim)))
  server.listen({ onUnhandledFrame: 'error' })
  return server as Server
}

const realFetch = globalThis.fetch
afterAll(() => expect(globalThis.fetch).toBe(realFetch))

describe.each([
  ['msw 2', msw2.http, listenWith2],
  ['msw 3', msw3.http, listenWith3],
])('%s', (_, http, listen) => {
  const listening = (...simulators: PlatformSimulator[]) => {
    const server = listen(simulators)
    onTestFinished(() => server.close())
    return server
  }

  it.each(['https://bot.example.test', 'https://bot.example.test/base/', 'http://127.0.0.1:8099/a.b'])(
    'answers everything under %s, unknown paths included, and reports a lost response as a network error',
    async baseUrl => {
      const sim = createPlatformSimulator({ baseUrl })
      const other = createPlatformSimulator({ baseUrl: 'https://other.example.test' })
      listening(sim, other)
      const chat = await sim.chat()
      for (const send of [withFetch, CLIENTS.axios!, CLIENTS.got!]) {
        expect(await sendMessage(send, sim, chat.id, 'Hei 👋')).toMatchObject({ status: 200 })
        expect(chat.transcript.at(-1)).toMatchObject({ from: 'agent', text: 'Hei 👋' })
        sim.faults.add({ reset: true, on: 'api', times: 1 })
        await expect(sendMessage(send, sim, chat.id, 'lost')).rejects.toThrow()
      }
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])
        expect((await fetch(`${sim.baseUrl}/none?a=b`, { method })).status, method).toBe(404)
      for (const url of [sim.baseUrl, `${other.baseUrl}/1`]) expect((await fetch(url)).status).toBe(404)
      expect(callsOf(other)).toBe(1)
    },
  )

  it.each(['https://bot.example.test/basement', 'https://botxexample.test/base', 'https://other.example.test/'])(
    'leaves %s to the strategy for unhandled requests',
    async url => {
      const sim = createPlatformSimulator({ baseUrl: 'https://bot.example.test/base' })
      listening(sim)
      const printed = vi.spyOn(console, 'error').mockReturnValue()
      onTestFinished(() => printed.mockRestore())
      await expect(fetch(url)).rejects.toThrow()
      expect(printed.mock.calls.join()).toContain('without a matching request handler')
      expect(callsOf(sim)).toBe(0)
    },
  )

  it('lets a handler of the test override one endpoint, until handlers are reset', async () => {
    const sim = createPlatformSimulator()
    const { use, resetHandlers } = listening(sim)
    const availability = `${sim.baseUrl}/api/v2/handover/availability/`
    use(http.post(availability, () => new Response('short', { status: 418 })))
    const statuses = async () => [
      (await fetch(availability, { method: 'POST' })).status,
      (await sendMessage(withFetch, sim, (await sim.chat()).id, 'Hei')).status,
    ]
    expect(await statuses()).toEqual([418, 200])
    resetHandlers()
    expect(await statuses()).toEqual([401, 200])
  })

  it('does not intercept webhooks', async () => {
    await using webhook = await startWebhook()
    const sim = createPlatformSimulator({ webhook: { url: webhook.url } })
    onTestFinished(() => sim.close())
    listening(sim)
    await (await sim.chat()).press('handover')
    sim.faults.add({ on: { webhook: 'any' }, drip: '20ms' })
    await (await sim.chat()).press('handover')
    expect(sim.deliveries.map(({ status }) => status)).toEqual([200, 200])
  })
})

it.each([undefined, { baseUrl: 'http://x' }])('handlers(%j) is refused', value => {
  expect(() => handlers(value as never)).toThrow('handlers takes a simulator: handlers(createSimulator()).')
})

it.each([
  ['3.0.5', '>=22.12.0', '20.19.0', /^msw 3\.0\.5 needs Node 22\.12\.0 .* this is Node 20\.19\.0\. .*msw@2\.$/],
  ['3.0.5', '>=22.12.0', '22.12.0', null],
  ['2.15.0', '>=18', '20.19.0', null],
  ['4.0.0', undefined, '20.19.0', null],
])('msw %s, which needs Node %s, on Node %s: %s', (version, engine, node, problem) => {
  const manifest = engine === undefined ? { version } : { version, engines: { node: engine } }
  expect(nodeProblem(manifest, node)).toEqual(problem === null ? null : expect.stringMatching(problem))
})
