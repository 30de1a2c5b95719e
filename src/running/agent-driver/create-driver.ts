/** Creates a driver from its spec: runs verbs as calls, commands, functions, or questions to a person. */

import type { ChildProcess } from 'node:child_process'
import { Agent } from 'undici'
import { ConfigError, type Problem } from '../../base/files/errors.ts'
import { isMap } from '../../base/objects.ts'
import { elapsedMs, wallDelay } from '../../base/runtime/clock.ts'
import { createSequence } from '../../base/runtime/sequence.ts'
import { formatValue } from '../../base/schemas/explain-issues.ts'
import { isError, messageOf } from '../../base/text/error-text.ts'
import { asText, type InterpolationScope, interpolate } from '../../evaluation/scenario/interpolation.ts'
import type { InboxFailure } from '../../platform/journal/run-failures.ts'
import {
  CallError,
  type CallOutcome,
  endOfOutput,
  failed,
  MAX_CHARS,
  startOf,
  unreachable,
  withTimeLimit,
} from './call-outcome.ts'
import type {
  Driver,
  DriverContext,
  DriverSpec,
  Environment,
  ExecVerb,
  FunctionVerb,
  InboxItem,
  VerbSpec,
} from './driver.ts'
import { CONNECTIONS, callHttp, fillAddress } from './http-call.ts'
import { askPerson } from './manual-call.ts'
import { isRunning, killProcess, launch, type RunningProcess } from './process-group.ts'
import { createDriverTarget, type SimulatorAccess, type TargetLog, type TargetProcess } from './target.ts'

export interface DriverOptions {
  readonly env: Environment
  /** What the target reads in its `HANDOVER_SIM_*` variables. */
  readonly sim: SimulatorAccess
  /** Receives a sentence when the target ends by itself. */
  readonly onExit?: (message: string) => void
  /** Keeps what the target prints. */
  readonly log?: TargetLog
}

/** Throws `ConfigError` when an environment variable that the driver reads is not set. */
export function createDriver(spec: DriverSpec, { env, sim, onExit, log }: DriverOptions): Driver {
  const problems: Problem[] = []
  for (const { name, unset } of spec.variables) if (env[name] === undefined) problems.push(unset)
  if (problems.length > 0) throw new ConfigError(problems)
  const target = spec.target === null ? null : createDriverTarget(spec.target, { env, sim, onExit, log })
  return connectDriver(spec, env, target)
}

const TARGET_VERBS = ['target.start', 'target.stop', 'target.restart', 'target.kill']

