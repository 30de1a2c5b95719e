/**
 * Evaluates a simulator inside a test: passes every entry of its journal to the scenario evaluator, together with a plan
 * that grows with each user action and each expectation.
 */
import type { Evaluation } from '../evaluator/evaluation.ts'
import { createIncrementalEvaluation, type IncrementalEvaluation } from '../evaluator/evaluator.ts'
import type { Entry } from '../journal/entry.ts'
import type { Chat } from '../platform/state.ts'
import { driverChat, type RunContext } from '../runner/run-context.ts'
import { createJournalWaiter } from '../runner/waiting.ts'
import { interpolate } from '../scenario/interpolation.ts'
import type { Action, PlannedStep } from '../scenario/plan.ts'
import type { RunEvent } from '../scenario/run-events.ts'
import type { Core } from '../simulator/core.ts'
import { coreOf, type PlatformSimulator } from '../simulator/simulator.ts'
import { createPlanBuilder, createUserSteps, noteEntry, type PlanBuilder } from './plan-builder.ts'

export interface TestRun {
  readonly sim: PlatformSimulator
  readonly core: Core
  readonly evaluation: Evaluation
  readonly planBuilder: PlanBuilder
  /** The context in which steps of the runner run. It has no driver. */
  readonly context: RunContext
  /** Entries of the journal, and the notes between them that begin and end steps. */
  readonly entries: readonly Entry[]
  /** Numbers of steps whose failure was already thrown. */
  readonly reported: Set<number>
  /** Labels of steps that have not ended, by number. */
  readonly pending: Map<number, string>
  /** `seq` of calls that a matcher has found: they need no expectation. */
  readonly matchedSeqs: Set<number>
  /** The number of entries that are not evaluated: they were evicted, or precede a restore. */
  readonly skippedEntries: number
  /** Aborts with the next reset. */
  readonly resetSignal: AbortSignal
  /** Returns the empty name for a chat that the simulator does not have. */
  conversationOf(chatId: string | null): string
  beginStep(conversation: string, action: Action, label: string): StartedStep
  endStep(step: PlannedStep): void
}

export interface StartedStep {
  readonly step: PlannedStep
  readonly startSeq: number
}

const testRuns = new WeakMap<Core, TestRun>()

/** Returns the test run of a simulator. It begins with the first expectation, and again after each reset. */
export function testRunOf(sim: PlatformSimulator): TestRun {
  const core = coreOf(sim)
  const current = testRuns.get(core)
  if (current !== undefined && !current.resetSignal.aborted) return current
  current?.context.close()
  const run = startTestRun(sim, core)
  testRuns.set(core, run)
  return run
}

function startTestRun(sim: PlatformSimulator, core: Core): TestRun {
  const recorder = createRecorder(core)
  const { conversations, addStep, note, nameOf } = recorder
  const unsubscribe = recordJournal(sim, core, recorder)
  const context = createTestContext({ sim, core, recorder, unsubscribe })
  const chatIdOf = (conversation: string) => conversations.get(conversation)?.id
  return {
    sim,
    core,
    evaluation: recorder.evaluation,
    planBuilder: recorder.planBuilder,
    context,
    entries: recorder.entries,
    reported: new Set(),
    pending: new Map(),
    matchedSeqs: new Set(),
    skippedEntries: Math.max(core.journal.firstSeq, core.restorePoint.seq) - 1,
    resetSignal: core.epoch.signal(),
    conversationOf: id => nameOf(id ?? ''),
    beginStep(conversation, action, label) {
      const step = addStep(conversation, action, label)
      const started: RunEvent = { note: 'step_started', step: step.number, verb: action.verb, label }
      return { step, startSeq: note(started, chatIdOf(conversation)) }
    },
    endStep: ({ number, conversation }) => void note({ note: 'step_ended', step: number }, chatIdOf(conversation)),
  }
}

/** Passes entries and steps to the evaluator. */
interface Recorder extends Pick<IncrementalEvaluation, 'evaluation' | 'evaluator'> {
  readonly planBuilder: PlanBuilder
  readonly entries: readonly Entry[]
  readonly conversations: ReadonlyMap<string, Chat>
  evaluate(entry: Entry): void
  /** Adds a note after the latest entry. Its `seq`, which it returns, lies between those of two entries. */
  note(content: RunEvent, chatId?: string): number
  addStep: PlanBuilder['addStep']
  addConversation(entry: Entry, chat: Chat): void
  /** The conversation of a chat; empty for an unknown chat. */
  nameOf(chatId: string): string
}

