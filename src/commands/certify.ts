/** Certifies an intermediary (`handover-sim certify`). */

import { freshSeed } from '../base/runtime/node.ts'
import { withoutCredentials } from '../base/text/redactor.ts'
import { checkCause } from '../pages/reporters/findings.ts'
import { createProgress } from '../pages/reporters/progress.ts'
import {
  CERTIFICATE_REPORTS,
  type CertificateReportName,
  parseReports,
  type ReportRequest,
} from '../pages/reporters/report-option.ts'
import { failureText } from '../platform/wording/failures.ts'
import { type Capability, loadMissingCapabilities } from '../running/certifier/capabilities.ts'
import type { Certificate } from '../running/certifier/certificate.ts'
import { type CertifyListener, certifyTarget } from '../running/certifier/certify.ts'
import { type ExpectedFailure, loadExpectedFailures } from '../running/certifier/expected-failures.ts'
import { describeCertificate, describeResult } from '../running/certifier/report.ts'
import { createServedSimulators } from '../running/certifier/simulators.ts'
import { probeTarget } from '../running/runner/probe-target.ts'
import { createSimulatorRouter, type SimulatorRouter } from '../running/runner/simulator-router.ts'
import { type Resolved, resolveSettings } from '../server/config/resolve.ts'
import { CERTIFY_FLAGS, type CertifyFlags, type CertifyRunOptions, parseCertifyFlags } from './certify-flags.ts'
import { configSources, defineCommand } from './command.ts'
import { listenForInterruption } from './interruption.ts'
import {
  type Context,
  colorLevel,
  columnsOf,
  createShutdown,
  EnvironmentError,
  type Shutdown,
  SIGNAL_CODES,
} from './io.ts'
import { type CheckPlan, checksDryRun, explainCheck, listChecks, planChecks } from './list-checks.ts'
import { createCheckRerun } from './rerun-command.ts'
import { attach } from './run-target.ts'
import { writeCertificate } from './write-certificate.ts'
import { exitCodeOf } from './write-requested.ts'

export const certifyCommand = defineCommand({
  flags: CERTIFY_FLAGS,
  async run(context, flags) {
    if (flags.explain !== undefined) return print(context, explainCheck(flags.explain, context))
    const options = parseCertifyFlags(flags, context)
    const reports = parseReports((flags.report ?? []).join(','), CERTIFICATE_REPORTS, context.env)
    const resolved = await resolveSettings(flags, configSources(context))
    const hasDriver = flags.selfTest === true || (flags.agentDriver ?? resolved.agentDriver) !== null
    const selection = planChecks(options, hasDriver || flags.list === true)
    if (flags.list) return print(context, listChecks(selection.checks, flags.json ?? false, context))
    const { expectedFailures, capabilities } = flags
    const { io } = context
    const files: Files = {
      expected: expectedFailures === undefined ? [] : loadExpectedFailures(expectedFailures, io.cwd),
      missing: capabilities === undefined ? [] : loadMissingCapabilities(capabilities, io.cwd),
    }

    if (flags.dryRun) return print(context, checksDryRun(selection))
    return certifyAndReport({ context, flags, options, resolved, selection, ...files }, reports)
  },
})

function print({ io }: Context, text: string): number {
  io.stdout.write(text)
  return 0
}

interface Files {
  readonly expected: readonly ExpectedFailure[]
  readonly missing: readonly Capability[]
}

interface Session extends Files {
  readonly context: Context
  readonly flags: CertifyFlags
  readonly options: CertifyRunOptions
  readonly resolved: Resolved
  readonly selection: CheckPlan
}

type Reports = readonly ReportRequest<CertificateReportName>[]

async function certifyAndReport(session: Session, reports: Reports): Promise<number> {
  const { context, flags, options, resolved } = session
  const shutdown = createShutdown(context.io)
  const interruption = listenForInterruption(shutdown, options.timeoutMs)
  try {
    const serverOptions = { ...resolved.options, ...(flags.selfTest ? { port: 0 } : {}) }
    const router = await createSimulatorRouter(serverOptions, context.secrets)
    shutdown.defer(() => router.close())
    const certificate = await certifyOn(session, router, shutdown, interruption.signal)
    const by = interruption.by()
    return await report(by === null ? certificate : { ...certificate, exitCode: SIGNAL_CODES[by] }, reports, session)
  } catch (error) {
    const by = interruption.by()
    if (by === null || !(error instanceof EnvironmentError)) throw error
    context.io.stderr.write(`${error.message}\n`)
    return SIGNAL_CODES[by]
  } finally {
    await shutdown.run()
  }
}

/** Resolves with the exit code of the command. */
async function report(certificate: Certificate, reports: Reports, { context, flags }: Session): Promise<number> {
  const { io, env, secrets } = context
  const described = describeCertificate(certificate, createCheckRerun(flags, certificate.seed))
  const problems = await writeCertificate(secrets.redactDeep(described), reports, {
    io,
    env,
    colorLevel: colorLevel(env, io.stdout.isTTY),
  })
  return exitCodeOf(certificate, problems)
}

async function certifyOn(session: Session, router: SimulatorRouter, shutdown: Shutdown, signal: AbortSignal) {
  const { context, flags, options, resolved } = session
  const { target, driver } = await attach({ context, flags, resolved, storesChats: true, router, shutdown, signal })
  const failure = await probeTarget(target, options.waitMs, signal)
  if (failure !== null) {
    const why = `the target ${withoutCredentials(target.href)} is not reachable: ${failureText(failure)}`
    throw new EnvironmentError(`${why}; start it first, or wait for it with --wait-for-target 30s.`)
  }
  const seed = resolved.sources.seed === 'default' ? freshSeed() : Number(resolved.values.seed)
  const simulators = createServedSimulators({ router, base: resolved.options, target: target.href })
  shutdown.defer(() => simulators.close())
  const environment = { open: simulators.open, driver, seed, url: router.server.url, signal, ...varied(session) }
  return withProgress(session, listener =>
    certifyTarget({
      ...session.selection,
      environment,
      target: target.href,
      jobs: options.jobs,
      bail: options.bail,
      strict: flags.strict ?? false,
      expected: session.expected,
      listener,
    }),
  )
}

/** What flags change in every check. */
const varied = ({ flags, options, missing }: Session) => ({
  missing: new Set(missing),
  limits: options.limits,
  rotates: flags.rotateUnspecified ?? true,
  hasWire: true,
})

async function withProgress<Result>(
  { context }: Session,
  run: (listener: CertifyListener) => Promise<Result>,
): Promise<Result> {
  const { io, env } = context
  const { isTTY } = io.stderr
  const layout = { colorLevel: colorLevel(env, isTTY), columns: columnsOf(env, io.stderr) }
  const progress = createProgress({ output: io.stderr, isTTY, ...layout })
  try {
    return await run({
      planned: progress.planned,
      started: ({ id }) => progress.started(id),
      finished(result) {
        const { id, title, outcome, durationMs, ...rest } = describeResult(result)
        progress.finished({ name: id, title: `${id} ${title}`, outcome, durationMs, cause: checkCause(rest) })
      },
    })
  } finally {
    progress.stop()
  }
}
