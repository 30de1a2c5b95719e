/** Certifies an intermediary (`handover-sim certify`). */

import { freshSeed } from '../base/runtime/node.ts'
import type { Redacted } from '../base/text/redactor.ts'
import { checkCause } from '../pages/reporters/findings.ts'
import { createProgress } from '../pages/reporters/progress.ts'
import {
  CERTIFICATE_REPORTS,
  type CertificateReportName,
  parseReports,
  type ReportRequest,
} from '../pages/reporters/report-option.ts'
import { knobsFrom } from '../platform/simulator/options.ts'
import { loadMissingCapabilities } from '../running/certifier/capabilities.ts'
import { certifyTarget } from '../running/certifier/certify.ts'
import { PROFILES, type Profile } from '../running/certifier/check.ts'
import { createLimits } from '../running/certifier/context.ts'
import { loadExpectedFailures } from '../running/certifier/expected-failures.ts'
import {
  type CertificateReport,
  describeCertificate,
  describeResult,
  withExitCode,
} from '../running/certifier/report.ts'
import { rotationTiers } from '../running/certifier/rotation.ts'
import { createServedSimulators } from '../running/certifier/simulators.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import {
  configSources,
  countFrom,
  defineCommand,
  durationFrom,
  type FlagsOf,
  SETTING_FLAGS,
  waitFrom,
} from './command.ts'
import { type Context, colorLevel, EnvironmentError, UsageError } from './io.ts'
import { checksDryRun, explainCheck, listChecks, planChecks } from './list-checks.ts'
import { attach, createCheckRerun, runInterruptibly, whyUnreachable } from './run-target.ts'
import {
  exitCodeWith,
  progressOptions,
  type Render,
  type ReportContext,
  renderModel,
  writeRequested,
} from './write-reports.ts'

const FLAGS = {
  '--target <url>': 'the webhook of the intermediary (default: webhook.url of the config file)',
  '--agent-driver <file>': 'agent driver file; without it, only the profile webhook is checked',
  '--profile <profiles>': 'webhook, flow, resilience; with commas (default: all that the driver allows)',
  '--only <id>': {
    description: 'checks whose id begins with this, such as SIG-07 or SIG; may be repeated',
    repeatable: true,
  },
  '--skip <id>': { description: 'leave out checks whose id begins with this; may be repeated', repeatable: true },
  '--jobs <number>': 'how many checks run at once (default: 8)',
  '--capabilities <file>': 'what the intermediary does not have, as YAML or JSON; those checks do not apply',
  '--expected-failures <file>': 'checks that are known to fail, as YAML or JSON; they do not fail the run',
  '--bail <number>': 'start no further check after so many have failed',
  '--timeout <duration>': 'stop the run after this long (default: 5m); the report says what was not checked',
  '--ack-limit <duration>': 'how long an acknowledgement may take (default: 5s)',
  '--observe <duration>': 'how long nothing may happen after an event that must have no effect (default: 2s)',
  '--within <duration>': 'how long an effect of an event or of the agent may take (default: 5s)',
  '--strict': 'treat warnings as failures, and inconclusive checks as exit code 4',
  '--no-rotate-unspecified': 'do not vary what the platform leaves open',
  '--report <reports>': {
    description: 'pretty, tap, github, json=F, junit=F, ctrf=F, html=F, markdown=F, badge=F; with commas',
    repeatable: true,
  },
  '--wait-for-target <duration>': 'how long to wait for the intermediary (default: 0s; 30s under CI)',
  '--list': 'print the checks: what each sends, observes and demands; checks nothing',
  '--json': 'with --list: one line of JSON for each check',
  '--dry-run': 'print which checks would run; checks nothing',
  '--explain <id>': 'print the help page of a check: what it means, and how to fix what it finds',
  '--self-test': 'certify the built-in reference intermediary',
  '--allow-remote': 'the target may be on another machine',
  ...SETTING_FLAGS,
  '--webhook-url <url>': { description: 'alias of --target', hidden: true },
  '--seed <number>': 'same seed: same ids, texts and variations (default: a fresh one, named in the report)',
} as const

const DEFAULT_TIMEOUT_MS = 300_000

