/** Puts an intermediary under load (`handover-sim load`). */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { freshSeed } from '../base/runtime/node.ts'
import { messageOf } from '../base/text/error-text.ts'
import type { Redacted } from '../base/text/redactor.ts'
import { visible } from '../base/text/terminal-text.ts'
import { compile } from '../evaluation/scenario/compile/compile.ts'
import { loadScenarios } from '../evaluation/scenario/load/load.ts'
import type { Plan } from '../evaluation/scenario/plan.ts'
import { loadJson, loadText, reportOfLoad, showLoadProgress } from '../pages/reporters/load-report.ts'
import {
  LOAD_REPORTS,
  type LoadReportName,
  parseReports,
  type ReportRequest,
} from '../pages/reporters/report-option.ts'
import { VERSION } from '../platform/contract/version.ts'
import { parseArrivals } from '../running/load/arrivals.ts'
import { findLimit, type LimitStep, measureOwnLimit, ownLimitAfter } from '../running/load/limits.ts'
import { type LoadRunOptions, runLoad } from '../running/load/load.ts'
import type { LoadReport } from '../running/load/report.ts'
import { Runs } from '../running/load/runs.ts'
import { parseThresholds, type Threshold } from '../running/load/thresholds.ts'
import { unsetVariable } from '../running/runner/results.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import {
  configSources,
  countFrom,
  defineCommand,
  durationFrom,
  type FlagsOf,
  SETTING_FLAGS,
  scenarioSources,
  waitFrom,
} from './command.ts'
import { type Context, canRedraw, colorLevel, EnvironmentError, UsageError } from './io.ts'
import { attach, createRerunCommand, runInterruptibly, whyUnreachable } from './run-target.ts'
import { addSecretsOfPlans } from './secrets.ts'
import { exitCodeWith, type Render, renderModel, writeRequested } from './write-reports.ts'

const FLAGS = {
  '--arrivals <rate>': 'how many conversations begin: 50/s, 300/m, 0..200/s over 2m, several with commas',
  '--for <duration>': 'how long conversations begin (default: 1m, or as long as the arrivals say)',
  '--users <number>': 'how many conversations may be active; more wait, and are late (default: 2000)',
  '--warm-up <duration>': 'conversations that begin earlier are not counted (default: 0s)',
  '--fail-if <thresholds>': {
    description: 'what fails the load: user_to_agent.p99 > 2s, verdict.fail > 1%; with commas, may be repeated',
    repeatable: true,
  },
  '--find-limit': 'double the rate, then find the highest that meets the thresholds; --for is the time of each step',
  '--target <url>': 'the webhook of the intermediary (default: webhook.url of the config file)',
  '--agent-driver <file>': 'agent driver file',
  '--report <reports>': {
    description: 'pretty, tap, github, json=F, junit=F, ctrf=F, html=F, markdown=F; with commas',
    repeatable: true,
  },
  '--no-own-limit': 'do not measure what this machine can run, before and during the load',
  '--wait-for-target <duration>': 'how long to wait for the intermediary (default: 0s; 30s under CI)',
  '--self-test': 'put the built-in reference intermediary under load',
  '--allow-remote': 'the target may be on another machine',
  ...SETTING_FLAGS,
  '--webhook-url <url>': { description: 'alias of --target', hidden: true },
  '--seed <number>': 'same seed: same ids, texts, pauses and order of scenarios (default: a fresh one)',
} as const

const DEFAULT_FAIL_IF = 'verdict.fail > 0, verdict.error > 0'
const DEFAULT_FOR_MS = 60_000
const DEFAULT_USERS = 2_000

