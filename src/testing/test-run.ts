/**
 * The judge of scenarios beside a simulator in a test: shown every entry of the journal, and asked whenever the test
 * expects something. What the user did is read from the journal too, so nothing has to be told twice.
 */

import { createIncrementalEvaluation, type Evaluation, type IncrementalEvaluation } from '../evaluator/evaluation.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import type { Chat } from '../platform/state.ts'
import { driverChat, type RunContext } from '../runner/run-context.ts'
import { createJournalWaiter } from '../runner/waiting.ts'
import type { Action } from '../scenario/action.ts'
import { interpolate } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { RunEvent } from '../scenario/run-events.ts'
import type { Core } from '../simulator/core.ts'
import { coreOf, type PlatformSimulator } from '../simulator/simulator.ts'
import { createIncrementalPlan, type IncrementalPlan } from './plan-builder.ts'
import { createJournalToSteps } from './user-steps.ts'

export interface Session {
  readonly sim: PlatformSimulator
  readonly core: Core
  readonly evaluation: Evaluation
  readonly incremental: IncrementalPlan
  /** For the player's own verbs; without a driver. */
  readonly context: RunContext
  /** Entries, with the marks that stand between them. */
  readonly tape: readonly Entry[]
  /** Steps whose failure a test has been told. */
  readonly told: Set<number>
  /** Labels of steps that still wait, by number. */
  readonly waiting: Map<number, string>
  /** Calls a matcher has found: they need no expectation. */
  readonly accepted: Set<number>
  /** Entries that left the journal before anybody looked, or came before a restore. */
  readonly missed: number
  /** Aborts with the next reset. */
  readonly over: AbortSignal
  /** Empty when the simulator has no such chat. */
  conversationOf(chatId: string | null): string
  begin(conversation: string, action: Action, label: string): { readonly step: PlannedStep; readonly startSeq: number }
  end(step: PlannedStep, details?: Readonly<Record<string, unknown>>): void
}

const sessions = new WeakMap<Core, Session>()

/** Begun when something is first expected, and anew after a reset. */
export function sessionOf(sim: PlatformSimulator): Session {
  const core = coreOf(sim)
  const known = sessions.get(core)
  if (known !== undefined && !known.over.aborted) return known
  known?.context.close()
  const session = openSession(sim, core)
  sessions.set(core, session)
  return session
}

function openSession(sim: PlatformSimulator, core: Core): Session {
  const { journal } = core
  const incremental = createIncrementalPlan(core)
  const open = createIncrementalEvaluation(incremental.plan)
  const tape: Entry[] = []
  const conversations = new Map<string, Chat>()
  const names = new Map<string, string>()

  function show(entry: Entry): void {
    tape.push(entry)
    open.evaluator.see(entry)
  }
  /** Between two entries, so that no entry is taken for it. */
  function mark(content: RunEvent, chatId?: string): number {
    const seq = journal.nextSeq - 0.5
    const chat = chatId === undefined ? {} : { chat_id: chatId }
    show({ kind: 'note', v: 1, seq, time: '', cause: null, at_ms: journal.atMs, ...chat, ...content } as Entry)
    return seq
  }
  const grow = (...step: Parameters<IncrementalPlan['addStep']>): PlannedStep => {
    const added = incremental.addStep(...step)
    open.grow(added)
    return added
  }
  const journalToSteps = createJournalToSteps({
    core,
    show,
    grow,
    addConversation,
    conversationOf: id => names.get(id) ?? '',
  })

  function addConversation({ seq, at_ms, time }: Entry, chat: Chat): void {
    const conversation = freeName(chat, conversations)
    conversations.set(conversation, chat)
    names.set(chat.id, conversation)
    incremental.addConversation(conversation)
    const content = {
      note: 'conversation',
      chat_id: chat.id,
      conversation,
      chat: { ...driverChat(chat), bot_id: chat.botId },
    } satisfies RunEvent
    show({ kind: 'note', v: 1, seq, time, cause: null, at_ms, ...content } as EntryOf<'note'>)
  }

  const start = startOf(sim, core)
  show(start)
  for (const chat of unannounced(core)) addConversation(start, chat)
  const missed = Math.max(journal.firstSeq, core.inner.past.before) - 1
  for (const entry of toldEntries(core)) journalToSteps.tell(entry)
  const unwatch = journal.subscribe(journalToSteps.tell)
  const context = runContextOf({ sim, core, open, conversations, mark, unwatch })
  return {
    sim,
    core,
    evaluation: open.evaluation,
    incremental,
    context,
    tape,
    told: new Set(),
    waiting: new Map(),
    accepted: new Set(),
    missed,
    over: core.resetSignal(),
    conversationOf: id => names.get(id ?? '') ?? '',
    begin(conversation, action, label) {
      const step = grow(conversation, action, label)
      const startSeq = mark(
        { note: 'step_started', step: step.number, verb: action.verb, label },
        conversations.get(conversation)?.id,
      )
      return { step, startSeq }
    },
    end: (step, details = {}) =>
      void mark({ note: 'step_ended', step: step.number, ...details }, conversations.get(step.conversation)?.id),
  }
}

