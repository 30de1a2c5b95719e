/** Loads the readiness when it is used first, so that a server starts without the checks. */

import type { ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { LoadReadiness, Readiness, ReadinessReport } from '../../server/control/readiness.ts'
import type { Driver } from '../agent-driver/driver.ts'

const MAX_PLAYS = 256

interface LazyOptions {
  /** How many `POST /_sim/plays` may run at once. */
  readonly mostPlays?: number | undefined
  /** Receives the result of each run of `POST /_sim/plays`. */
  readonly onPlayed?: ((result: ScenarioResult) => void) | undefined
}

/** The readiness of a server. */
export class LazyReadiness {
  readonly #loadDriver: () => (() => Promise<Driver>) | null
  readonly #options: LazyOptions
  #loaded: Readiness | null = null

  /** `loadDriver` returns null without an agent driver. */
  constructor(loadDriver: () => (() => Promise<Driver>) | null, options: LazyOptions = {}) {
    this.#loadDriver = loadDriver
    this.#options = options
  }

  readonly load: LoadReadiness = async server => {
    const { createReadiness } = await import('./readiness.ts')
    const { mostPlays = MAX_PLAYS, onPlayed } = this.#options
    this.#loaded = await createReadiness(server, { loadDriver: this.#loadDriver(), mostPlays, onPlayed })
    return this.#loaded
  }

  /** With the trials, when the readiness was used; otherwise from the journal alone. */
  async report(sim: PlatformSimulator): Promise<ReadinessReport> {
    return this.#loaded?.report() ?? reportOfTraffic(sim)
  }
}

/** What the traffic in the journal of a simulator shows. */
export async function reportOfTraffic(sim: PlatformSimulator): Promise<ReadinessReport> {
  const { readinessOfTraffic, TrafficReadiness } = await import('./traffic-readiness.ts')
  return readinessOfTraffic(sim, new TrafficReadiness(sim))
}
