/** `handover-sim/certify`: runs the checks of `handover-sim certify` in a test. */

import type { Duration } from '../base/text/quantities.ts'
import { certificateText } from '../pages/reporters/pretty-certificate.ts'
import type { ColorLevel } from '../pages/reporters/theme.ts'
import { invalidOption } from '../platform/simulator/options.ts'
import { coreOf, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import type { Driver } from '../running/agent-driver/driver.ts'
import { CAPABILITIES, type Capability } from '../running/certifier/capabilities.ts'
import type { Certificate, CertificateCause, CertificateLevel } from '../running/certifier/certificate.ts'
import { certifyTarget } from '../running/certifier/certify.ts'
import { PROFILES, type Profile } from '../running/certifier/check.ts'
import { CHECKS } from '../running/certifier/checks/index.ts'
import { createLimits } from '../running/certifier/context.ts'
import { type CheckReport, describeCertificate } from '../running/certifier/report.ts'
import { rotationTiers } from '../running/certifier/rotation.ts'
import type { CheckEnvironment } from '../running/certifier/run-check.ts'
import { selectChecks, UnknownCheckError } from '../running/certifier/select.ts'
import { openOn } from '../running/certifier/simulators.ts'
import { type AgentFunctions, driverOption } from './agent.ts'
import { durationMs } from './options.ts'

export {
  type Exploration,
  ExplorationFailedError,
  type ExploredFailure,
  type ExploreOptions,
  explore,
} from './explore.ts'

/** What a check is: its id, `SIG-07`, and the highest level of its findings. */
export type CertificationCheck = Pick<CheckReport, 'id' | 'title' | 'level' | 'profile'>

/** All checks, in the order of reports: for one test per check. */
export const certificationChecks: readonly CertificationCheck[] = CHECKS.map(({ id, title, level, profile }) => ({
  id,
  title,
  level,
  profile,
}))

/** Options of `certify`. */
export interface CertifyOptions {
  /** The human agent's side: functions, or a driver file. Default: `agent` of the simulator. */
  readonly driver?: AgentFunctions | Driver | string | null
  /** Default: all with a driver, otherwise `webhook`. */
  readonly profiles?: readonly Profile[]
  /** Ids or beginnings of ids, such as `SIG-07` or `SIG`. */
  readonly only?: readonly string[]
  readonly skip?: readonly string[]
  /** Default: the seed of the simulator. */
  readonly seed?: number
  /** Whether behaviours that the platform leaves open are varied. Default: true. */
  readonly rotateUnspecified?: boolean
  /** What the intermediary or its help desk does not have: `{ attachments: false }`. */
  readonly capabilities?: Readonly<Partial<Record<Capability, boolean>>>
  /** How long nothing may happen after an event that must have no effect. Default: 200 ms. */
  readonly observe?: Duration
  /** How long an effect of an event or of the agent may take. Default: 2 s. */
  readonly within?: Duration
  /** How long an acknowledgement may take. Default: 5 s. */
  readonly ackLimit?: Duration
  /** Treats warnings as failures. */
  readonly strict?: boolean
  /** Ends the run. */
  readonly signal?: AbortSignal
}

/** The result of one check. `reason`: why it could not be observed, or does not apply; null otherwise. */
export type CertifiedCheck = CertificationCheck &
  Pick<
    CheckReport,
    'outcome' | 'findings' | 'reason' | 'blockedBy' | 'measurements' | 'rotated' | 'durationMs' | 'journal'
  >

/** The result of `certify`. */
export interface Certification {
  /** The highest level that is reached; null for none. */
  readonly level: CertificateLevel | null
  readonly checks: readonly CertifiedCheck[]
  /** What failed checks show, and which others could not judge because of it. */
  readonly causes: readonly CertificateCause[]
  /** Renders the report that `handover-sim certify` prints. */
  report(options?: { readonly colorLevel?: ColorLevel; readonly columns?: number }): string
  /** Throws `CertificationFailedError` with the report when a MUST failed or could not be observed; with `strict`, also a SHOULD. */
  assertPassed(): void
}

/** At least one check did not pass. The message is the report. */
export class CertificationFailedError extends Error {
  override readonly name = 'CertificationFailed'
}

/**
 * Runs checks against the webhook of a simulator, one after the other. It resets the simulator before each, and restores
 * its settings afterwards. Checks of the connection do not apply to a webhook that is a function.
 *
 * @throws InvalidOptionError for an unknown check.
 * @example
 * import { createSimulator } from 'handover-sim'
 * import { certify } from 'handover-sim/certify'
 *
 * const sim = createSimulator({ webhook: { fetch: () => new Response('', { status: 401 }) } })
 * const certification = await certify(sim, { only: ['SIG-02'] })
 * console.log(certification.checks[0]?.outcome)
 */
export async function certify(sim: PlatformSimulator, options: CertifyOptions = {}): Promise<Certification> {
  const { driver, close } = await driverOption(sim, options)
  const profiles = options.profiles ?? (driver === null ? ['webhook'] : PROFILES)
  const core = coreOf(sim)
  try {
    const certificate = await certifyTarget({
      checks: selectedChecks(options, profiles),
      profiles,
      environment: createEnvironment(sim, driver, options),
      target: core.address.webhookUrl ?? 'a function',
      jobs: 1,
      bail: null,
      strict: options.strict ?? false,
      expected: [],
      listener: { planned: () => {}, started: () => {}, finished: () => {} },
    })
    return createCertification(core.secrets.redactDeep(certificate))
  } finally {
    await close()
  }
}

function selectedChecks({ only = [], skip = [] }: CertifyOptions, profiles: readonly Profile[]) {
  try {
    return selectChecks({ only, skip }, profiles)
  } catch (error) {
    throw error instanceof UnknownCheckError ? invalidOption('only', error.message) : error
  }
}

const OBSERVE_MS = 200
const WITHIN_MS = 2_000

function createEnvironment(sim: PlatformSimulator, driver: Driver | null, options: CertifyOptions): CheckEnvironment {
  const { seed, rotateUnspecified: rotates = true, capabilities = {}, signal } = options
  const core = coreOf(sim)
  return {
    open: (knobs, playSeed) => openOn(sim, knobs, playSeed),
    driver,
    missing: new Set(CAPABILITIES.filter(name => capabilities[name] === false)),
    limits: createLimits({
      ackMs: durationMs('ackLimit', options.ackLimit) ?? undefined,
      quietMs: durationMs('observe', options.observe) ?? OBSERVE_MS,
      effectMs: durationMs('within', options.within) ?? WITHIN_MS,
    }),
    seed: seed ?? core.identity.seed,
    rotates,
    tiers: rotationTiers(core.evidence, core.platform.knobs),
    hasWire: core.hasConnection,
    url: sim.baseUrl,
    signal: signal ?? new AbortController().signal,
  }
}

function createCertification(certificate: Certificate): Certification {
  const { seed } = certificate
  const described = describeCertificate(certificate, id => `certify(sim, { only: ['${id}'], seed: ${seed} })`)
  const report: Certification['report'] = ({ colorLevel = 0, columns } = {}) =>
    certificateText(described, { colorLevel, columns })
  function assertPassed(): void {
    const isApplicable = certificate.checks.some(({ outcome }) => outcome !== 'not_applicable')
    if (certificate.exitCode === 0 || !isApplicable) return
    const error = new CertificationFailedError(report())
    Error.captureStackTrace?.(error, assertPassed)
    throw error
  }
  const { level, causes } = certificate
  return { level, checks: described.checks, causes, report, assertPassed }
}
