/** Runs a command beside a simulator, and ends with its exit code (`handover-sim exec -- COMMAND`). */
import { constants } from 'node:os'
import { elapsedMs, wallDelay, wallTime } from '../base/runtime/clock.ts'
import { createAbort, freshSeed, onParentExit } from '../base/runtime/node.ts'
import { formatDuration } from '../base/text/quantities.ts'
import type { RunResult, ScenarioResult, Verdict } from '../evaluation/evaluator/verdict.ts'
import { createOrphan } from '../evaluation/finding.ts'
import { History } from '../evaluation/history.ts'
import { lint } from '../evaluation/rules/lint.ts'
import { parseReports, RUN_REPORTS } from '../pages/reporters/report-option.ts'
import { VERSION } from '../platform/contract/version.ts'
import type { ProcessFailure } from '../platform/journal/run-failures.ts'
import { coreOf } from '../platform/simulator/simulator.ts'
import { failureText, targetFailureText } from '../platform/wording/failures.ts'
import { probe } from '../running/agent-driver/probe.ts'
import { simulatorVariables } from '../running/agent-driver/target.ts'
import { LazyReadiness } from '../running/certifier/load.ts'
import { applyStrict, maskedJournal, orphanFailures, runResult } from '../running/runner/results.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import { type PlatformServer, startServer } from '../server/start.ts'
import { configSources, defineCommand, durationFrom, type FlagsOf, REPORT_FLAG, SETTING_FLAGS } from './command.ts'
import { GuardedCommand } from './guarded-command.ts'
import {
  type Context,
  colorLevel,
  createShutdown,
  END_CODES,
  type EndReason,
  EnvironmentError,
  SHUTDOWN_MS,
  type Shutdown,
  UsageError,
} from './io.ts'
import { runScenarios, type ServiceContext } from './run.ts'
import { quoteForShell } from './run-target.ts'
import { redactRun } from './secrets.ts'
import type { AttachedAgent } from './start-agent.ts'
import { exitCodeWith, writeReports } from './write-reports.ts'

const FLAGS = {
  '--scenarios <files>': {
    description: 'run scenarios instead; the command, if there is one, is the service that they test. May be repeated',
    repeatable: true,
  },
  '--wait-for <url>': 'wait until this address answers: before the command, or with --scenarios after its start',
  '--wait-timeout <duration>': 'how long to wait for it (default: 60s)',
  '--agent-driver <file>': 'agent driver file or URL, for scenarios and for the agent of the control API',
  '--strict': 'fail also for findings of the linter',
  ...REPORT_FLAG,
  '--grace <duration>': 'how long the command may take to end after a signal, before it is killed (default: 5s)',
  '--allow-remote': 'the agent driver may be read from another machine',
  ...SETTING_FLAGS,
  '--port <number>': 'port to listen on (default: a free one)',
  '--seed <number>': 'same seed: same ids, names and texts (default: a fresh one, named in the report)',
} as const

type ExecFlags = FlagsOf<typeof FLAGS>

const DEFAULT_WAIT_MS = 60_000
const DEFAULT_GRACE_MS = 5_000
const DRAIN_MS = 3_000
const POLL_MS = 50
/** Failed scenarios that a report shows. */
const MAX_FAILED_PLAYS = 100
/** A journal alone is no run that could be evaluated again. */
const EXEC_REPORTS = RUN_REPORTS.filter(name => name !== 'journal')

export const execCommand = defineCommand({
  arguments: { '[command...]': 'after --: the program and its arguments, run without a shell' },
  flags: FLAGS,
  groups: {
    'Most used': ['webhookUrl', 'waitFor', 'scenarios', 'agentDriver', 'report', 'strict'],
    'How it runs': ['waitTimeout', 'grace', 'allowRemote'],
  },
  examples: {
    'exec --webhook-url http://127.0.0.1:3000/webhook -- npm test': 'your tests, beside a simulator',
    'exec --wait-for http://127.0.0.1:3000/ --webhook-url http://127.0.0.1:3000/webhook --scenarios scenarios --agent-driver driver.yaml -- node server.js':
      'scenarios against the service that the command starts',
  },
  async run(context, flags, command) {
    const { scenarios } = flags
    if (command.length === 0 && scenarios === undefined)
      throw new UsageError('exec needs a command after --, such as: npx handover-sim exec -- npm test')
    const times = {
      graceMs: durationFrom('--grace', flags.grace, '5s') ?? DEFAULT_GRACE_MS,
      waitMs: durationFrom('--wait-timeout', flags.waitTimeout, '60s') ?? DEFAULT_WAIT_MS,
    }
    const address = flags.waitFor ?? null
    if (address !== null && !/^https?:\/\/./.test(address))
      throw new UsageError(
        `--wait-for must be an http or https URL such as http://127.0.0.1:3000/, got ${JSON.stringify(address)}.`,
      )
    const exec = { context, flags, command, address, ...times }
    return scenarios === undefined ? execBesideSimulator(exec) : execScenarios(exec, scenarios)
  },
})

