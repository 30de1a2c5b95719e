/** The help desk of the intermediary under test, as functions of the test: how its agents act, and what they see. */
import type { Driver, DriverContext, InboxItem } from '../agent-driver/driver.ts'
import { flow } from '../evaluator/matching/value-text.ts'
import { sees } from '../runner/check-steps.ts'
import type { Action } from '../scenario/action.ts'
import type { PlatformSimulator } from '../simulator/simulator.ts'
import { anything, validateOptions } from '../simulator/validate-options.ts'
import { type BodyMatcher, checkOperators, literally } from './body-matcher.ts'
import { checkThere, played, type Subject } from './expectations.ts'
import { durationMs, type HowOften, invalid, timesOf } from './options.ts'
import { shownMs, WAIT_MS } from './plan-builder.ts'

type Verb = (context: DriverContext & { readonly signal: AbortSignal }) => unknown

/** The verbs of an agent driver as functions; one that is missing is only missed when it is needed. */
export interface AgentFunctions {
  readonly accept?: Verb
  readonly says?: Verb
  readonly type?: Verb
  readonly stop?: Verb
  readonly leave?: Verb
  readonly away?: Verb
  readonly back?: Verb
  /** What the agent sees of the chat, oldest first. */
  readonly inbox?: (context: DriverContext & { readonly signal: AbortSignal }) => Inbox | Promise<Inbox>
  readonly does?: Readonly<Record<string, Verb>>
  /** How long one of them may take. Default 5s. */
  readonly timeout?: string
}

type Inbox = readonly InboxItem[]

const agents = new WeakMap<object, { readonly functions: AgentFunctions; driver: Promise<Driver> | null }>()

export const setAgent = (sim: PlatformSimulator, functions: AgentFunctions): void =>
  void agents.set(sim, { functions, driver: null })

/** Made when it is first needed: it loads what can also run commands. */
export function agentOf(sim: PlatformSimulator): Promise<Driver> | null {
  const agent = agents.get(sim)
  if (agent === undefined) return null
  agent.driver ??= driverFrom(agent.functions)
  return agent.driver
}

export async function driverFrom(functions: AgentFunctions): Promise<Driver> {
  const { functionDriver } = await import('../agent-driver/function-driver.ts')
  return functionDriver(functions as Readonly<Record<string, unknown>>)
}

export interface SeesOptions {
  /** How long to look, on the wall. Default 2s, or `expectTimeout` of the simulator. */
  readonly within?: string
  readonly times?: HowOften
  /** Watches this long for more than `times` allows. */
  readonly for?: string
}

/** A text stands for an item with that text. */
export type ExpectedItem = string | RegExp | BodyMatcher<InboxItem>

export async function expectAgentSees(subject: Subject, wanted: ExpectedItem, options: SeesOptions): Promise<void> {
  validateOptions('expectAgentSees', options, { within: anything, times: anything, for: anything })
  checkOperators(wanted)
  checkThere(subject)
  const driver = await agentOf(subject.sim)
  if (!driver?.verbs.includes('inbox')) throw invalid('agent', NO_INBOX)
  const action: Extract<Action, { verb: 'sees' }> = {
    verb: 'sees',
    item: literally(wanted),
    times: timesOf(options.times),
    withinMs: null,
    forMs: durationMs('for', options.for) ?? null,
    waitMs: durationMs('within', options.within) ?? subject.waitMs ?? WAIT_MS,
  }
  const label = `agent sees ${flow(wanted, 60)}${options.for === undefined ? '' : ` for ${shownMs(action.forMs!)}`}`
  await played(subject, action, label, sees, ({ context }) => ({ ...context, driver }))
}

const NO_INBOX =
  'What an agent sees is read by agent.inbox: createSimulator({ agent: { inbox: ({ chat }) => desk.itemsOf(chat.id) } }).'
