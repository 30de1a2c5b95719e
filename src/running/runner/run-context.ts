/** Creates the context of a scenario run: its simulator, its chats, its evaluator; and defines what a step receives. */

import type { ConnectionFailure } from '../../base/runtime/connection-failure.ts'
import { hashWords, makeId } from '../../base/runtime/random.ts'
import { Evaluator } from '../../evaluation/evaluator/evaluator.ts'
import type { Awaited } from '../../evaluation/evaluator/step-evaluator.ts'
import {
  createVariables,
  InterpolationError,
  interpolate,
  type Variables,
} from '../../evaluation/scenario/interpolation.ts'
import type { Action, ConversationSpec, Plan, PlannedStep, Verb } from '../../evaluation/scenario/plan.ts'
import type {
  ConversationOpened,
  RunEvent,
  ScenarioStarted,
  StepDetails,
} from '../../evaluation/scenario/run-events.ts'
import type { NoteContent } from '../../platform/journal/entry.ts'
import type { StepFailure } from '../../platform/journal/run-failures.ts'
import type { Chat } from '../../platform/rules/state.ts'
import { newChat, type ReadChatOptions, userFromWire, type WireUser } from '../../platform/simulator/new-chat.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { Driver, DriverChat } from '../agent-driver/driver.ts'
import { createJournalWaiter, InterruptedError, type WaitContext } from './waiting.ts'

export interface RunContextOptions {
  readonly plan: Plan
  readonly sim: PlatformSimulator
  readonly driver: Driver | null
  /** Seed of the run. The seed of the simulator is derived from it and the name of the scenario. */
  readonly seed: number
  readonly instance: number
  readonly env: Readonly<Record<string, string | undefined>>
  /** The address the intermediary calls. */
  readonly url: string
  /** Connects to the target. Null: the target accepts connections. */
  readonly checkTarget?: () => Promise<ConnectionFailure | null>
}

/** Derived from the name, so that a scenario has the same ids whichever others run. */
export const scenarioSeed = (seed: number, { plan, instance }: Pick<RunContextOptions, 'plan' | 'instance'>): number =>
  hashWords(instance === 1 ? plan.name : `${plan.name} #${instance}`, seed)[0]

export interface RunContext extends RunContextOptions, WaitContext {
  readonly evaluator: Evaluator
  /** What `$(...)` reads: the state of the run. */
  readonly variables: Variables
  readonly conversations: ReadonlyMap<string, Chat>
  /** An internal error of the evaluator; null when there is none. */
  evaluationError: unknown
  /** Appends a run event or a note to the journal. Returns its seq. */
  note(event: RunEvent | NoteContentOf, chatId?: string): number
  chatOf(step: PlannedStep): Chat | null
  interpolate(step: PlannedStep, template: unknown): unknown
  close(): void
}

type NoteContentOf = Omit<NoteContent, 'kind'>

/** What differs between the run of a scenario and the run of a test. */
interface ContextParts extends Pick<RunContext, 'evaluator' | 'variables' | 'conversations' | 'note'> {
  unsubscribe(): void
}

function contextOf(options: RunContextOptions, { unsubscribe, ...parts }: ContextParts): RunContext {
  const core = coreOf(options.sim)
  const journalWaiter = createJournalWaiter(core.journal)
  return {
    ...options,
    ...parts,
    core,
    journalWaiter,
    evaluationError: null,
    chatOf: step => parts.conversations.get(step.conversation) ?? null,
    interpolate: (step, template) => interpolate(template, parts.variables.scopeOf(step.conversation, step.scope)),
    close() {
      unsubscribe()
      journalWaiter.stop()
    },
  }
}

/** The evaluator reads the journal from `scenario_started` on, as it reads a saved journal. */
export async function createRunContext(options: RunContextOptions): Promise<RunContext> {
  const { plan, sim } = options
  const { journal } = coreOf(sim)
  const conversations = new Map<string, Chat>()
  const context = contextOf(options, {
    evaluator: new Evaluator(plan),
    variables: createVariables(plan),
    conversations,
    note: (event, chatId) => {
      const chat = chatId === undefined ? {} : { chat_id: chatId }
      return journal.append({ kind: 'note', ...chat, ...event } as NoteContent, null).seq
    },
    unsubscribe: () => unsubscribe(),
  })
  const unsubscribe = journal.subscribe(entry => {
    try {
      context.evaluator.add(entry)
    } catch (error) {
      context.evaluationError ??= error
    }
  })
  const started = scenarioStarted(context)
  context.variables.start(started)
  context.note(started)
  for (const conversation of plan.conversations) await openConversation(context, conversation, conversations)
  return context
}

