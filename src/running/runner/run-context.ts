/** Creates the context of a scenario run: its simulator, its chats, its evaluator; and defines what a step receives. */

import { nextMacrotask } from '../../base/runtime/clock.ts'
import type { ConnectionFailure } from '../../base/runtime/connection-failure.ts'
import { hashWords, makeId } from '../../base/runtime/random.ts'
import { Evaluator } from '../../evaluation/evaluator/evaluator.ts'
import type { Awaited } from '../../evaluation/evaluator/words.ts'
import { interpolate } from '../../evaluation/scenario/interpolation.ts'
import type { ConversationSpec, Plan, PlannedStep } from '../../evaluation/scenario/plan.ts'
import type { ConversationOpened, RunEvent, ScenarioStarted } from '../../evaluation/scenario/run-events.ts'
import type { NoteContent } from '../../platform/journal/entry.ts'
import type { StepFailure } from '../../platform/journal/run-failures.ts'
import type { Chat } from '../../platform/rules/state.ts'
import { newChat, type ReadChatOptions, userFromWire, type WireUser } from '../../platform/simulator/new-chat.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { Driver, DriverChat } from '../agent-driver/driver.ts'
import type { WaitContext } from './waiting.ts'

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
export const scenarioSeed = (seed: number, scenario: Pick<RunContextOptions, 'plan' | 'instance'>): number =>
  hashWords(nameOf(scenario), seed)[0]

/** `bad-luck #2` for the second run with `--repeat`. */
export const numberedName = (name: string, instance: number): string => (instance === 1 ? name : `${name} #${instance}`)

export const nameOf = ({ plan, instance }: Pick<RunContextOptions, 'plan' | 'instance'>): string =>
  numberedName(plan.name, instance)

export interface RunContext extends RunContextOptions, WaitContext {
  readonly evaluator: Evaluator
  readonly conversations: ReadonlyMap<string, Chat>
  /** An internal error of the evaluator; null when there is none. */
  evaluationError: unknown
  /** Appends a run event or a note to the journal. Returns its seq. */
  note(event: RunEvent | NoteContentOf, chatId?: string): number
  /** Adds what the target has printed since the scenario began, unless its end is noted already. */
  noteTargetOutput(): void
  chatOf(step: PlannedStep): Chat | null
  interpolate(step: PlannedStep, template: unknown): unknown
  close(): void
}

type NoteContentOf = Omit<NoteContent, 'kind'>

/** The evaluator reads the journal from `scenario_started` on, as it reads a saved journal. */
export async function createRunContext(options: RunContextOptions): Promise<RunContext> {
  const { plan, sim, driver, seed, instance, env, url } = options
  const core = coreOf(sim)
  const { journal, identity, clock } = core
  const { id, name } = identity.bot
  const conversations = new Map<string, Chat>()
  const evaluator = new Evaluator(plan)
  const target = driver?.target ?? null
  // What the target printed before its last answer is read after that answer.
  if (target !== null) await nextMacrotask()
  const printedBefore = target?.printed ?? 0
  let isEndNoted = false
  const context: RunContext = {
    ...options,
    core,
    evaluator,
    conversations,
    evaluationError: null,
    note: (event, chatId) => {
      const chat = chatId === undefined ? {} : { chat_id: chatId }
      return journal.append({ kind: 'note', ...chat, ...event } as NoteContent, null).seq
    },
    noteTargetOutput: () => {
      const output = target?.outputAfter(printedBefore) ?? null
      if (isEndNoted || output === null) return
      isEndNoted = output.ended !== null
      context.note({ note: 'target_output', ...output })
    },
    chatOf: step => conversations.get(step.conversation) ?? null,
    interpolate: (step, template) => interpolate(template, evaluator.variables.scopeOf(step.conversation, step.scope)),
    close: () => {
      unsubscribe()
      unsubscribeTarget?.()
    },
  }
  const unsubscribe = journal.subscribe(entry => {
    try {
      evaluator.add(entry)
    } catch (error) {
      context.evaluationError ??= error
    }
  })
  const started: ScenarioStarted = {
    note: 'scenario_started',
    scenario: plan.name,
    file: plan.file,
    instance,
    seed,
    clock: clock.mode,
    bot: { id, name },
    config: sim.config(),
    env: Object.fromEntries(plan.env.map(variable => [variable, env[variable] ?? ''])),
    sim: { url, api_key: '***', bot_id: id },
    driver: driver?.verbs ?? null,
  }
  context.note(started)
  const unsubscribeTarget = target?.onEnd(context.noteTargetOutput)
  // It may have ended in an earlier scenario.
  if (target?.outputAfter(printedBefore)?.ended != null) context.noteTargetOutput()
  for (const conversation of plan.conversations) await openConversation(context, conversation, conversations)
  return context
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
  const scope = {
    ...context.evaluator.variables.scopeOf(context.plan.conversations[0]?.name ?? ''),
    ...conversation.scope,
  }
  const filled = <T>(template: unknown) => interpolate(template, scope) as T
  const user = userFromWire(filled<WireUser | null>(conversation.user))
  const options: ReadChatOptions = {
    id: makeId(knobs['ids.chat'], seed, `chat of ${conversation.name}`),
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

/** The runner cannot run a step. */
export class StepError extends Error {
  override readonly name = 'StepError'
  readonly failure: StepFailure

  constructor(failure: StepFailure) {
    super(failure.code)
    this.failure = failure
  }
}
