/** Finds or starts the intermediary of a run and its agent driver, and ends the run early. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { OUTPUT_FOLDER } from '../base/files/user-files.ts'
import { wallTimer } from '../base/runtime/clock.ts'
import { createAbort } from '../base/runtime/node.ts'
import { isLoopback } from '../base/text/hosts.ts'
import { formatDuration } from '../base/text/quantities.ts'
import { withoutCredentials } from '../base/text/redactor.ts'
import { visible } from '../base/text/terminal-text.ts'
import type { RunResult } from '../evaluation/evaluator/verdict.ts'
import type { Plan } from '../evaluation/scenario/plan.ts'
import type { EarlyEnd } from '../platform/journal/run-failures.ts'
import { earlyEndText, failureText } from '../platform/wording/failures.ts'
import type { Driver } from '../running/agent-driver/driver.ts'
import { referenceDriver } from '../running/agent-driver/read-driver.ts'
import { probeTarget, TargetLog, TargetStartError } from '../running/agent-driver/target.ts'
import { byScenarioGroup, groupAfter, type SelectedScenario, type Selection } from '../running/runner/schedule.ts'
import { createSimulatorRouter, type SimulatorRouter } from '../running/runner/simulator-router.ts'
import type { SuiteOptions } from '../running/runner/suite.ts'
import { earlyEndOf, InterruptedError } from '../running/runner/waiting.ts'
import type { Resolved } from '../server/config/resolve.ts'
import type { ControlExtension } from '../server/start.ts'
import {
  type Context,
  createShutdown,
  EnvironmentError,
  type Shutdown,
  SIGNAL_CODES,
  type Signal,
  UsageError,
} from './io.ts'
import { addSecretsOfDriver } from './secrets.ts'

export interface RunTarget {
  readonly target: URL
  readonly driver: Driver | null
}

/** The flags that name the intermediary. */
export interface TargetFlags {
  readonly target?: string
  readonly agentDriver?: string
  readonly selfTest?: boolean
  readonly allowRemote?: boolean
}

export interface AttachOptions {
  readonly context: Context
  readonly flags: TargetFlags
  readonly resolved: Resolved
  /** Whether a program has been started that may be the target, and may not serve yet. */
  readonly startsService?: boolean
  /** Whether the built-in intermediary stores its chats in a file, so that it can be restarted. */
  readonly storesChats: boolean
  readonly router: SimulatorRouter
  readonly shutdown: Shutdown
  /** Aborts when the run ends early. */
  readonly signal: AbortSignal
}

/** What a run against an intermediary works with. */
interface InterruptibleRun {
  readonly router: SimulatorRouter
  readonly shutdown: Shutdown
  readonly signal: AbortSignal
  /** The result, with the exit code of the signal that has ended the run. */
  withSignalCode<Result extends { readonly exitCode: number }>(result: Result): Result
}

/**
 * Serves simulators and calls `run` with them. A signal, or the time limit, ends the run early; an environment error after
 * a signal has the exit code of the signal. Resolves with the exit code. The last line says when the target was the built-in
 * service.
 */
export async function runInterruptibly(
  {
    context,
    flags,
    resolved,
    control,
  }: Pick<AttachOptions, 'context' | 'flags' | 'resolved'> & {
    readonly control?: ControlExtension | undefined
  },
  timeoutMs: number | null,
  run: (parts: InterruptibleRun) => Promise<number>,
): Promise<number> {
  const shutdown = createShutdown(context.io)
  const stop = createAbort()
  const end = (why: EarlyEnd) => stop.abort(new InterruptedError(why))
  if (timeoutMs !== null) {
    const timer = wallTimer(timeoutMs, () => end({ code: 'run_time_limit', limit_ms: timeoutMs }))
    shutdown.defer(timer.cancel)
  }
  let received: Signal | null = null
  void shutdown.ended.then(reason => {
    if (reason === 'request') return
    received = reason
    end({ code: 'interrupted', signal: reason })
  })
  try {
    const serverOptions = { ...resolved.options, ...(flags.selfTest ? { port: 0 } : {}) }
    const router = await createSimulatorRouter(serverOptions, context.secrets, control)
    shutdown.defer(() => router.close())
    return await run({
      router,
      shutdown,
      signal: stop.signal,
      withSignalCode: result => (received === null ? result : { ...result, exitCode: SIGNAL_CODES[received] }),
    })
  } catch (error) {
    if (received === null || !(error instanceof EnvironmentError)) throw error
    context.io.stderr.write(`${error.message}\n`)
    return SIGNAL_CODES[received]
  } finally {
    await shutdown.run()
    if (flags.selfTest) {
      const isNamed = resolved.values['webhook.url'] !== null
      const cure = isNamed ? 'leave out --self-test' : 'replace --self-test by --target URL'
      context.io.stderr.write(`This tested the built-in service, not yours. To test yours, ${cure}.\n`)
    }
  }
}