function scenarioStarted({ plan, core, driver, seed, instance, env, url, sim }: RunContext): ScenarioStarted {
  return {
    note: 'scenario_started',
    scenario: plan.name,
    file: plan.file,
    instance,
    seed,
    clock: core.clock.mode,
    bot: { id: core.identity.bot.id, name: core.identity.bot.name },
    config: sim.config(),
    env: Object.fromEntries(plan.env.map(name => [name, env[name] ?? ''])),
    sim: { url, api_key: '***', bot_id: core.identity.bot.id },
    driver: driver?.verbs ?? null,
  }
}

/** Derives ids from the name of the conversation, so that other conversations and steps do not change them. */
async function openConversation(
  context: RunContext,
  conversation: ConversationSpec,
  conversations: Map<string, Chat>,
): Promise<void> {
  const { core } = context
  const { knobs } = core.platform
  const seed = scenarioSeed(context.seed, context)
  const scope = { ...context.variables.scopeOf(context.plan.conversations[0]?.name ?? ''), ...conversation.scope }
  const filled = <T>(template: unknown) => interpolate(template, scope) as T
  const user = userFromWire(filled<WireUser | null>(conversation.user))
  const options: ReadChatOptions = {
    id: makeId(knobs['ids.chat'], seed, `lane ${conversation.name}`),
    language: filled(conversation.language),
    source: filled(conversation.source),
    user: user === null ? null : { id: makeId(knobs['ids.user'], seed, `user of ${conversation.name}`), ...user },
    ...(conversation.transcript === null ? {} : { transcript: conversation.transcript }),
    // The conversation of a shipped transcript stays, unless the scenario has a history of its own.
    ...(conversation.transcript !== null && conversation.history.length === 0
      ? {}
      : { history: filled(conversation.history) }),
    ...(conversation.context === null ? {} : { context: filled(conversation.context) }),
    ...(conversation.labels === null ? {} : { labels: filled(conversation.labels) }),
  }
  const chat = await newChat(core, options)
  conversations.set(conversation.name, chat)
  const opened = {
    note: 'conversation',
    chat_id: chat.id,
    conversation: conversation.name,
    chat: driverChat(chat),
  } satisfies ConversationOpened
  context.variables.open(opened)
  context.note(opened, chat.id)
}

export const driverChat = ({ id, userId, language, source, persona }: Chat): DriverChat => ({
  id,
  user_id: userId,
  language,
  source,
  name: persona.fullName ?? '',
})

export interface StepContext {
  readonly context: RunContext
  readonly step: PlannedStep
  /** Seq of the run event that the step has started. */
  readonly startSeq: number
  /** Aborts at the time limit of the scenario, or when the run ends. */
  readonly signal: AbortSignal
  /** Reports what the step waits for, and for at most how long. */
  waiting(what: Awaited, forMs: number): void
}

export interface ActionContext<V extends Verb> extends StepContext {
  readonly action: Extract<Action, { verb: V }>
}

/** Rejects with `StepError` when the step cannot be executed, and with `InterruptedError` when the signal aborts. */
export type StepHandler<V extends Verb> = (stepContext: ActionContext<V>) => StepExecution
export type StepExecution = Promise<StepDetails> | StepDetails

/** Executes a step, and adds the run events of its start and its end. Does not reject when the step fails. */
export async function performStep(
  { context, step, ...rest }: Omit<StepContext, 'startSeq'>,
  execute: (stepContext: StepContext) => StepExecution,
): Promise<StepDetails> {
  const { number, label, action, conversation } = step
  const chatId = context.chatOf(step)?.id
  const startSeq = context.note({ note: 'step_started', step: number, verb: action.verb, label }, chatId)
  const details = await outcomeOf(() => execute({ context, step, startSeq, ...rest }))
  if (details.captured) context.variables.capture(conversation, details.captured)
  context.note({ note: 'step_ended', step: number, ...details }, chatId)
  return details
}

async function outcomeOf(work: () => StepExecution): Promise<StepDetails> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StepError) return { failure: error.failure }
    if (error instanceof InterruptedError) return { interrupted: true }
    if (error instanceof InterpolationError) return { failure: { code: 'not_interpolated', detail: error.message } }
    throw error
  }
}

/** The runner cannot execute a step. */
export class StepError extends Error {
  override readonly name = 'StepError'
  readonly failure: StepFailure

  constructor(failure: StepFailure) {
    super(failure.code)
    this.failure = failure
  }
}