export const loadCommand = defineCommand({
  arguments: {
    '<files...>': 'scenario files; FILE=3 begins three times as often as FILE, builtin:NAME is a shipped one',
  },
  flags: FLAGS,
  groups: {
    'Most used': ['target', 'agentDriver', 'arrivals', 'for', 'failIf', 'report', 'selfTest'],
    'How it runs': ['users', 'warmUp', 'findLimit', 'ownLimit', 'seed', 'waitForTarget', 'allowRemote'],
  },
  examples: {
    'load builtin:happy-path.yaml --self-test --arrivals 2/s --for 5s': 'look how it works, with the built-in service',
    "load builtin:happy-path.yaml --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --arrivals '1..5/s over 5s' --fail-if 'user_to_agent.p99 > 2s'":
      'more and more conversations, and what must not happen',
  },
  async run(context, flags, files) {
    const { io, env, secrets } = context
    const options = parseFlags(flags, context)
    const requests = parseReports((flags.report ?? []).join(','), LOAD_REPORTS, env)
    const resolved = await resolveSettings(flags, configSources(context))
    for (const warning of resolved.warnings) io.stderr.write(`${warning}\n`)
    const mix = await loadMix(files, context)
    const plans = mix.map(({ plan }) => plan)
    addSecretsOfPlans(plans, context)
    const seed = resolved.sources.seed === 'default' ? freshSeed() : Number(resolved.values.seed)

    return runInterruptibly(
      { context, flags, resolved },
      null,
      async ({ router, shutdown, signal, withSignalCode }) => {
        const attaching = { context, resolved, storesChats: false, router, shutdown, signal }
        const { target, driver } = await attach({ ...attaching, flags })
        checkVerbs(plans, driver?.verbs ?? [])
        const why = await whyUnreachable(target, options.waitMs, signal)
        if (why !== null) throw new EnvironmentError(`${why}.`)

        const served = { router, base: resolved.options, env }
        let ownLimit: number | null = null
        if (flags.ownLimit !== false) {
          io.stderr.write('Measuring how many conversations this machine can run.\n')
          // With an intermediary that is not slow.
          const reference = await attach({ ...attaching, flags: { selfTest: true } })
          const quick = new Runs({ ...served, target: reference.target.href, driver: reference.driver })
          ownLimit = await measureOwnLimit(plans, quick, seed, signal)
          await quick.close()
          await reference.driver?.close()
          router.beginRun()
        }

        const runs = new Runs({ ...served, target: target.href, driver })
        shutdown.defer(() => runs.close())
        const rerun = createRerunCommand(flags, plans)
        const progress = showLoadProgress(io.stderr, canRedraw(env, io.stderr.isTTY))
        const load: LoadRunOptions = {
          ...{ runs, mix, arrivals: options.stages, users: options.users, thresholds: options.thresholds },
          ...{ durationMs: options.durationMs, warmUpMs: options.warmUpMs, seed, signal },
          isWatched: flags.ownLimit !== false,
          rerun: plan => rerun(plan, seed, 1),
          onProgress: progress.show,
        }
        let steps: readonly LimitStep[] = []
        let result = null
        if (options.findsLimit) ({ steps, result } = await findLimit(load, options.stages[0]?.to ?? 1))
        else result = await runLoad(load)
        const ended: Redacted<LoadReport> = secrets.redactDeep({
          ...result,
          ...{ version: VERSION, target: target.href, seed, arrivals: options.arrivals, users: options.users },
          ...{ scenarios: plans.map(({ name }) => name), steps, exitCode: 0 },
          ownLimit: ownLimitAfter(ownLimit, result.points),
        })
        return writeLoad(withSignalCode({ ...ended, exitCode: loadExitCode(ended) }), requests, context)
      },
    )
  },
})

async function writeLoad(
  load: Redacted<LoadReport>,
  requests: readonly ReportRequest<LoadReportName>[],
  { io, env }: Context,
): Promise<number> {
  const reportContext = { io, env, colorLevel: colorLevel(env, io.stdout.isTTY) }
  return exitCodeWith(load.exitCode, await writeRequested(requests, load.exitCode, createRenderer(load), reportContext))
}

/** 1: a threshold was crossed. 3: conversations could not be judged, and none failed. 4: nothing can be said of the intermediary. */
function loadExitCode({ all, isBottleneck, thresholds, steps }: LoadReport): 0 | 1 | 3 | 4 {
  if (all.conversations === 0) return 4
  if (all.verdicts.error > 0 && all.verdicts.fail === 0) return 3
  if (steps.length > 0) return steps.some(({ isMet }) => isMet) ? 0 : 1
  if (thresholds.every(({ isMet }) => isMet)) return 0
  return isBottleneck ? 4 : 1
}

