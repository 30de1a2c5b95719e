/** Loads the readiness when it is used first, so that a server starts without the checks. */
import type { LoadReadiness } from '../../server/control/readiness.ts'
import type { Driver } from '../agent-driver/driver.ts'

/** `loadDriver` returns null without an agent driver. */
export const readinessLoader =
  (loadDriver: () => (() => Promise<Driver>) | null): LoadReadiness =>
  async server =>
    (await import('./readiness.ts')).createReadiness(server, loadDriver())