export function connectDriver(spec: DriverSpec, env: Environment, target: TargetProcess | null): Driver {
  const { name, verbs, needTerminal, folder } = spec
  const agent = new Agent(CONNECTIONS)
  /** The questions of scenarios that run at the same time, one after the other. */
  const questions = createSequence()
  const closed = new AbortController()
  const pending = new Set<Promise<unknown>>()
  /** What `$(env.X)` reads in this driver. */
  const variables: Record<string, string | undefined> = {}
  for (const variable of spec.variables) variables[variable.name] = env[variable.name]

  async function callVerb(
    verb: string,
    context: DriverContext,
    signal: AbortSignal,
  ): Promise<{ readonly how: string; readonly outcome: CallOutcome }> {
    const verbSpec = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (verbSpec === undefined) {
      const isManual = needTerminal.includes(verb)
      return {
        how: 'none',
        outcome: failed(isManual ? { code: 'no_terminal' } : { code: 'no_verb', driver: name, verb }),
      }
    }
    let how: string = verbSpec.kind
    try {
      const { chat, text, with: parameters = {}, sim } = context
      // The names of the driver win over the parameters of the scenario.
      const names = { ...(text !== undefined && { text }), ...(chat !== null && { chat }) }
      const scope = { ...parameters, ...names, sim, env: variables }
      how = startOf(describeCall(verb, verbSpec, scope, variables))
      switch (verbSpec.kind) {
        case 'http':
          return { how, outcome: await callHttp(verbSpec, scope, agent, signal) }
        case 'exec':
          return { how, outcome: await callCommand({ verb, spec: verbSpec, scope, context, folder, env }, signal) }
        case 'function':
          return { how, outcome: await callFunction(verbSpec, context, signal) }
        case 'manual':
          return { how, outcome: await questions(() => askPerson(verbSpec.prompt, verb, context, signal)) }
      }
    } catch (error) {
      if (error instanceof CallError) return { how, outcome: failed(error.failure) }
      return { how, outcome: failed({ code: 'not_interpolated', detail: messageOf(error) }) }
    }
  }

  return {
    name,
    verbs: [...Object.keys(verbs), ...(target === null ? [] : TARGET_VERBS)],
    target,
    async call(verb, context, signal) {
      const started = elapsedMs()
      const work = callVerb(verb, context, AbortSignal.any([signal, closed.signal]))
      pending.add(work)
      const { how, outcome } = await work
      pending.delete(work)
      const read: ParsedInbox = verb === 'inbox' ? parseInbox(outcome) : outcome
      const { status, failure, value, text, items } = read
      const response = startOf(text ?? (value === undefined ? '' : (JSON.stringify(value) ?? '')))
      return {
        verb,
        outcome: read.outcome,
        how,
        ...(status !== undefined && { status }),
        duration_ms: Math.round((elapsedMs() - started) * 100) / 100,
        ...(failure && { failure }),
        ...(response !== '' && { answer: response }),
        ...(context.chat !== null && { chat_id: context.chat.id }),
        ...(items && { items }),
      }
    },
    /** Interrupts the pending calls. Resolves when their processes have ended. */
    async close() {
      closed.abort()
      await Promise.all([agent.destroy(), ...pending, target?.close()])
    },
  }
}

const SECRET = /key|token|secret|pass/i

/** Describes a call for reports, with the names of secrets in place of their values. */
function describeCall(verb: string, spec: VerbSpec, scope: InterpolationScope, env: Environment): string {
  const maskedEnv: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(env)) maskedEnv[name] = SECRET.test(name) ? `$(env.${name})` : value
  const masked = { ...scope, env: maskedEnv, sim: Object.assign({}, scope.sim, { api_key: '$(sim.api_key)' }) }
  if (spec.kind === 'http') return `${spec.method} ${fillAddress(spec, masked)}`
  if (spec.kind === 'exec') return describeCommand(spec, masked)
  return spec.kind === 'function' ? `function ${verb}` : 'manual'
}

/** Fails with what the function throws. A function that ignores its signal goes on after its time limit. */
async function callFunction(
  { run, timeoutMs }: FunctionVerb,
  context: DriverContext,
  signal: AbortSignal,
): Promise<CallOutcome> {
  try {
    return await withTimeLimit({ timeoutMs, call: 'function', signal }, async inner => ({
      outcome: 'ok',
      value: await run({ ...context, signal: inner }),
    }))
  } catch (error) {
    let detail = messageOf(error)
    if (!isError(error)) return failed({ code: 'threw', detail })
    // Adds the cause: `fetch failed` alone does not say why.
    const { cause } = error
    if (isError(cause)) detail += `: ${cause.message || ('code' in cause ? String(cause.code) : cause.name)}`
    // Adds the line of a mistake such as a `TypeError`. An `Error` is one that the driver throws on purpose.
    const [, place] = /^\s+at .*?([^/\\() ]+\.[cm]?[jt]s:\d+:\d+)\)?$/m.exec(error.stack ?? '') ?? []
    return failed({ code: 'threw', detail, ...(error.name !== 'Error' && place !== undefined && { place }) })
  }
}

export type ParsedInbox = CallOutcome & { readonly items?: readonly InboxItem[] }

