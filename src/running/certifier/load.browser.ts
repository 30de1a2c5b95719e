/** In browsers no server runs, and the checks are not part of the bundle. */
import type { ReadinessReport } from '../../server/control/readiness.ts'

export class LazyReadiness {
  readonly load = undefined
}

export async function reportOfTraffic(): Promise<ReadinessReport> {
  throw new Error('readiness() needs Node: call it in a test that runs there.')
}
