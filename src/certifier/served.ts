/** Opens the simulators of checks behind one port, for an intermediary that calls it over HTTP. */
import type { SimulatorRouter } from '../runner/simulator-router.ts'
import { httpTransport } from '../runtime/transport.ts'
import type { PlatformServerOptions } from '../server/start.ts'
import type { PlatformSimulatorOptions } from '../simulator/platform-options.ts'
import { coreOf, createPlatformSimulator } from '../simulator/simulator.ts'
import type { Rotation } from './rotation.ts'
import type { CheckSimulator } from './run-check.ts'

export interface ServedOptions {
  readonly router: SimulatorRouter
  /** The options of every simulator. */
  readonly base: PlatformServerOptions
  readonly target: string
}

export interface ServedSimulators {
  open(knobs: Rotation, seed: number): Promise<CheckSimulator>
  close(): Promise<void>
}

/** The certificate shows the whole journal of a check. */
const JOURNAL_LIMIT = 200_000

export function createServedSimulators({ router, base, target }: ServedOptions): ServedSimulators {
  const transport = httpTransport()
  const { secrets } = coreOf(router.server)
  const optionsFor = (knobs: Rotation, seed: number): PlatformSimulatorOptions => ({
    ...base,
    seed,
    baseUrl: router.server.baseUrl,
    webhook: { url: target },
    knobs: { ...base.knobs, ...knobs },
    journalLimit: JOURNAL_LIMIT,
  })
  return {
    async open(knobs, seed) {
      const sim = createPlatformSimulator(optionsFor(knobs, seed), transport, undefined, secrets)
      router.attach(sim)
      return { sim, chatOpened: id => router.addChat(sim, id), release: () => router.detach(sim) }
    },
    close: () => transport.close(),
  }
}