/** Finds or starts the target. Rejects with `EnvironmentError` when it cannot be started. */
export async function attach(options: AttachOptions): Promise<RunTarget> {
  const start = await prepareTarget(options)
  return start()
}

/** Checks the target and loads the agent driver. Resolves with a function that starts the target. */
export async function prepareTarget(options: AttachOptions): Promise<() => Promise<RunTarget>> {
  const { flags, resolved, context, router, shutdown, signal } = options
  const { io, env } = context
  const { url, apiKey, botApiKey, botId } = router.server
  const onExit = (why: string) => io.stderr.write(`${why}\n`)
  const platform = { env, sim: { url, apiKey, botApiKey, botId }, onExit, log: createTargetLog(context) }
  if (flags.selfTest)
    return async () => {
      const driver = await started(() => referenceDriver({ ...platform, storesChats: options.storesChats }))
      shutdown.defer(() => driver.close())
      // UI mode does not wait for a start that a signal interrupts, and may have shut down already.
      if (signal.aborted) await driver.close()
      return { target: new URL(driver.webhookUrl), driver }
    }

  const target = targetFrom(flags, resolved.values['webhook.url'] as string | null)
  const ref = flags.agentDriver ?? resolved.agentDriver
  if (ref === null) return async () => ({ target, driver: null })
  const { loadDriver } = await import('../running/agent-driver/load-driver.ts')
  const { createDriver } = await import('../running/agent-driver/create-driver.ts')
  const files = { cwd: io.cwd, env, nodeVersion: io.nodeVersion, allowRemote: flags.allowRemote ?? false }
  const spec = await loadDriver(ref, { ...files, isTTY: io.canAsk, prompt: io.ask })
  if (spec.target !== null && options.startsService)
    throw new UsageError(
      `${ref} starts a target already, and --scenarios takes the command as the service: leave out the command. If it ` +
        'is another program, or shall be used in place of that target, let --wait-for name the address where it serves.',
    )
  addSecretsOfDriver(spec, context)
  return async () => {
    const driver = createDriver(spec, platform)
    shutdown.defer(() => driver.close())
    return { target, driver: await withTarget(driver, target, options) }
  }
}

const TARGET_LOG = `${OUTPUT_FOLDER}/target.log`

/** Removes the output of an earlier run. The file is there again when the target has printed something. */
function createTargetLog({ io: { cwd, stderr }, secrets }: Context): TargetLog {
  const path = join(cwd, TARGET_LOG)
  try {
    rmSync(path, { force: true })
  } catch {
    // Said when the file is written.
  }
  return new TargetLog({
    file: { path, name: TARGET_LOG },
    redact: line => secrets.redact(line),
    onProblem: message => stderr.write(`${visible(message)}\n`),
  })
}

/** Starts the target that the driver defines, unless it runs already; then scenarios may not stop it. */
async function withTarget(driver: Driver, target: URL, { context, signal }: AttachOptions): Promise<Driver> {
  const { target: program, verbs } = driver
  if (program === null) return driver
  if ((await probeTarget(target, 0, new AbortController().signal)) === null) {
    context.io.stderr.write(`${target.host} is running already: it is used as it is, and not restarted by scenarios.\n`)
    return { ...driver, target: null, verbs: verbs.filter(verb => !verb.startsWith('target.')) }
  }
  // Closes the driver, which ends the start, when the signal aborts before the target has started; not later.
  const starting = started(() => program.start())
  let closing: Promise<void> | null = null
  const onAbort = () => {
    closing = driver.close()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    await starting
    return driver
  } finally {
    signal.removeEventListener('abort', onAbort)
    await closing
  }
}

async function started<Result>(start: () => Promise<Result>): Promise<Result> {
  try {
    return await start()
  } catch (error) {
    throw error instanceof TargetStartError ? new EnvironmentError(error.message) : error
  }
}

function targetFrom(flags: TargetFlags, configured: string | null): URL {
  const from = flags.target === undefined ? 'webhook.url' : '--target'
  const text = flags.target ?? configured
  if (text === null)
    throw new UsageError(
      'No target URL: pass --target or set webhook.url. To try a scenario without an intermediary, pass --self-test.',
    )
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `${from} must be an http or https URL such as http://127.0.0.1:3000/webhook, got ${JSON.stringify(text)}.`,
    )
  if (flags.allowRemote || isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) return url
  throw new UsageError(
    `${from} ${text} is on another machine. Scenarios write as users and agents there; if that is wanted, add --allow-remote.`,
  )
}