function createRecorder(core: Core): Recorder {
  const planBuilder = createPlanBuilder(core)
  const { evaluation, evaluator, addStep: extend } = createIncrementalEvaluation(planBuilder.plan)
  const entries: Entry[] = []
  const conversations = new Map<string, Chat>()
  const names = new Map<string, string>()

  function evaluate(entry: Entry): void {
    entries.push(entry)
    evaluator.add(entry)
  }

  return {
    evaluation,
    evaluator,
    planBuilder,
    entries,
    conversations,
    evaluate,
    note(content, chatId) {
      const { nextSeq, atMs } = core.journal
      const chat = chatId === undefined ? {} : { chat_id: chatId }
      evaluate(noteEntry({ ...chat, ...content }, { seq: nextSeq - 0.5, time: '', at_ms: atMs }))
      return nextSeq - 0.5
    },
    addStep(...step) {
      const added = planBuilder.addStep(...step)
      extend(added)
      return added
    },
    addConversation(entry, chat) {
      const conversation = freeName(chat, conversations)
      conversations.set(conversation, chat)
      names.set(chat.id, conversation)
      planBuilder.addConversation(conversation)
      const described = { ...driverChat(chat), bot_id: chat.botId }
      evaluate(noteEntry({ note: 'conversation', chat_id: chat.id, conversation, chat: described }, entry))
    },
    nameOf: id => names.get(id) ?? '',
  }
}

/** Records the existing entries and all later ones. Returns a function that ends the subscription. */
function recordJournal(sim: PlatformSimulator, core: Core, recorder: Recorder): () => void {
  const { evaluate, addStep, addConversation, nameOf } = recorder
  const start = startOf(sim, core)
  evaluate(start)
  for (const chat of chatsWithoutEntry(core)) addConversation(start, chat)
  const record = createUserSteps({ core, evaluate, addStep, addConversation, conversationOf: nameOf })
  for (const entry of currentEntries(core)) record(entry)
  return core.journal.subscribe(record)
}

/** Entries before a restore belong to another test, even if the snapshot contains them. */
const currentEntries = ({ journal, restorePoint }: Core): Entry[] => journal.query({ after: restorePoint.seq - 1 })

/** Chats without a `chat_created` entry: a snapshot contained them, or the entry was evicted. */
function chatsWithoutEntry(core: Core): Chat[] {
  const created = currentEntries(core).filter(entry => entry.kind === 'note' && entry.note === 'chat_created')
  const ids = new Set(created.map(entry => entry.chat_id))
  return [...core.platform.state.chats.values()].filter(({ id }) => !ids.has(id))
}

/** Names a chat after the first name of its user. */
function freeName({ id, persona }: Chat, taken: ReadonlyMap<string, unknown>): string {
  const name = persona.firstName ?? id.slice(0, 8)
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${name} ${count}`
    if (!taken.has(candidate)) return candidate
  }
}

function startOf(sim: PlatformSimulator, core: Core): Entry {
  const [first] = currentEntries(core)
  const content: RunEvent = {
    note: 'scenario_started',
    scenario: 'this test',
    file: '',
    instance: 1,
    seed: core.identity.seed,
    clock: core.clock.mode,
    bot: { id: core.identity.bot.id, name: core.identity.bot.name },
    config: sim.config(),
    env: {},
    sim: { url: sim.baseUrl, api_key: '***', bot_id: core.identity.bot.id },
    driver: null,
  }
  return noteEntry(content, { seq: 0.5, time: '', at_ms: first?.at_ms ?? core.journal.atMs })
}

interface TestContextPorts {
  readonly sim: PlatformSimulator
  readonly core: Core
  readonly recorder: Recorder
  unsubscribe(): void
}

function createTestContext({ sim, core, recorder, unsubscribe }: TestContextPorts): RunContext {
  const journalWaiter = createJournalWaiter(core.journal)
  const { evaluator, evaluation, conversations, note } = recorder
  return {
    plan: evaluation.index.plan,
    sim,
    driver: null,
    seed: core.identity.seed,
    instance: 1,
    env: {},
    url: sim.baseUrl,
    core,
    evaluator,
    journalWaiter,
    conversations,
    evaluationError: null,
    note: (content, chatId) => note(content as RunEvent, chatId),
    chatOf: ({ conversation }) => conversations.get(conversation) ?? null,
    variables: evaluation.variables,
    interpolate: ({ number }, template) => interpolate(template, evaluation.scopeOf(number)),
    close() {
      unsubscribe()
      journalWaiter.stop()
    },
  }
}