export const certifyCommand = defineCommand({
  flags: FLAGS,
  groups: {
    'Most used': ['target', 'agentDriver', 'profile', 'only', 'explain', 'report', 'selfTest'],
    'Which checks': ['skip', 'capabilities', 'expectedFailures', 'list', 'json', 'dryRun'],
    'How they run': [
      ...(['jobs', 'bail', 'timeout', 'ackLimit', 'observe', 'within', 'strict', 'waitForTarget'] as const),
      ...(['seed', 'rotateUnspecified', 'allowRemote'] as const),
    ],
  },
  examples: {
    'certify --target http://127.0.0.1:3000/webhook --only SIG': 'does your service verify signatures?',
    'certify --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --profile webhook --report pretty,html=certificate.html':
      'everything about the webhook, with a report',
    'certify --explain SIG-07': 'what a check means, and how to fix what it found',
  },
  async run(context, flags) {
    const { io, env, secrets } = context
    if (flags.explain !== undefined) {
      io.stdout.write(explainCheck(flags.explain, context))
      return 0
    }
    const options = parseFlags(flags, context)
    const requests = parseReports((flags.report ?? []).join(','), CERTIFICATE_REPORTS, env)
    const resolved = await resolveSettings(flags, configSources(context))
    for (const warning of resolved.warnings) io.stderr.write(`${warning}\n`)
    const hasDriver = flags.selfTest === true || (flags.agentDriver ?? resolved.agentDriver) !== null
    const selection = planChecks(options, hasDriver || flags.list === true)
    if (flags.list) {
      io.stdout.write(listChecks(selection.checks, flags.json ?? false, context))
      return 0
    }
    const { expectedFailures, capabilities } = flags
    const expected = expectedFailures === undefined ? [] : loadExpectedFailures(expectedFailures, io.cwd)
    const missing = capabilities === undefined ? [] : loadMissingCapabilities(capabilities, io.cwd)
    if (flags.dryRun) {
      io.stdout.write(checksDryRun(selection))
      return 0
    }

    const settings = { context, flags, resolved }
    return runInterruptibly(settings, options.timeoutMs, async ({ router, shutdown, signal, withSignalCode }) => {
      const attached = await attach({ ...settings, storesChats: true, router, shutdown, signal })
      const { target, driver } = attached
      const why = await whyUnreachable(target, options.waitMs, signal)
      if (why !== null) throw new EnvironmentError(`${why}.`)

      const simulators = createServedSimulators({ router, base: resolved.options, target: target.href })
      shutdown.defer(() => simulators.close())
      const progress = createProgress(progressOptions(context, requests))
      const seed = resolved.sources.seed === 'default' ? freshSeed() : Number(resolved.values.seed)
      const certificate = await certifyTarget({
        ...selection,
        environment: {
          open: simulators.open,
          driver,
          seed,
          url: router.server.url,
          signal,
          missing: new Set(missing),
          limits: options.limits,
          rotates: flags.rotateUnspecified ?? true,
          tiers: rotationTiers(resolved.options.evidence, knobsFrom(resolved.options.knobs ?? {})),
          hasWire: true,
        },
        target: target.href,
        jobs: options.jobs,
        bail: options.bail,
        strict: flags.strict ?? false,
        expected,
        listener: {
          planned: progress.planned,
          started: ({ id }) => progress.started(id),
          finished(result) {
            const { id, title, outcome, durationMs, ...rest } = describeResult(secrets.redactDeep(result))
            progress.finished({ name: id, title: `${id} ${title}`, outcome, durationMs, cause: checkCause(rest) })
          },
        },
      }).finally(progress.stop)

      const ended = withSignalCode(certificate)
      const described = secrets.redactDeep(
        describeCertificate(secrets.redactDeep(ended), createCheckRerun(flags, seed)),
      )
      const reportContext = { io, env, colorLevel: colorLevel(env, io.stdout.isTTY) }
      return exitCodeWith(ended.exitCode, await writeCertificate(described, requests, reportContext))
    })
  },
})

function parseFlags(flags: FlagsOf<typeof FLAGS>, { env }: Context) {
  if (flags.json && !flags.list) throw new UsageError('--json goes with --list. The report as JSON: --report json.')
  /** Null: all that the driver allows. */
  let profiles: readonly Profile[] | null = null
  if (flags.profile !== undefined) {
    const names = flags.profile.split(',').map(name => name.trim())
    const unknown = names.find(name => !PROFILES.some(profile => profile === name))
    if (unknown !== undefined)
      throw new UsageError(
        `--profile must be ${PROFILES.join(', ')}, or several with commas, got ${JSON.stringify(unknown)}.`,
      )
    profiles = PROFILES.filter(profile => names.includes(profile))
  }
  return {
    profiles,
    only: flags.only ?? [],
    skip: flags.skip ?? [],
    jobs: countFrom('--jobs', flags.jobs) ?? 8,
    bail: countFrom('--bail', flags.bail) ?? null,
    timeoutMs: durationFrom('--timeout', flags.timeout, '10m') ?? DEFAULT_TIMEOUT_MS,
    limits: createLimits({
      ackMs: durationFrom('--ack-limit', flags.ackLimit, '5s'),
      effectMs: durationFrom('--within', flags.within, '5s'),
      quietMs: durationFrom('--observe', flags.observe, '5s'),
    }),
    waitMs: waitFrom(flags.waitForTarget, env),
  }
}

/** Resolves with the problems. Renderers are loaded when they are needed. */
function writeCertificate(
  certificate: Redacted<CertificateReport>,
  requests: readonly ReportRequest<CertificateReportName>[],
  context: ReportContext,
): Promise<string[]> {
  const render: Render<ReportRequest<CertificateReportName>> = async ({ report }, exitCode, options) => {
    const ended = withExitCode(certificate, exitCode)
    switch (report) {
      case 'pretty':
        return [(await import('../pages/reporters/pretty-certificate.ts')).certificateText(ended, options)]
      case 'json':
        return [(await import('../pages/reporters/json.ts')).certificateJson(ended)]
      case 'html':
        return [(await import('../pages/web/report/certificate.tsx')).htmlCertificate(ended)]
      case 'badge':
        return [(await import('../pages/reporters/badge.ts')).certificateBadge(ended)]
    }
    const { reportOfCertificate } = await import('../pages/reporters/report-model.ts')
    return renderModel(report, reportOfCertificate(ended))
  }
  return writeRequested(requests, certificate.exitCode, render, context)
}