/** Waits for the target at most `waitMs`. Resolves with a sentence without its period when nothing answers. */
export async function whyUnreachable(target: URL, waitMs: number, signal: AbortSignal): Promise<string | null> {
  const failure = await probeTarget(target, waitMs, signal)
  if (failure === null) return null
  const why = `the target ${withoutCredentials(target.href)} is not reachable: ${failureText(failure)}`
  if (signal.aborted) return `${why}; ${earlyEndText(earlyEndOf(signal))}`
  if (waitMs > 0) return `${why}, after waiting ${formatDuration(waitMs)}`
  return `${why}; start it first, or wait for it with --wait-for-target 30s`
}

export interface SuiteRunOptions extends Selection {
  readonly jobs: number
  readonly waitMs: number
  readonly bail: number | null
  /** Limits the whole run. */
  readonly timeoutMs: number | null
}

/** What flags and files say about a run. */
export interface RunSettings {
  readonly context: Context
  readonly flags: RepeatedFlags & TargetFlags & { readonly seed?: string }
  readonly options: SuiteRunOptions
  readonly resolved: Resolved
  readonly wanted: readonly SelectedScenario[]
  /** Every scenario of the files. */
  readonly plans: readonly Plan[]
  readonly seed: number
}

export interface AttachedRun {
  readonly settings: RunSettings
  readonly router: SimulatorRouter
  readonly signal: AbortSignal
  /** Rejects with `EnvironmentError` when the target cannot be started, and with `InterruptedError` to run nothing. */
  attach(): Promise<RunTarget>
  run(options: Omit<SuiteOptions, 'listener'>): Promise<RunResult>
}

/** The target that flags and settings name, for a report of a target that has no URL yet. */
export const targetIn = ({ flags, resolved }: Pick<RunSettings, 'flags' | 'resolved'>): string =>
  flags.selfTest ? 'the reference intermediary' : (flags.target ?? String(resolved.values['webhook.url'] ?? ''))

/** Reports an environment error as a run in which no scenario ran, because CI reads the reports. */
export async function runAttached({ settings, router, signal, attach, run }: AttachedRun): Promise<RunResult> {
  const { context, flags, options, resolved, wanted, plans, seed } = settings
  const suite: Omit<SuiteOptions, 'listener'> = {
    wanted,
    router,
    base: resolved.options,
    target: targetIn(settings),
    seed,
    seedWins: flags.seed !== undefined,
    driver: null,
    jobs: options.jobs,
    strict: flags.strict ?? false,
    bail: options.bail,
    env: context.env,
    signal,
    rerunCommand: createRerunCommand(flags, plans),
  }
  try {
    const { target, driver } = await attach()
    const attached = { ...suite, target: target.href, driver }
    const why = await whyUnreachable(target, options.waitMs, signal)
    return why === null ? await run(attached) : await notRun(attached, why)
  } catch (error) {
    if (!(error instanceof EnvironmentError || error instanceof InterruptedError)) throw error
    // Someone stopped the run, which then skips every scenario.
    if (error instanceof InterruptedError && earlyEndOf(signal).code === 'interrupted') return run(suite)
    return notRun(suite, signal.aborted ? earlyEndText(earlyEndOf(signal)) : error.message)
  }
}

async function notRun(suite: Omit<SuiteOptions, 'listener'>, why: string): Promise<RunResult> {
  const { unreachableResult } = await import('../running/runner/suite.ts')
  return unreachableResult(suite, why)
}

/** The flags of `run` and `certify` that the command repeats. */
export interface RepeatedFlags {
  readonly target?: string
  readonly webhookUrl?: string
  readonly agentDriver?: string
  readonly port?: string
  readonly host?: string
  readonly baseUrl?: string
  readonly clock?: string
  readonly memoryLimit?: string
  readonly config?: string
  readonly selfTest?: boolean
  readonly apiKey?: string
  readonly botApiKey?: string
  readonly allowRemote?: boolean
  readonly strict?: boolean
  readonly set?: readonly string[]
}

/** The flags of `certify` that change what its checks do. */
export interface RepeatedCheckFlags extends RepeatedFlags {
  readonly ackLimit?: string
  readonly observe?: string
  readonly within?: string
  readonly capabilities?: string
  readonly rotateUnspecified?: boolean
}

/** The value of `--set` for a key. */
const KEY_VALUE = /^(keys\.(?:handover|bot|more)=).*$/s

