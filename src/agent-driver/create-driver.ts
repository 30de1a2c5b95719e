/** A driver at work: every call ends within its time, and what went wrong is in its outcome. */
import type { Agent } from 'undici'
import { ConfigError } from '../files/errors.ts'
import { elapsedMs } from '../runtime/clock.ts'
import type { Scope } from '../scenario/interpolation.ts'
import { type CallOutcome, failed, messageOf, startOf } from './call-outcome.ts'
import { type Environment, maskedScope, scopeOf } from './call-scope.ts'
import { callExec, showExec } from './command-call.ts'
import type { Driver, DriverCall, DriverContext, DriverSpec, DriverVerb, VerbSpec } from './driver.ts'
import { callFunction } from './function-call.ts'
import { callHttp, createAgent, showHttp } from './http-call.ts'
import { type InboxRead, readInbox } from './inbox.ts'
import { createPerson, type Person } from './manual-call.ts'
import { createDriverTarget, type SimulatorAccess, type TargetProcess } from './target.ts'

export interface DriverOptions {
  readonly env: Environment
  /** What the target is told of the simulator. */
  readonly sim: SimulatorAccess
  /** Is told when the target ends by itself. */
  readonly onExit?: (why: string) => void
}

/** Throws `ConfigError` when an environment variable it reads is not set. */
export function createDriver(spec: DriverSpec, { env, sim, onExit }: DriverOptions): Driver {
  checkVariables(spec, env)
  const target = spec.target === null ? null : createDriverTarget(spec.target, { env, sim, onExit })
  return driverOf(spec, env, target)
}

function checkVariables({ variables }: DriverSpec, env: Environment): void {
  const problems = variables.filter(({ name }) => env[name] === undefined).map(({ unset }) => unset)
  if (problems.length > 0) throw new ConfigError(problems)
}

const TARGET_VERBS = ['target.start', 'target.stop', 'target.restart', 'target.kill']

export function driverOf(spec: DriverSpec, env: Environment, target: TargetProcess | null): Driver {
  const executor = new CallExecutor(spec, env)
  const verbs = [...Object.keys(spec.verbs), ...(target === null ? [] : TARGET_VERBS)]
  return {
    name: spec.name,
    verbs,
    target,
    call: async (verb, context, signal) => (await executor.play(verb, context, signal)).call,
    async inbox(context, signal) {
      const { call, read } = await executor.play('inbox', context, signal)
      return read.items === undefined ? call : { ...call, items: read.items }
    },
    async close() {
      await Promise.all([executor.close(), target?.close()])
    },
  }
}

interface ScenarioResult {
  readonly call: DriverCall
  readonly read: InboxRead
}

class CallExecutor {
  readonly #spec: DriverSpec
  readonly #env: Environment
  /** What `$(env.X)` may be here. */
  readonly #read: Environment
  readonly #agent: Agent = createAgent()
  readonly #person: Person = createPerson()
  readonly #over = new AbortController()
  readonly #busy = new Set<Promise<unknown>>()

  constructor(spec: DriverSpec, env: Environment) {
    this.#spec = spec
    this.#env = env
    this.#read = Object.fromEntries(spec.variables.map(({ name }) => [name, env[name]]))
  }

  async play(verb: DriverVerb, context: DriverContext, signal: AbortSignal): Promise<ScenarioResult> {
    const begun = elapsedMs()
    const work = this.#try(verb, context, AbortSignal.any([signal, this.#over.signal]))
    this.#busy.add(work)
    const { how, done } = await work
    this.#busy.delete(work)
    const read = verb === 'inbox' ? readInbox(done) : done
    return { call: callOf(verb, how, read, elapsedMs() - begun, context), read }
  }

  async #try(
    verb: DriverVerb,
    context: DriverContext,
    signal: AbortSignal,
  ): Promise<{ how: string; done: CallOutcome }> {
    const spec = Object.hasOwn(this.#spec.verbs, verb) ? this.#spec.verbs[verb]! : null
    if (spec === null) return { how: 'none', done: failed(this.#whyMissing(verb)) }
    let how: string = spec.kind
    try {
      const scope = scopeOf(context, this.#read)
      how = startOf(describeCall(verb, spec, maskedScope(scope)))
      return { how, done: await this.#do(verb, spec, scope, context, signal) }
    } catch (error) {
      return { how, done: failed(messageOf(error)) }
    }
  }

  #whyMissing(verb: DriverVerb): string {
    const { missing, name } = this.#spec
    return Object.hasOwn(missing, verb) ? missing[verb]! : `${name} has no verb ${verb}`
  }

  #do(verb: string, spec: VerbSpec, scope: Scope, context: DriverContext, signal: AbortSignal): Promise<CallOutcome> {
    const place = { folder: this.#spec.folder, env: this.#env }
    if (spec.kind === 'http') return callHttp(spec, scope, this.#agent, signal)
    if (spec.kind === 'exec') return callExec({ verb, spec, scope, context, place }, signal)
    if (spec.kind === 'function') return callFunction(spec, context, signal)
    return this.#person.does(spec.ask, verb, context, signal)
  }

  /** What is under way is broken off, and its processes are gone afterwards. */
  async close(): Promise<void> {
    this.#over.abort()
    await Promise.all(this.#busy)
    await this.#agent.destroy()
  }
}

function describeCall(verb: string, spec: VerbSpec, scope: Scope): string {
  if (spec.kind === 'http') return showHttp(spec, scope)
  if (spec.kind === 'exec') return showExec(spec, scope)
  return spec.kind === 'function' ? `function ${verb}` : 'manual'
}

function callOf(verb: string, how: string, done: CallOutcome, tookMs: number, { chat }: DriverContext): DriverCall {
  const { outcome, status, error, failure, value } = done
  const answer = startOf(done.text ?? (value === undefined ? '' : (JSON.stringify(value) ?? '')))
  return {
    verb,
    outcome,
    how,
    ...(status === undefined ? {} : { status }),
    duration_ms: Math.round(tookMs * 100) / 100,
    ...(error === undefined ? {} : { error }),
    ...(failure === undefined ? {} : { failure }),
    ...(answer === '' ? {} : { answer }),
    ...(chat === null ? {} : { chat_id: chat.id }),
  }
}
