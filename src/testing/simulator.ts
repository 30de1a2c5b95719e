/** `createSimulator` as tests use it: the simulator, and the judge of scenarios beside it. */
import type { CallBodies } from '../contract/wire.ts'
import { type PlatformServer, type PlatformServerOptions, startServer } from '../server/start.ts'
import type { ChatOptions } from '../simulator/new-chat.ts'
import type { PlatformSimulatorOptions } from '../simulator/options.ts'
import { createPlatformSimulator, type PlatformSimulator } from '../simulator/simulator.ts'
import { validateOptions } from '../simulator/validate-options.ts'
import type { PlatformWorkspace, PlatformWorkspaceOptions } from '../simulator/workspaces/workspace.ts'
import { type AgentFunctions, setAgent } from './agent.ts'
import { assertClean, type CleanOptions } from './assert-clean.ts'
import type { BodyMatcher } from './body-matcher.ts'
import {
  expectCallFor,
  expectNoneFor,
  type NoneOptions,
  type OftenOptions,
  type OnceOptions,
  type TestChat,
  type WaitOptions,
  withChatExpectations,
} from './chat.ts'
import { framesAbove } from './expectation-error.ts'
import type { ReceivedCall, Subject } from './expectations.ts'
import { chatShape, durationMs, SERVER, SIMULATOR, WORKSPACE } from './options.ts'
import { waitFor } from './wait-for.ts'

/** What a test may say beside what the platform is. */
export interface TestOptions {
  /** The help desk under test, for `expectAgentSees` and `runScenario`. */
  readonly agent?: AgentFunctions
  /** How long expectations wait unless they say `within`. Default 2s: less than test runners wait. */
  readonly expectTimeout?: string
}

export type SimulatorOptions = PlatformSimulatorOptions & TestOptions

type Availability = BodyMatcher<CallBodies['availability']>

export interface Expectations {
  chat(options?: ChatOptions): Promise<TestChat>
  /** A chat that exists, by id. */
  findChat(id: string): TestChat | undefined
  /** Availability belongs to the bot; every other call is expected of its chat. */
  expectCall(
    call: 'availability',
    body?: Availability,
    options?: Omit<OnceOptions, 'since'>,
  ): Promise<ReceivedCall<'availability'>>
  expectCall(
    call: 'availability',
    body: Availability | undefined,
    options: Omit<OftenOptions, 'since'>,
  ): Promise<ReceivedCall<'availability'>[]>
  expectNone(call: 'availability', options: NoneOptions): Promise<void>
  expectNone(call: 'availability', body: Availability | undefined, options: NoneOptions): Promise<void>
  /** Asked again with whatever happens, until it answers something true; resolves with that. */
  waitFor<Value>(look: () => Value, options?: WaitOptions): Promise<NonNullable<Value>>
  /**
   * For the end of a test. Waits until nothing is under way, then rejects with `ExpectationError` for calls nobody
   * expected, calls the platform refused or only forgave, and events the webhook did not take.
   */
  assertClean(options?: CleanOptions): Promise<void>
}

export type Simulator = Omit<PlatformSimulator, keyof Expectations> & Expectations

/** The platform and its end user in this process, with no socket. Throws `InvalidOptionError` for options that cannot be. */
export function createSimulator(options: SimulatorOptions = {}): Simulator {
  validateOptions('createSimulator', options, SIMULATOR)
  return withExpectations(createPlatformSimulator(options), options)
}

/** The same object with more on it: its getters stay live, and what knows it by itself still does. */
export function withExpectations<Sim extends PlatformSimulator>(
  sim: Sim,
  { agent, expectTimeout }: TestOptions = {},
  settleMs = 0,
): Omit<Sim, keyof Expectations> & Expectations {
  const { chat, findChat } = sim
  const waitMs = durationMs('expectTimeout', expectTimeout)
  const from = (own: (...args: never[]) => unknown): Subject => ({ sim, chatId: null, asked: framesAbove(own), waitMs })
  if (agent !== undefined) setAgent(sim, agent)
  const more: Expectations = {
    async chat(options = {}) {
      validateOptions('chat', options, chatShape(options?.user))
      return withChatExpectations(sim, await chat(options), waitMs)
    },
    findChat(id) {
      const found = findChat(id)
      return found && withChatExpectations(sim, found, waitMs)
    },
    expectCall: expectCallFor(() => from(more.expectCall)) as Expectations['expectCall'],
    expectNone: expectNoneFor(() => from(more.expectNone)) as Expectations['expectNone'],
    waitFor: (look, options = {}) => waitFor(from(more.waitFor), look, options),
    assertClean: (options = {}) => assertClean(sim, options, framesAbove(more.assertClean), settleMs),
  }
  return Object.assign(sim, more)
}

export type ServerOptions = PlatformServerOptions & TestOptions
export type WorkspaceOptions = PlatformWorkspaceOptions & TestOptions
export type Workspace = Omit<PlatformWorkspace, keyof Expectations> & Expectations

export interface SimulatorServer extends Omit<PlatformServer, keyof Expectations | 'workspace'>, Expectations {
  /** One more simulator behind the same port: calls find it by its API keys. Closing it leaves the others alone. */
  workspace(options?: WorkspaceOptions): Promise<Workspace>
}

/** Rejects with `PortInUseError` or `ListenError` when the port cannot be had, `InvalidOptionError` for other options. */
export async function startSimulator(options: ServerOptions = {}): Promise<SimulatorServer> {
  validateOptions('startSimulator', options, SERVER)
  const server = await startServer(options)
  const open = server.workspace
  return Object.assign(withExpectations(server, options, SETTLE_MS), {
    async workspace(all: WorkspaceOptions = {}) {
      validateOptions('workspace', all, WORKSPACE)
      const { agent, expectTimeout, ...wanted } = all
      return withExpectations(await open(wanted), { ...waitOf(options), ...pick({ agent, expectTimeout }) }, SETTLE_MS)
    },
  })
}

/** What is beyond a socket may take a moment to call. */
const SETTLE_MS = 300

/** A workspace waits as its server does; an agent it has only when it is given one. */
const waitOf = ({ expectTimeout }: TestOptions) => pick({ expectTimeout })

const pick = (options: TestOptions): TestOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