interface Exec {
  readonly context: Context
  readonly flags: ExecFlags
  readonly command: readonly string[]
  /** What `--wait-for` names. */
  readonly address: string | null
  readonly graceMs: number
  readonly waitMs: number
}

async function execBesideSimulator({ context, flags, command, address, ...times }: Exec): Promise<number> {
  const { io, env, secrets } = context
  const requests = parseReports((flags.report ?? []).join(','), EXEC_REPORTS, env)
  const shutdown = createShutdown(io, times.graceMs + SHUTDOWN_MS)
  try {
    const guarded = new GuardedCommand()
    shutdown.defer(
      () => guarded.stop(),
      () => guarded.kill(),
    )
    shutdown.defer(onParentExit(shutdown.request))
    const resolved = await resolveSettings(flags, configSources(context))
    for (const warning of resolved.warnings) io.stderr.write(`${warning}\n`)

    const failedPlays: ScenarioResult[] = []
    const onPlayed = (result: ScenarioResult) => {
      if (result.outcome !== 'pass' && failedPlays.length < MAX_FAILED_PLAYS) failedPlays.push(result)
    }
    let attached: AttachedAgent | null = null
    const readiness = new LazyReadiness(() => attached?.loadDriver ?? null, { onPlayed })
    const port = resolved.sources.port === 'default' ? 0 : resolved.options.port
    // As for `run`: a running intermediary remembers the chats of earlier runs.
    const seed = resolved.sources.seed === 'default' ? freshSeed() : Number(resolved.values.seed)
    const server = await startServer(
      { ...resolved.options, seed, ...(port === undefined ? {} : { port }) },
      undefined,
      secrets,
      {
        agent: () => attached?.agent ?? null,
        loadReadiness: readiness.load,
      },
    )
    shutdown.defer(() => server.close())
    const driverFile = flags.agentDriver ?? resolved.agentDriver
    if (driverFile !== null) {
      const { attachDriver } = await import('./start-agent.ts')
      attached = await attachDriver(server, driverFile, flags, context, shutdown)
    }
    let received: EndReason | null = null
    const ending = createAbort()
    void shutdown.ended.then(reason => {
      received = reason
      ending.abort()
    })
    if (address !== null) await waitUntilServed(address, times.waitMs, ending.signal)
    // Ended while it waited: the command is not started.
    if (received !== null) return END_CODES[received]

    const startedAt = wallTime()
    const started = elapsedMs()
    const how = await runGuarded(guarded, { command, env: variablesFor(server, context), ...times }, shutdown, context)
    const enough = createAbort()
    await Promise.race([server.settled(), wallDelay(DRAIN_MS, enough.signal)])
    enough.abort()
    const code = commandCode(how)
    const result = redactRun(
      createResult(server, { command, how, failedPlays, startedAt, started, isStrict: flags.strict ?? false }),
      secrets,
    )
    const isShown = result.exitCode !== 0 || flags.report !== undefined
    // The command has stdout.
    const output = { io: { ...io, cwd: io.cwd, stdout: io.stderr }, env, colorLevel: colorLevel(env, io.stderr.isTTY) }
    const problems = isShown
      ? await writeReports({ ...result, exitCode: code || result.exitCode }, requests, output)
      : []
    if (code !== 0) return code
    if (received !== null) return END_CODES[received]
    return exitCodeWith(result.exitCode, problems)
  } finally {
    await shutdown.run()
  }
}

/** Waits until an address answers; an answer with an error of the server does not count. Rejects with `EnvironmentError`. */
async function waitUntilServed(address: string, waitMs: number, signal: AbortSignal): Promise<void> {
  const until = elapsedMs() + waitMs
  for (;;) {
    const failure = await probe(address, signal)
    if (failure === null || (failure.code === 'status' && failure.status < 500) || signal.aborted) return
    if (elapsedMs() >= until) {
      const why = failure.code === 'status' ? `it answered ${failure.status}` : failureText(failure)
      throw new EnvironmentError(`--wait-for: ${address} does not serve after ${formatDuration(waitMs)}: ${why}.`)
    }
    await wallDelay(POLL_MS, signal)
  }
}

interface GuardedOptions {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly graceMs: number
}