/** Texts of reports show no keys, so the command has placeholders. */
export function repeatedWords(flags: RepeatedFlags, shell: Shell | undefined): string[] {
  const words: string[] = []
  if (flags.selfTest) words.push('--self-test')
  const values = {
    // `--webhook-url` is an alias of `--target`.
    '--target': flags.target ?? flags.webhookUrl,
    '--agent-driver': flags.agentDriver,
    '--port': flags.port,
    '--host': flags.host,
    '--base-url': flags.baseUrl,
    '--clock': flags.clock,
    '--memory-limit': flags.memoryLimit,
    '--config': flags.config,
  }
  for (const [flag, value] of Object.entries(values))
    if (value !== undefined) words.push(`${flag} ${quoteForShell(value, shell)}`)
  if (flags.apiKey !== undefined) words.push('--api-key KEY')
  if (flags.botApiKey !== undefined) words.push('--bot-api-key KEY')
  if (flags.allowRemote) words.push('--allow-remote')
  if (flags.strict) words.push('--strict')
  for (const assignment of flags.set ?? [])
    words.push(`--set ${quoteForShell(assignment.replace(KEY_VALUE, '$1KEY'), shell)}`)
  return words
}

/** `plans`: every scenario of the files. */
export function createRerunCommand(flags: RepeatedFlags, plans: readonly Plan[], shell?: Shell) {
  return ({ file, name }: Plan, seed: number, instance: number): string => {
    const words = ['npx handover-sim run', quoteForShell(file, shell)]
    if (plans.filter(plan => plan.file === file).length !== 1) {
      // The longest part of the name without what no argument of a program can have.
      let part = ''
      for (const section of name.split(/[\0\p{Cs}]/u)) if (section.length > part.length) part = section
      words.push(`--only ${quoteForShell(part, shell)}`)
    }
    words.push(`--seed ${seed}`)
    // The ids of a repetition follow from those before it.
    if (instance !== 1) words.push(`--repeat ${instance}`)
    return [...words, ...repeatedWords(flags, shell)].join(' ')
  }
}

/** Says what to do after a run of the shipped scenarios: which group to make pass, or with which command to go on. */
export function nextText(
  { scenarios, exitCode }: Pick<RunResult, 'scenarios' | 'exitCode'>,
  flags: RepeatedFlags,
): string | null {
  if (exitCode === 0 && !flags.selfTest) {
    const words = repeatedWords({ ...flags, strict: false }, undefined)
    const certify = ['npx handover-sim certify', ...words].join(' ')
    return `Next: ${certify} looks for known mistakes; then explore, with the same flags, plays conversations of its own.`
  }
  const failed = byScenarioGroup(scenarios.filter(({ outcome }) => outcome === 'fail'))
  const group = failed.find(([name]) => name !== null)?.[0]
  if (!group) return null
  const command = [`npx handover-sim run --builtin --tag ${group}`, ...repeatedWords(flags, undefined)].join(' ')
  const after = groupAfter(group)
  const next = after === undefined ? 'npx handover-sim certify' : `the same with --tag ${after}`
  return `Next: fix the group ${group} first: ${command}; then ${next}.`
}

/** The command that runs one check again, with the same variations. */
export function createCheckRerun(flags: RepeatedCheckFlags, seed: number, shell?: Shell) {
  const words = repeatedWords(flags, shell)
  const { ackLimit, observe, within, capabilities } = flags
  const values = { '--ack-limit': ackLimit, '--observe': observe, '--within': within, '--capabilities': capabilities }
  for (const [flag, value] of Object.entries(values))
    if (value !== undefined) words.push(`${flag} ${quoteForShell(value, shell)}`)
  if (flags.rotateUnspecified === false) words.push('--no-rotate-unspecified')
  return (id: string): string => ['npx handover-sim certify', `--only ${id}`, `--seed ${seed}`, ...words].join(' ')
}

export type Shell = 'posix' | 'powershell'

const SHELL: Shell = process.platform === 'win32' ? 'powershell' : 'posix'

/** Bare where it can be, in double quotes where these mean the same in every shell, else in the quotes of one shell. */
export function quoteForShell(text: string, shell: Shell = SHELL): string {
  if (/^[\w./:][\w./:=@+-]*$/.test(text)) return text
  const isShown = visible(text) === text
  if (isShown && /^[^"$`\\!%]+$/.test(text)) return `"${text}"`
  if (isShown) return shell === 'powershell' ? `'${text.replaceAll("'", "''")}'` : `'${text.replaceAll("'", `'\\''`)}'`

  // Characters that mean themselves in every kind of quotes stay; the others are escaped by their number.
  const plain = /^[\w ./:=@,+-]$/
  let escaped = ''
  if (shell === 'powershell') {
    for (const char of text) escaped += plain.test(char) ? char : `\`u{${(char.codePointAt(0) ?? 0).toString(16)}}`
    return `"${escaped}"`
  }
  // As bytes in octal, whatever the locale of the shell is.
  for (const byte of new TextEncoder().encode(text)) {
    const char = String.fromCharCode(byte)
    escaped += plain.test(char) ? char : `\\${byte.toString(8).padStart(3, '0')}`
  }
  return `$'${escaped}'`
}
