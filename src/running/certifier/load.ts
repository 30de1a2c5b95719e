/** Loads the readiness when it is used first, so that a server starts without the checks. */
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { LoadReadiness, Readiness, ReadinessReport } from '../../server/control/readiness.ts'
import type { Driver } from '../agent-driver/driver.ts'

const MOST_PLAYS = 256

/** The readiness of a server. */
export class LazyReadiness {
  readonly #loadDriver: () => (() => Promise<Driver>) | null
  readonly #mostPlays: number
  #loaded: Readiness | null = null

  /** `loadDriver` returns null without an agent driver. `mostPlays`: how many `POST /_sim/plays` may run at once. */
  constructor(loadDriver: () => (() => Promise<Driver>) | null, mostPlays = MOST_PLAYS) {
    this.#loadDriver = loadDriver
    this.#mostPlays = mostPlays
  }

  readonly load: LoadReadiness = async server => {
    const { createReadiness } = await import('./readiness.ts')
    this.#loaded = await createReadiness(server, { loadDriver: this.#loadDriver(), mostPlays: this.#mostPlays })
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
