/** Acts as a human agent through functions of the test, and expects what the agent sees. */

import { type Duration, formatDuration } from '../base/text/quantities.ts'
import { SeesEvaluator } from '../evaluation/evaluator/sees.ts'
import { flow } from '../evaluation/scenario/value-text.ts'
import { anything, invalidOption, validateOptions } from '../platform/simulator/options.ts'
import type { PlatformSimulator } from '../platform/simulator/simulator.ts'
import type { Driver, DriverChat, DriverContext, Environment, InboxItem } from '../running/agent-driver/driver.ts'
import { pollInbox } from '../running/runner/inbox.ts'
import { type BodyMatcher, checkOperators } from './body-matcher.ts'
import { checkChatExists, meet, type Subject } from './expectations.ts'
import { durationMs, type ExpectedTimes, parseTimes } from './options.ts'
import { DEFAULT_WAIT_MS } from './test-journal.ts'

/** What every function of an agent reads. Its fields are wire-shaped (snake_case), as in driver files. */
export interface DeskContext extends Pick<DriverContext, 'sim'> {
  /** Null for `away` and `back`, which concern the whole help desk. */
  readonly chat: DriverChat | null
  /** Aborts when the function has taken too long. */
  readonly signal: AbortSignal
}

/** What functions about one chat read. */
export interface AgentContext extends DeskContext {
  readonly chat: DriverChat
}

type Verb<Context> = (context: Context) => unknown

/**
 * The agent driver of a test: one function for each verb of a driver file (docs/reference/driver.md). A step that needs a missing
 * verb is inconclusive.
 */
export interface AgentFunctions {
  readonly accept?: Verb<AgentContext>
  readonly says?: Verb<AgentContext & { readonly text: string }>
  readonly type?: Verb<AgentContext>
  readonly stop?: Verb<AgentContext>
  readonly leave?: Verb<AgentContext>
  readonly away?: Verb<DeskContext>
  readonly back?: Verb<DeskContext>
  /** Returns what the agent sees of the chat, oldest first. */
  readonly inbox?: (context: AgentContext) => Inbox | Promise<Inbox>
  /** Verbs of the help desk, with the parameters that a scenario gives. */
  readonly does?: Readonly<Record<string, Verb<AgentContext & { readonly with: Readonly<Record<string, unknown>> }>>>
  /** The maximum time of one call, a duration. Default `5s`. */
  readonly timeout?: Duration
}

type Inbox = readonly InboxItem[]

/** The property of a simulator that returns the driver of its option `agent`. */
const AGENT = Symbol('agent')

/** The driver is created on first use, because its module also loads what runs commands. */
export function registerAgent(sim: PlatformSimulator, functions: AgentFunctions): void {
  let driver: Promise<Driver> | null = null
  const get = () => {
    driver ??= driverFrom(functions)
    return driver
  }
  Object.defineProperty(sim, AGENT, { get })
}

const agentOf = (sim: PlatformSimulator): Promise<Driver> | undefined => Reflect.get(sim, AGENT)

async function driverFrom(functions: AgentFunctions): Promise<Driver> {
  const { functionDriver } = await import('../running/agent-driver/function-driver.ts')
  return functionDriver(functions as Readonly<Record<string, unknown>>)
}

const leaveOpen = async () => {}

interface DriverOption {
  readonly driver?: AgentFunctions | Driver | string | null
  readonly env?: Environment
  readonly cwd?: string
}

/** Returns the driver, and a function that closes it if it was created for this run. */
export async function driverOption(sim: PlatformSimulator, { driver, env = process.env, cwd }: DriverOption) {
  if (driver === undefined) return { driver: (await agentOf(sim)) ?? null, close: leaveOpen }
  if (driver === null || isDriver(driver)) return { driver, close: leaveOpen }
  const created = typeof driver === 'string' ? await driverFile(sim, driver, env, cwd) : await driverFrom(driver)
  return { driver: created, close: () => created.close() }
}

const isDriver = (driver: object | string): driver is Driver =>
  typeof driver === 'object' && 'verbs' in driver && 'call' in driver

async function driverFile(sim: PlatformSimulator, ref: string, env: Environment, cwd = process.cwd()) {
  const [{ loadDriver }, { createDriver }] = await Promise.all([
    import('../running/agent-driver/load-driver.ts'),
    import('../running/agent-driver/create-driver.ts'),
  ])
  const terminal = { isTTY: false, prompt: async () => '' }
  const spec = await loadDriver(ref, { cwd, env, nodeVersion: process.version, ...terminal })
  const { baseUrl: url, apiKey, botApiKey, botId } = sim
  return createDriver(spec, { env, sim: { url, apiKey, botApiKey, botId } })
}

/** Options of `expectAgentSees`. */
export interface SeesOptions {
  /** The maximum wait, a duration on the wall clock. Default `1800ms`, or `expectTimeout` of the simulator. */
  readonly within?: Duration
  /** How many new items are expected. Default: exactly one. */
  readonly times?: ExpectedTimes
  /** Waits this long for further items, a duration; more items than `times` allows fail. */
  readonly for?: Duration
}

/** An expected item of the inbox. A string or a pattern is compared with the text of the item. */
export type ExpectedItem = string | RegExp | BodyMatcher<InboxItem>

export async function expectAgentSees(subject: Subject, expected: ExpectedItem, options: SeesOptions): Promise<void> {
  validateOptions('expectAgentSees', options, { within: anything, times: anything, for: anything })
  checkOperators(expected)
  checkChatExists(subject)
  const driver = await agentOf(subject.sim)
  if (!driver?.verbs.includes('inbox')) throw invalidOption('agent', NO_INBOX)
  const forMs = durationMs('for', options.for) ?? null
  const times = parseTimes(options.times)
  await meet(
    subject,
    {
      label: `agent sees ${flow(expected, 60)}${forMs === null ? '' : ` for ${formatDuration(forMs)}`}`,
      waitMs: durationMs('within', options.within) ?? subject.waitMs ?? DEFAULT_WAIT_MS,
      create: (journal, step) => new SeesEvaluator(journal, step, { item: expected, times, forMs, withinMs: null }),
    },
    async (journal, expectation) => {
      const { sim, core, resetSignal } = journal
      const chat = core.platform.state.chats.get(subject.chatId ?? '')
      if (chat === undefined) return
      const context = { sim, core, driver, url: sim.baseUrl }
      await pollInbox(context, { chat, startSeq: expectation.start.seq, signal: resetSignal }, () => {
        const status = journal.status(expectation)
        return status.state === 'open' ? status : null
      })
    },
  )
}

const NO_INBOX =
  'expectAgentSees needs the function agent.inbox: createSimulator({ agent: { inbox: ({ chat }) => desk.itemsOf(chat.id) } }).'
