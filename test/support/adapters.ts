/** Runs the same tests through every adapter: in-process, over HTTP, msw 2 and 3, and the interceptors. */
import * as msw2 from 'msw'
import { setupServer as setup2 } from 'msw/node'
import * as msw3 from 'msw3'
import { setupServer as setup3 } from 'msw3/node'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import type { PlatformSimulatorOptions } from '../../src/platform/simulator/platform-options.ts'
import { createPlatformSimulator, type PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { startServer } from '../../src/server/start.ts'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'
import { createHandlers } from '../../src/testing/msw-handlers.ts'

export interface Adapter {
  readonly name: string
  create(options: PlatformSimulatorOptions): Promise<PlatformSimulator>
  /** Sends a request to a path of the platform. */
  send(sim: PlatformSimulator, path: string, init?: RequestInit): Promise<Response>
  /** The error of `fetch` when a fault drops the answer: its message, and its code where the client exposes one. */
  lostError?(code: string): [message: string, code: string | undefined]
  /** Called before the first test. */
  open?(): void
  /** Called after the last test. */
  close?(): void
}

export const inProcess: Adapter = {
  name: 'in-process',
  create: async options => createPlatformSimulator(options),
  send: (sim, path, init) => sim.fetch(new Request(sim.baseUrl + path, init)),
}

const byFetch: Adapter['send'] = (sim, path, init) => fetch(sim.baseUrl + path, { redirect: 'manual', ...init })

/** A real server on a free port, with a virtual clock. */
const overHttp: Adapter = {
  name: 'over HTTP',
  create: options => startServer({ clock: 'virtual', ...options, port: 0 }),
  send: byFetch,
}

/** Counts base URLs: simulators that share an adapter need different ones. */
let addresses = 0
const atOwnAddress = (options: PlatformSimulatorOptions): PlatformSimulator =>
  createPlatformSimulator({ baseUrl: `https://bot-${++addresses}.example.test`, ...options })

interface MswServer<Handler> {
  use(...handlers: Handler[]): void
  resetHandlers(): void
  close(): void
}

function mswAdapter<Handler>(
  name: string,
  lostMessage: string,
  listen: () => MswServer<Handler>,
  handlers: (sim: PlatformSimulator) => Handler[],
): Adapter {
  let server: MswServer<Handler>
  return {
    name,
    async create(options) {
      const sim = atOwnAddress(options)
      server.use(...handlers(sim))
      // Each request tries all handlers, so those of earlier tests would make every test slower.
      onTestFinished(() => server.resetHandlers())
      return sim
    },
    send: byFetch,
    lostError: () => [lostMessage, undefined],
    open: () => {
      server = listen()
    },
    close: () => server.close(),
  }
}

const throughMsw2 = mswAdapter(
  'msw 2',
  'Failed to fetch',
  () => {
    const server = setup2()
    server.listen({ onUnhandledRequest: 'error' })
    return server
  },
  sim => createHandlers<msw2.HttpHandler>(msw2.http, sim),
)

const throughMsw3 = mswAdapter(
  'msw 3',
  'fetch failed',
  () => {
    const server = setup3()
    server.listen({ onUnhandledFrame: 'error' })
    return server
  },
  sim => createHandlers<msw3.HttpHandler>(msw3.http, sim),
)

const throughInterceptors: Adapter = {
  name: 'interceptors',
  async create(options) {
    const sim = atOwnAddress(options)
    const interception = intercept(sim)
    onTestFinished(() => interception.stop())
    return sim
  },
  send: byFetch,
}

const ADAPTERS: readonly Adapter[] = [inProcess, overHttp, throughMsw2, throughMsw3, throughInterceptors]

/** Defines the tests of `body` once per adapter. */
export function describeAdapters(name: string, body: (adapter: Adapter) => void): void {
  for (const adapter of ADAPTERS)
    describe(`${name} (${adapter.name})`, () => {
      if (adapter.open !== undefined) beforeAll(adapter.open)
      if (adapter.close !== undefined) afterAll(adapter.close)
      body(adapter)
    })
}