/** Runs the command until it ends. A signal to this process is passed on; who does not end by it within the grace is killed. */
async function runGuarded(
  guarded: GuardedCommand,
  { command, env, graceMs }: GuardedOptions,
  shutdown: Shutdown,
  { io }: Context,
): Promise<ProcessFailure> {
  const enough = createAbort()
  void shutdown.ended.then(async reason => {
    if (reason === 'request') return guarded.stop()
    guarded.signal(reason)
    await wallDelay(graceMs, enough.signal)
    if (!enough.signal.aborted) guarded.kill()
  })
  guarded.run({ command, cwd: io.cwd, env, sharesTerminal: true }, graceMs)
  const how = await guarded.ended
  enough.abort()
  if (how.code !== 'exited') throw new EnvironmentError(`exec: the command did not start: ${targetFailureText(how)}.`)
  return how
}

/** The variables from which a command knows the simulator. */
function variablesFor(server: PlatformServer, { env }: Context) {
  const { webhookUrl } = coreOf(server).address
  return {
    ...env,
    ...simulatorVariables(server),
    ...(webhookUrl === null ? {} : { HANDOVER_SIM_WEBHOOK_URL: webhookUrl }),
    ...(server.controlToken === null ? {} : { HANDOVER_SIM_TOKEN: server.controlToken }),
  }
}

/** The exit code of a program; 128 and the number of the signal that ended it. */
const commandCode = (how: ProcessFailure): number =>
  how.code !== 'exited' ? 3 : (how.exit_code ?? 128 + (constants.signals[how.signal as NodeJS.Signals] ?? 0))

interface Ended {
  readonly command: readonly string[]
  readonly how: ProcessFailure
  readonly failedPlays: readonly ScenarioResult[]
  readonly startedAt: string
  /** A moment of `elapsedMs()`. */
  readonly started: number
  readonly isStrict: boolean
}

/** The command as a scenario, with the whole journal of the simulator, and the scenarios that it played and that did not pass. */
function createResult(server: PlatformServer, ended: Ended): RunResult {
  const { command, how, failedPlays, startedAt, started, isStrict } = ended
  const name = command.join(' ')
  const journal = maskedJournal(server)
  const seed = coreOf(server).identity.seed
  const conversations: Record<string, string> = {}
  for (const [index, { chatId }] of server.chats().entries()) conversations[`chat ${index + 1}`] = chatId
  const failures = orphanFailures(journal).filter(({ kind }) => kind === 'internal')
  if (commandCode(how) !== 0)
    failures.unshift(
      createOrphan('stimulus', {
        code: 'command_ended',
        expected: 'the command to end with exit code 0',
        happened: targetFailureText(how).replace(/^it /, 'the command '),
        details: { failure: how },
      }),
    )
  const warnings = lint({ config: {}, steps: [], finally: [] }, new History(journal))
  const outcome = failures.length > 0 ? 'fail' : 'pass'
  const verdict: Verdict = { outcome, reason: null, failures, warnings, steps: [], captures: {} }
  const facts = {
    seed,
    clock: server.clock.mode,
    instance: 1,
    startedAt,
    durationMs: elapsedMs() - started,
    rerunCommand: `npx handover-sim exec --seed ${seed} -- ${command.map(word => quoteForShell(word)).join(' ')}`,
  }
  const scenario = {
    ...applyStrict({ strict: isStrict }, verdict),
    ...facts,
    name,
    file: 'exec',
    place: null,
    tags: [],
    spec: [],
    journal,
    conversations,
  }
  return runResult({
    version: VERSION,
    startedAt,
    durationMs: facts.durationMs,
    target: coreOf(server).address.webhookUrl ?? 'no webhook',
    seed,
    scenarios: [scenario, ...failedPlays],
    failures: [],
    journal: [],
    stopped: null,
  })
}

/** Runs scenarios against the service that the command starts, or against one that runs already. */
function execScenarios({ context, flags, command, address, graceMs, waitMs }: Exec, files: readonly string[]) {
  const { grace: _, waitFor: __, waitTimeout: ___, ...runFlags } = flags
  // Without a command, the service knows the address of the simulator from elsewhere.
  const port = flags.port ?? (command.length === 0 ? undefined : '0')
  const ready = { waitForTarget: flags.waitTimeout ?? '60s', ...(port === undefined ? {} : { port }) }
  return runScenarios(
    context,
    { ...runFlags, ...ready },
    files,
    async ({ server, shutdown, signal }: ServiceContext) => {
      if (command.length > 0) {
        const guarded = new GuardedCommand()
        shutdown.defer(
          () => guarded.stop(),
          () => guarded.kill(),
        )
        shutdown.defer(onParentExit(shutdown.request))
        guarded.run({ command, cwd: context.io.cwd, env: variablesFor(server, context), sharesTerminal: true }, graceMs)
        void guarded.ended.then(how => {
          if (!guarded.isStopped) context.io.stderr.write(`exec: the command ended: ${targetFailureText(how)}.\n`)
        })
      }
      if (address !== null) await waitUntilServed(address, waitMs, signal)
      return command.length > 0 && address === null
    },
  )
}