function createRenderer(load: LoadReport): Render<ReportRequest<LoadReportName>> {
  return async ({ report }, exitCode) => {
    const ended = { ...load, exitCode }
    switch (report) {
      case 'pretty':
        return [`${[...loadText(ended)].map(visible).join('\n')}\n`]
      case 'json':
        return [loadJson(ended)]
      case 'html':
        return [(await import('../pages/web/report/load-report.tsx')).htmlLoad(ended)]
    }
    return renderModel(report, reportOfLoad(ended))
  }
}

function parseFlags(flags: FlagsOf<typeof FLAGS>, { env }: Context) {
  const { arrivals, findLimit: findsLimit = false } = flags
  if (arrivals === undefined)
    throw new UsageError('load needs --arrivals, such as --arrivals 5/s or --arrivals "0..20/s over 1m".')
  const stages = parseArrivals(arrivals)
  if (stages === null)
    throw new UsageError(
      `--arrivals must be a rate such as 50/s, or 0..200/s over 2m, with commas between several, got ${JSON.stringify(arrivals)}.`,
    )
  const isEndless = stages.at(-1)?.ms === null
  if (findsLimit && (stages.length > 1 || !isEndless))
    throw new UsageError(`--find-limit begins with one rate, such as --arrivals 2/s, got ${JSON.stringify(arrivals)}.`)
  const stagesMs = isEndless ? DEFAULT_FOR_MS : stages.reduce((sum, { ms }) => sum + (ms ?? 0), 0)
  const durationMs = durationFrom('--for', flags.for, '1m') ?? stagesMs
  const warmUpMs = durationFrom('--warm-up', flags.warmUp, '10s') ?? 0
  if (warmUpMs >= durationMs)
    throw new UsageError(`--warm-up must be shorter than the load, which takes ${durationMs / 1000}s.`)
  let thresholds: readonly Threshold[]
  try {
    thresholds = parseThresholds((flags.failIf ?? [DEFAULT_FAIL_IF]).join(','))
  } catch (error) {
    throw new UsageError(`--fail-if ${messageOf(error)}`)
  }
  return {
    ...{ arrivals, stages, findsLimit, durationMs, warmUpMs, thresholds },
    users: countFrom('--users', flags.users) ?? DEFAULT_USERS,
    waitMs: waitFrom(flags.waitForTarget, env),
  }
}

const SHARE = /=(\d+(?:\.\d+)?)%?$/

/** The scenarios of the files, with the share of each. Throws when one of them cannot run beside itself. */
async function loadMix(files: readonly string[], context: Context): Promise<LoadRunOptions['mix']> {
  const mix: { plan: Plan; share: number }[] = []
  for (const given of files) {
    const share = existsSync(resolve(context.io.cwd, given)) ? null : SHARE.exec(given)
    const pattern = share === null ? given : given.slice(0, share.index)
    const plans = compile(await loadScenarios([pattern], scenarioSources(context)))
    if (plans.length === 0) throw new UsageError(`There is no scenario in ${pattern}.`)
    for (const plan of plans) mix.push({ plan, share: Number(share?.[1] ?? 1) / plans.length })
  }
  for (const { plan } of mix) {
    const refused = (why: string) => new UsageError(`${JSON.stringify(plan.name)} cannot run beside itself: ${why}.`)
    const unset = unsetVariable(plan, context.env)
    if (unset !== null) throw new UsageError(`${JSON.stringify(plan.name)}: ${unset.text}.`)
    if (plan.clock?.mode === 'virtual') throw refused('its clock is virtual, and load takes real time')
    if (plan.exclusive !== null)
      throw refused(`it needs the whole help desk (${plan.exclusive}), which all conversations share`)
    if (plan.conversations.some(({ user }) => typeof Object(user).id === 'string' && !/\$\(/.test(Object(user).id)))
      throw refused('its user has a fixed id')
  }
  if (!mix.some(({ share }) => share > 0)) throw new UsageError('At least one scenario needs a share above 0.')
  return mix
}

function checkVerbs(plans: readonly Plan[], verbs: readonly string[]): void {
  for (const { name, needs } of plans) {
    const missing = needs.filter(need => !verbs.includes(need))
    if (missing.length > 0)
      throw new UsageError(
        `${JSON.stringify(name)} needs an agent driver with ${missing.join(', ')}: --agent-driver FILE.`,
      )
  }
}
