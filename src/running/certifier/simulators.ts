/** Opens the simulators of checks: behind one port, or in this process for an intermediary that is a function. */

import { httpTransport } from '../../base/runtime/http-transport.ts'
import type { PlatformSimulatorOptions } from '../../platform/simulator/options.ts'
import { configure, effectiveConfig } from '../../platform/simulator/settings.ts'
import { coreOf, createPlatformSimulator, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { PlatformServerOptions } from '../../server/start.ts'
import type { SimulatorRouter } from '../runner/simulator-router.ts'
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

/** Of one check. All journals stay in memory until the certificate is built, also those that a flood of calls fills. */
const JOURNAL_LIMIT = 20_000
const MEMORY_LIMIT = 16 * 1_048_576

export function createServedSimulators({ router, base, target }: ServedOptions): ServedSimulators {
  const transport = httpTransport()
  const { secrets } = coreOf(router.server)
  const optionsFor = (knobs: Rotation, seed: number): PlatformSimulatorOptions => ({
    ...base,
    seed,
    baseUrl: router.server.baseUrl,
    webhook: { url: target },
    // A certification does not depend on the time of day.
    businessHours: null,
    knobs: { ...base.knobs, 'availability.initial': 'OPEN', ...knobs },
    journalLimit: JOURNAL_LIMIT,
    memoryLimit: MEMORY_LIMIT,
  })
  return {
    async open(knobs, seed) {
      const sim = createPlatformSimulator(optionsFor(knobs, seed), transport, undefined, secrets)
      router.attach(sim)
      const release = () => {
        endFaults(sim)
        router.detach(sim)
      }
      return { sim, isOwn: true, chatOpened: id => router.addChat(sim, id), release }
    },
    close: () => transport.close(),
  }
}

/** Resets the simulator for each check, and restores its settings and its seed afterwards: one check at a time. */
export async function openOn(sim: PlatformSimulator, knobs: Rotation, seed: number): Promise<CheckSimulator> {
  const core = coreOf(sim)
  const before = { seed: core.identity.seed, config: effectiveConfig(core) }
  core.identity.seed = seed
  sim.reset()
  await configure(core, knobs, 'user')
  return {
    sim,
    isOwn: false,
    chatOpened: () => {},
    async release() {
      endFaults(sim)
      // The earlier values of the settings that the check, or its definition, has changed.
      const after = effectiveConfig(core)
      const changed: Record<string, unknown> = {}
      for (const [name, value] of Object.entries(before.config))
        if (name !== 'seed' && JSON.stringify(value) !== JSON.stringify(after[name])) changed[name] = value
      await configure(core, changed, 'user')
      core.identity.seed = before.seed
    },
  }
}

/** Answers the delayed calls now, because the intermediary may share connections or a queue between chats. */
function endFaults(sim: PlatformSimulator): void {
  const { faults, work } = coreOf(sim)
  faults.clear()
  work.epoch.endDelays()
}
