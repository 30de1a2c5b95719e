/** Runs the tests of the adapters through an installed msw. */
import { onTestFinished } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { PlatformSimulatorOptions } from '../../src/platform/simulator/options.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'

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

export const byFetch: Adapter['send'] = (sim, path, init) => fetch(sim.baseUrl + path, { redirect: 'manual', ...init })

/** Counts base URLs: simulators that share an adapter need different ones. */
let addresses = 0
export const atOwnAddress = (options: PlatformSimulatorOptions): PlatformSimulator =>
  createSimulator({ baseUrl: `https://bot-${++addresses}.example.test`, ...options })

interface MswServer<Handler> {
  use(...handlers: Handler[]): void
  resetHandlers(): void
  close(): void
}

export function mswAdapter<Handler>(
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
