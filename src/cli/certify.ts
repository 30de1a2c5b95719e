/** Certifies an intermediary (`handover-sim certify`). */
import type { Driver } from '../agent-driver/driver.ts'
import type { Certificate } from '../certifier/certificate.ts'
import { certifyTarget } from '../certifier/certify.ts'
import { type CheckDefinition, PROFILES, type Profile } from '../certifier/check.ts'
import { describeCertificate } from '../certifier/report.ts'
import { selectChecks, UnknownCheckError } from '../certifier/select.ts'
import { createServedSimulators } from '../certifier/simulators.ts'
import { type Resolved, resolveSettings } from '../config/resolve.ts'
import { CHECK_STYLES } from '../reporters/certificate-console.ts'
import { parseReports } from '../reporters/report-option.ts'
import { createSimulatorRouter, type SimulatorRouter } from '../runner/simulator-router.ts'
import { probeTarget } from '../runner/suite.ts'
import { freshSeed } from '../runtime/node.ts'
import { withoutCredentials } from '../text/redactor.ts'
import { failureText } from '../wording/failures.ts'
import { CERTIFY_FLAGS, type CertifyFlags, type CertifyRunOptions, parseCertifyFlags } from './certify-flags.ts'
import { configSources, defineCommand } from './command.ts'
import { listenForInterruption } from './interruption.ts'
import { type Context, createShutdown, EnvironmentError, type Shutdown, UsageError } from './io.ts'
import { attach } from './run-target.ts'
import { writeCertificate } from './write-certificate.ts'

export const certifyCommand = defineCommand({
  flags: CERTIFY_FLAGS,
  async run(context, flags) {
    const options = parseCertifyFlags(flags, context)
    const reports = parseReports((flags.report ?? []).join(','), context.env)
    const resolved = await resolveSettings(flags, configSources(context))
    const checks = checksFor(options, options.profiles ?? PROFILES)
    if (flags.list) {
      context.io.stdout.write(listOf(checks))
      return 0
    }
    const session: Session = { context, flags, options, resolved, checks }
    const certificate = await certify(session)
    await writeCertificate(describeCertificate(certificate), reports, context)
    return certificate.exitCode
  },
})

interface Session {
  readonly context: Context
  readonly flags: CertifyFlags
  readonly options: CertifyRunOptions
  readonly resolved: Resolved
  readonly checks: readonly CheckDefinition[]
}

/** Throws `UsageError`. */
function checksFor(options: CertifyRunOptions, profiles: readonly Profile[]): CheckDefinition[] {
  try {
    return selectChecks(options, profiles)
  } catch (error) {
    throw error instanceof UnknownCheckError ? new UsageError(error.message) : error
  }
}

const listOf = (checks: readonly CheckDefinition[]): string =>
  checks
    .map(({ id, level, profile, rules, texts }) =>
      [
        `${id}  ${texts.title}  [${level}, ${profile}, ${rules.join(' ')}]`,
        `  sends     ${texts.sends}`,
        `  observes  ${texts.observes}`,
        `  passes    ${texts.passes}`,
        '',
      ].join('\n'),
    )
    .join('\n')

async function certify(session: Session): Promise<Certificate> {
  const { context, flags, options, resolved } = session
  const shutdown = createShutdown(context.io)
  const interruption = listenForInterruption(shutdown, options.timeoutMs)
  try {
    const serverOptions = { ...resolved.options, ...(flags.selfTest ? { port: 0 } : {}) }
    const router = await createSimulatorRouter(serverOptions, context.secrets)
    shutdown.defer(() => router.close())
    return await certifyOn(session, router, shutdown, interruption.signal)
  } finally {
    await shutdown.run()
  }
}

async function certifyOn(session: Session, router: SimulatorRouter, shutdown: Shutdown, signal: AbortSignal) {
  const { context, flags, options, resolved, checks } = session
  const { target, driver } = await attach({ context, flags, resolved, storesChats: true, router, shutdown, signal })
  const failure = await probeTarget(target, options.waitMs, signal)
  if (failure !== null) {
    const why = `the target ${withoutCredentials(target.href)} is not reachable: ${failureText(failure)}`
    throw new EnvironmentError(`${why}; start it first, or wait for it with --wait-for-target 30s.`)
  }
  const profiles = options.profiles ?? profilesFor(driver)
  const seed = resolved.sources.seed === 'default' ? freshSeed() : Number(resolved.values.seed)
  const simulators = createServedSimulators({ router, base: resolved.options, target: target.href })
  shutdown.defer(() => simulators.close())
  return certifyTarget({
    checks: checks.filter(({ profile }) => profiles.includes(profile)),
    profiles,
    environment: {
      open: simulators.open,
      driver,
      missing: new Set(),
      limits: options.limits,
      seed,
      rotates: flags.rotateUnspecified ?? true,
      hasWire: true,
      url: router.server.url,
      signal,
    },
    target: target.href,
    jobs: options.jobs,
    bail: options.bail,
    strict: flags.strict ?? false,
    listener: progressOf(context),
  })
}

const profilesFor = (driver: Driver | null): readonly Profile[] => (driver === null ? ['webhook'] : PROFILES)

const progressOf = ({ io }: Context) => ({
  planned: () => {},
  started: () => {},
  finished: ({ check, outcome }: { check: CheckDefinition; outcome: keyof typeof CHECK_STYLES }) =>
    io.stderr.write(`${CHECK_STYLES[outcome].word} ${check.id} ${check.texts.title}\n`),
})
