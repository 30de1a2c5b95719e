/** Creates simulators with expectations: in-process, behind a port, and as workspaces. */

import type { Duration } from '../base/text/quantities.ts'
import type { CallBodies, CallId } from '../platform/contract/endpoints.ts'
import type { FaultSpec } from '../platform/faults/schema.ts'
import type { ChatOptions } from '../platform/simulator/new-chat.ts'
import type { PlatformSimulatorOptions } from '../platform/simulator/options.ts'
import { invalidOption, validateOptions } from '../platform/simulator/options.ts'
import { parseFault } from '../platform/simulator/parse-fault.ts'
import { checkOpen, coreOf, createPlatformSimulator, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import type { PlatformWorkspace, PlatformWorkspaceOptions } from '../platform/simulator/workspaces.ts'
import { LazyReadiness, reportOfTraffic } from '../running/certifier/load.ts'
import { loadRecorder } from '../running/recorder/load.ts'
import { type PlatformServer, type PlatformServerOptions, startServer } from '../server/start.ts'
import { type AgentFunctions, registerAgent } from './agent.ts'
import { assertClean, type CleanOptions } from './assert-clean.ts'
import type { BodyMatcher } from './body-matcher.ts'
import {
  DEFAULT_ACK_MS,
  type MultipleCallsOptions,
  type SingleCallOptions,
  stackAbove,
  type TestChat,
  type WaitOptions,
  withChatExpectations,
} from './chat.ts'
import {
  type CallArguments,
  expectCall,
  expectNone,
  type NoneArguments,
  type NoneOptions,
  type ReceivedCall,
  type Subject,
  waitFor,
} from './expectations.ts'
import { chatShape, durationMs, isServerOption, SERVER_SHAPE, SIMULATOR_SHAPE, WORKSPACE_SHAPE } from './options.ts'

/** Options that tests add to those of the platform. */
export interface TestOptions {
  /** The human agent's side of the intermediary, for `expectAgentSees` and `runScenario`. */
  readonly agent?: AgentFunctions
  /** The default of `within`, a duration. Default `1800ms`, which is shorter than the timeouts of test runners. */
  readonly expectTimeout?: Duration
  /**
   * The maximum wait of actions and of `assertClean` for the webhook's answer, a duration on the wall clock. Default `4s`,
   * which is shorter than the timeouts of test runners.
   */
  readonly ackTimeout?: Duration
}

/** Options of `createSimulator`. */
export type SimulatorOptions = PlatformSimulatorOptions & TestOptions

type Availability = BodyMatcher<CallBodies['availability']>

/** What a simulator of a test has besides the platform. */
export interface Expectations {
  /** Creates a chat. Throws `InvalidOptionError`. */
  chat(options?: ChatOptions): Promise<TestChat>
  /** Finds a chat by its id. */
  findChat(id: string): TestChat | undefined
  /** Waits for a call about availability, which belongs to the bot. Expect every other call on its chat. */
  expectCall(
    call: 'availability',
    body?: Availability,
    options?: Omit<SingleCallOptions, 'since'>,
  ): Promise<ReceivedCall<'availability'>>
  expectCall(
    call: 'availability',
    body: Availability | undefined,
    options: Omit<MultipleCallsOptions, 'since'>,
  ): Promise<ReceivedCall<'availability'>[]>
  expectNone(call: 'availability', options: NoneOptions): Promise<void>
  expectNone(call: 'availability', body: Availability | undefined, options: NoneOptions): Promise<void>
  /** Calls `predicate` after every journal entry until it returns a truthy value, and resolves with that. */
  waitFor<Value>(predicate: () => Value, options?: WaitOptions): Promise<NonNullable<Value>>
  /**
   * Waits until no work is in progress, then checks the whole test: call it at the end.
   *
   * @throws ExpectationError for unexpected calls, refused calls, contract findings, and events that the webhook did not
   * acknowledge, or that were not sent because there is no webhook.
   * @example
   * const sim = createSimulator()
   * await sim.assertClean({ allow: ['typing_start'] })
   */
  assertClean(options?: CleanOptions): Promise<void>
  /**
   * Says what the traffic so far shows of each check of the certification. Changes nothing. Needs Node.
   *
   * @example
   * const sim = createSimulator()
   * console.log((await sim.readiness()).text) // 0 of 48 seen right, none wrong
   */
  readiness(): Promise<SimulatorReadiness>
}

/** What the traffic shows of the checks of a certification. */
export interface SimulatorReadiness {
  /** `31 of 48 seen right, 2 wrong: SIG-07, DLV-01` */
  readonly text: string
  readonly right: number
  readonly wrong: number
  readonly notSeen: number
  readonly checks: readonly ReadinessOfCheck[]
}

export interface ReadinessOfCheck {
  /** `SIG-07` */
  readonly id: string
  readonly title: string
  readonly level: 'MUST' | 'SHOULD' | 'INFO'
  readonly profile: 'webhook' | 'flow' | 'resilience'
  readonly state: 'right' | 'wrong' | 'not_seen'
  /** The journal entry that shows it. */
  readonly seq: number | null
  readonly chatId: string | null
  /** Why it is wrong, and what to do about it. */
  readonly finding: {
    readonly code: string
    readonly level: 'MUST' | 'SHOULD' | 'INFO'
    readonly happened: string
    readonly hint: string
    readonly entries: readonly number[]
  } | null
}

/** The platform and its end users in this process, with the expectations of a test. */
export type Simulator = Omit<PlatformSimulator, keyof Expectations> & Expectations

/**
 * Creates a simulator of the platform in this process. It opens no socket: webhooks go to `webhook.fetch` or
 * `webhook.url`, and calls arrive through `sim.fetch`, msw handlers or interceptors. The clock is virtual by default.
 *
 * @throws InvalidOptionError with the problem of every invalid option.
 * @example
 * import { createSimulator } from 'handover-sim'
 *
 * const sim = createSimulator({ seed: 1, webhook: { fetch: () => new Response('ok') } })
 * const ada = await sim.chat({ language: 'nb' })
 * const { ack } = await ada.press('handover')
 * console.log(ack?.status) // 200
 */
export function createSimulator(options: SimulatorOptions = {}): Simulator {
  const [serverOption] = Object.keys(Object(options)).filter(isServerOption)
  if (serverOption !== undefined) {
    const message = `createSimulator takes no ${serverOption}, because it opens no port; startSimulator takes it.`
    throw invalidOption(serverOption, message)
  }
  validateOptions('createSimulator', options, SIMULATOR_SHAPE)
  return withExpectations(createPlatformSimulator(options), options)
}

/** Adds expectations to the simulator object itself, so that its getters stay live. */
function withExpectations<Sim extends PlatformSimulator>(
  sim: Sim,
  { agent, expectTimeout, ackTimeout, webhook }: TestOptions & Pick<PlatformSimulatorOptions, 'webhook'> = {},
  settleMs = 0,
): Omit<Sim, keyof Expectations> & Expectations {
  const { chat, findChat, faults } = sim
  const waitMs = durationMs('expectTimeout', expectTimeout)
  const ack = { ms: durationMs('ackTimeout', ackTimeout) ?? DEFAULT_ACK_MS, webhook }
  const subject = (method: (...args: never[]) => unknown): Subject => ({
    sim,
    chatId: null,
    callStack: stackAbove(method),
    waitMs,
  })
  if (agent !== undefined) registerAgent(sim, agent)
  const more: Expectations = {
    async chat(options = {}) {
      validateOptions('chat', options, chatShape(options?.user))
      return withChatExpectations(sim, await chat(options), { waitMs, ack })
    },
    findChat(id) {
      const chat = findChat(id)
      return chat && withChatExpectations(sim, chat, { waitMs, ack })
    },
    expectCall: ((call: CallId, ...rest: CallArguments) =>
      expectCall(subject(more.expectCall), call, ...rest)) as Expectations['expectCall'],
    expectNone: ((call: CallId, ...rest: NoneArguments) =>
      expectNone(subject(more.expectNone), call, ...rest)) as Expectations['expectNone'],
    waitFor: (predicate, options = {}) => waitFor(subject(more.waitFor), predicate, options),
    assertClean: (options = {}) => assertClean(sim, options, stackAbove(more.assertClean), { settleMs, ack }),
    async readiness() {
      checkOpen(coreOf(sim), 'call readiness')
      const { text, right, wrong, not_seen: notSeen, checks } = await reportOfTraffic(sim)
      const seen = checks.map(({ chat_id: chatId, delivery_id: _, cannot_try: __, by: ___, note: ____, ...check }) => ({
        ...check,
        chatId,
      }))
      return { text, right, wrong, notSeen, checks: seen }
    },
  }
  return Object.assign(sim, more, {
    faults: {
      ...faults,
      add(fault: FaultSpec) {
        checkOpen(coreOf(sim), 'call add')
        return coreOf(sim).faults.add(parseFault(fault))
      },
    },
  })
}

/** Options of `startSimulator`. */
export type ServerOptions = PlatformServerOptions & TestOptions

/** Options of a workspace. They override those of the server. */
export type WorkspaceOptions = PlatformWorkspaceOptions & TestOptions

/** A separate simulator behind the port of a server. */
export type Workspace = Omit<PlatformWorkspace, keyof Expectations> & Expectations

/** A simulator behind a real port, with its control API. */
export interface SimulatorServer extends Omit<PlatformServer, keyof Expectations | 'workspace'>, Expectations {
  /** Creates a further simulator behind the same port. Its API keys select it. Closing it does not close others. */
  workspace(options?: WorkspaceOptions): Promise<Workspace>
}

/**
 * Starts a simulator behind a real port, with the control API beside the platform. The clock is real by default. Needs
 * Node.
 *
 * @throws PortInUseError or ListenError if it cannot listen; InvalidOptionError for invalid options.
 * @example
 * import { startSimulator } from 'handover-sim'
 *
 * const server = await startSimulator({ port: 0, webhook: { url: 'http://127.0.0.1:3000/webhook' } })
 * console.log(server.url)
 * await server.close()
 */
export async function startSimulator(options: ServerOptions = {}): Promise<SimulatorServer> {
  validateOptions('startSimulator', options, SERVER_SHAPE)
  const server = await startServer(options, undefined, undefined, {
    loadRecorder,
    loadReadiness: new LazyReadiness(() => null).load,
  })
  const openWorkspace = server.workspace
  return Object.assign(withExpectations(server, options, SETTLE_MS), {
    async workspace(settings: WorkspaceOptions = {}) {
      validateOptions('workspace', settings, WORKSPACE_SHAPE)
      checkOpen(coreOf(server), 'call workspace')
      const { agent, expectTimeout = options.expectTimeout, ackTimeout = options.ackTimeout, ...platform } = settings
      const { webhook } = platform
      return withExpectations(await openWorkspace(platform), { agent, expectTimeout, ackTimeout, webhook }, SETTLE_MS)
    },
  })
}

/** How long a server waits for calls of other processes before `assertClean`. */
const SETTLE_MS = 300