/** Reads the items that the call answered, printed or returned. Null is what many languages write for what is left out. */
export function parseInbox(call: CallOutcome): ParsedInbox {
  if (call.outcome !== 'ok') return call
  const wrong = (failure: InboxFailure): ParsedInbox => ({ ...call, ...failed(failure) })
  const { text = '' } = call
  let items = call.value
  if (!('value' in call))
    try {
      items = JSON.parse(text)
    } catch {
      return wrong({ code: 'inbox_not_json', received: text.trim() === '' ? 'nothing' : startOf(text) })
    }
  if (items === null) items = []
  if (!Array.isArray(items)) return wrong({ code: 'inbox_not_list', received: described(items) })
  for (const [index, item] of items.entries()) {
    const wrongItem = (field: 'request' | 'text' | 'attachments' | null, value: unknown) =>
      wrong({ code: 'inbox_item', item: index + 1, field, received: described(value) })
    if (!isMap(item)) return wrongItem(null, item)
    const { request, text: shown, attachments } = item
    if (request != null && typeof request !== 'boolean') return wrongItem('request', request)
    if (shown != null && typeof shown !== 'string') return wrongItem('text', shown)
    if (attachments != null && !(Array.isArray(attachments) && attachments.every(isMap)))
      return wrongItem('attachments', attachments)
  }
  const shown = items.map(({ request, text, attachments, ...more }) => ({
    ...more,
    ...(request != null && { request }),
    ...(text != null && { text }),
    ...(attachments != null && { attachments }),
  }))
  // A copy: a function may go on changing the list it returned.
  return { ...call, items: JSON.parse(JSON.stringify(shown)) }
}

function described(value: unknown): string {
  return isMap(value) ? `an object: ${startOf(JSON.stringify(value))}` : formatValue(value)
}

function fillCommand({ command }: ExecVerb, scope: InterpolationScope): string[] {
  return command.map(part => asText(interpolate(part, scope)))
}

/** `./agent.sh accept c1` */
function describeCommand(verb: ExecVerb, scope: InterpolationScope): string {
  const parts: string[] = []
  for (const part of fillCommand(verb, scope)) parts.push(/^[\w./:@%+=,-]+$/.test(part) ? part : JSON.stringify(part))
  return parts.join(' ')
}

export interface CommandTask {
  readonly verb: string
  readonly spec: ExecVerb
  readonly scope: InterpolationScope
  readonly context: DriverContext
  readonly folder: string
  readonly env: Environment
}

/** After the end of a command: a process in the background may hold its streams open. */
const OUTPUT_MS = 500

/** Kills the command and everything it started before it resolves. */
async function callCommand(task: CommandTask, signal: AbortSignal): Promise<CallOutcome> {
  const { verb, spec, scope, folder, env } = task
  const { chat, text, with: parameters, sim } = task.context
  const running = launch({ command: fillCommand(spec, scope), cwd: folder, env, stdin: true })
  if (!isRunning(running)) return unreachable(running)
  const input = JSON.stringify({ verb, chat, text, with: parameters, sim })
  try {
    const work = runToEnd(running, input)
    return await withTimeLimit({ timeoutMs: spec.timeoutMs, call: 'command', signal }, () => work)
  } finally {
    await killProcess(running)
  }
}

async function runToEnd({ child, ended }: RunningProcess, input: string): Promise<CallOutcome> {
  child.stdin?.on('error', () => {}).end(input)
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
  const end = await Promise.race([ended, stdout.tooLong, stderr.tooLong])
  if (end === 'too long') return failed({ code: 'too_long', status: null })
  if (end.code !== 'exited') return unreachable(end)
  const enough = new AbortController()
  await Promise.race([Promise.all([stdout.closed, stderr.closed]), wallDelay(OUTPUT_MS, enough.signal)])
  enough.abort()
  if (end.exit_code === 0) return { outcome: 'ok', text: stdout.text }
  const stream = stderr.text.trim() === '' ? 'stdout' : 'stderr'
  const output = endOfOutput(stream === 'stdout' ? stdout.text : stderr.text)
  return { ...failed({ ...end, code: 'command_failed', stream, output }), text: stdout.text }
}

function collect(stream: ChildProcess['stdout']) {
  const output = { text: '' }
  const tooLong = new Promise<'too long'>(resolve => {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.text.length <= MAX_CHARS) output.text += chunk
      if (output.text.length > MAX_CHARS) resolve('too long')
    })
  })
  const closed = new Promise<void>(resolve => {
    if (stream === null) resolve()
    else stream.once('close', resolve)
  })
  return Object.assign(output, { tooLong, closed })
}