/** What came before a restore is the past of another test, also when its journal came with it. */
const toldEntries = ({ journal, inner }: Core): Entry[] => journal.query({ after: inner.past.before - 1 })

/** Chats whose beginning is not told: a snapshot brought them, or the entry has left the journal. */
function unannounced(core: Core): Chat[] {
  const isTold = (entry: Entry) => entry.kind === 'note' && entry.note === 'chat_created'
  const told = new Set(toldEntries(core).flatMap(entry => (isTold(entry) ? [entry.chat_id] : [])))
  return [...core.platform.state.chats.values()].filter(({ id }) => !told.has(id))
}

/** A chat goes by its user's first name. */
function freeName({ id, persona }: Chat, taken: ReadonlyMap<string, unknown>): string {
  const name = persona.firstName ?? id.slice(0, 8)
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${name} ${count}`
    if (!taken.has(candidate)) return candidate
  }
}

function startOf(sim: PlatformSimulator, core: Core): Entry {
  const [first] = toldEntries(core)
  const content: RunEvent = {
    note: 'scenario_started',
    scenario: 'this test',
    file: '',
    instance: 1,
    seed: core.seed,
    clock: core.clock.mode,
    bot: { id: core.bot.id, name: core.bot.name },
    config: sim.config(),
    env: {},
    sim: { url: sim.baseUrl, api_key: '***', bot_id: core.bot.id },
    driver: null,
  }
  const at_ms = first?.at_ms ?? core.journal.atMs
  return { kind: 'note', v: 1, seq: 0.5, time: '', cause: null, at_ms, ...content } as unknown as Entry
}

interface RunContextParts {
  readonly sim: PlatformSimulator
  readonly core: Core
  readonly open: IncrementalEvaluation
  readonly conversations: ReadonlyMap<string, Chat>
  mark(content: RunEvent, chatId?: string): number
  unwatch(): void
}

function runContextOf({ sim, core, open, conversations, mark, unwatch }: RunContextParts): RunContext {
  const journalWaiter = createJournalWaiter(core.journal)
  const { evaluator, evaluation } = open
  return {
    plan: evaluation.index.plan,
    sim,
    driver: null,
    seed: core.seed,
    instance: 1,
    env: {},
    url: sim.baseUrl,
    core,
    evaluator,
    journalWaiter,
    conversations,
    evaluationError: null,
    note: (content, chatId) => mark(content as RunEvent, chatId),
    chatOf: ({ conversation }) => conversations.get(conversation) ?? null,
    scopeOf: ({ number }) => evaluator.scopeOf(number),
    interpolate: ({ number }, template) => interpolate(template, evaluator.scopeOf(number)),
    close() {
      unwatch()
      journalWaiter.stop()
    },
  }
}
