/**
 * Evaluates a simulator inside a test: passes every entry of its journal to the scenario evaluator, together with a plan
 * that grows with each user action and each expectation.
 */
import { Evaluator } from '../evaluation/evaluator/evaluator.ts'
import type { Action, PlannedStep } from '../evaluation/scenario/plan.ts'
import { isRunEvent, type RunEvent } from '../evaluation/scenario/run-events.ts'
import { flow } from '../evaluation/scenario/value-text.ts'
import type { Entry, EntryOf } from '../platform/journal/entry.ts'
import type { Chat } from '../platform/rules/state.ts'
import type { Core } from '../platform/simulator/core.ts'
import { coreOf, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import { contextOf, driverChat, type RunContext, scenarioStarted } from '../running/runner/run-context.ts'
import { createPlanBuilder } from './plan-builder.ts'

const testRuns = new WeakMap<Core, TestRun>()

/** Returns the test run of a simulator. It begins with the first expectation, and again after each reset. */
export function testRunOf(sim: PlatformSimulator): TestRun {
  const core = coreOf(sim)
  const current = testRuns.get(core)
  if (current !== undefined && !current.resetSignal.aborted) return current
  current?.context.close()
  const run = new TestRun(sim, core)
  testRuns.set(core, run)
  return run
}

export class TestRun {
  readonly sim: PlatformSimulator
  readonly core: Core
  readonly planBuilder
  readonly evaluation
  /** The context in which steps of the runner run. It has no driver. */
  readonly context: RunContext
  /** Numbers of steps whose failure was already thrown. */
  readonly reported = new Set<number>()
  /** Labels of steps that have not ended, by number. */
  readonly pending = new Map<number, string>()
  /** `seq` of calls that a matcher has found: they need no expectation. */
  readonly matchedSeqs = new Set<number>()
  /** The number of entries that are not evaluated: they were evicted, or precede a restore. */
  skippedEntries: number
  /** The memory of each entry that is evaluated, in the order of the entries. */
  #sizes: number[] = []
  #size = 0
  /** Aborts with the next reset. */
  readonly resetSignal: AbortSignal
  readonly #conversations = new Map<string, Chat>()
  readonly #names = new Map<string, string>()
  readonly #stepByEntry = new Map<number, PlannedStep>()
  readonly #stepByDelivery = new Map<string, PlannedStep>()

  constructor(sim: PlatformSimulator, core: Core) {
    this.sim = sim
    this.core = core
    this.planBuilder = createPlanBuilder(core)
    this.evaluation = new Evaluator(this.planBuilder.plan)
    const { firstSeq } = core.journal
    this.skippedEntries = Math.max(firstSeq, core.restorePoint.seq) - 1
    if (firstSeq > core.restorePoint.seq) this.evaluation.index.firstSeq = firstSeq
    this.resetSignal = core.epoch.signal()
    this.context = this.#createContext(() => unsubscribe())
    this.#start()
    const unsubscribe = core.journal.subscribe(entry => this.#record(entry))
  }

  /** Returns the conversation of a chat: the empty name for a chat that the simulator does not have. */
  conversationOf(chatId: string | null | undefined): string {
    return this.#names.get(chatId ?? '') ?? ''
  }

  addStep(conversation: string, action: Action, label: string, id?: string): PlannedStep {
    const step = this.planBuilder.addStep(conversation, action, label, id)
    this.evaluation.addStep(step)
    return step
  }

  #createContext(unsubscribe: () => void): RunContext {
    const { sim, core, evaluation } = this
    const { plan } = evaluation.index
    return contextOf(
      { plan, sim, driver: null, seed: core.identity.seed, instance: 1, env: {}, url: sim.baseUrl },
      {
        evaluator: evaluation,
        variables: evaluation.variables,
        conversations: this.#conversations,
        note: (content, chatId) => this.#note(content as RunEvent, chatId),
        unsubscribe,
      },
    )
  }

  /** Adds a note after the latest entry. Returns its `seq`, which lies between those of two entries. */
  #note(content: RunEvent, chatId?: string): number {
    const { nextSeq, atMs } = this.core.journal
    const chat = chatId === undefined ? {} : { chat_id: chatId }
    this.#evaluate(noteEntry({ ...chat, ...content }, { seq: nextSeq - 0.5, time: '', at_ms: atMs }))
    return nextSeq - 0.5
  }

  /** Entries of the journal, and the notes between them that begin and end steps. */
  get entries(): readonly Entry[] {
    return this.evaluation.index.entries
  }

  #evaluate(entry: Entry): void {
    const size = NOTE_BYTES + this.core.journal.sizeOf(entry.seq)
    this.#sizes.push(size)
    this.#size += size
    this.evaluation.add(entry)
    if (this.#size > this.core.memoryLimit) this.#evict()
  }

  /** Drops the oldest entries. They are in the journal no longer, or will not be long. */
  #evict(): void {
    const { entries } = this
    const kept = this.core.memoryLimit * KEPT_SHARE
    let count = 0
    for (; this.#size > kept && count < entries.length - 1; count++) this.#size -= this.#sizes[count] ?? 0
    const firstSeq = Math.ceil(entries[count]?.seq ?? 0)
    const before = entries.length
    this.planBuilder.evict(this.evaluation.evict(firstSeq))
    this.#sizes = this.#sizes.slice(before - this.entries.length)
    this.#size = this.#sizes.reduce((sum, size) => sum + size, 0)
    this.skippedEntries = firstSeq - 1
    for (const [seq] of this.#stepByEntry) if (seq < firstSeq) this.#stepByEntry.delete(seq)
    const { steps } = this.evaluation.index
    for (const [id, { number }] of this.#stepByDelivery) if (!steps.has(number)) this.#stepByDelivery.delete(id)
  }

  /** Records the existing entries, after the chats that have no entry. */
  #start(): void {
    const entries = currentEntries(this.core)
    const at_ms = entries[0]?.at_ms ?? this.core.journal.atMs
    const start = noteEntry(scenarioStarted(this.context), { seq: 0.5, time: '', at_ms })
    this.#evaluate(start)
    for (const chat of chatsWithoutEntry(this.core, entries)) this.#addConversation(start, chat)
    for (const entry of entries) this.#record(entry)
  }

  #addConversation(entry: Entry, chat: Chat): void {
    const conversation = freeName(chat, this.#conversations)
    this.#conversations.set(conversation, chat)
    this.#names.set(chat.id, conversation)
    this.planBuilder.addConversation(conversation)
    const described = { ...driverChat(chat), bot_id: chat.botId }
    this.#evaluate(noteEntry({ note: 'conversation', chat_id: chat.id, conversation, chat: described }, entry))
  }

  #record(entry: Entry): void {
    if (entry.kind === 'user') this.#recordUser(entry)
    else if (entry.kind === 'note') this.#recordNote(entry)
    else {
      this.#evaluate(entry)
      if (entry.kind === 'event') this.#linkEvent(entry)
      if (entry.kind === 'delivery') this.#endUndelivered(entry)
    }
  }

  /** Turns a user action into a step, which begins with its entry and ends with the event it causes. */
  #recordUser(entry: EntryOf<'user'>): void {
    const step = this.addStep(this.conversationOf(entry.chat_id), actionOf(entry), labelOf(entry), stepIdOf(entry.seq))
    const { number, action, label } = step
    this.#stepByEntry.set(entry.seq, step)
    this.#evaluate(noteAfter(entry, { note: 'step_started', step: number, verb: action.verb, label }))
    this.#evaluate(entry)
    this.#endUserStep(entry, step)
  }

  #endUserStep(entry: Entry, { number }: PlannedStep, details: { readonly delivery_id?: string } = {}): void {
    this.#evaluate(noteAfter(entry, { note: 'step_ended', step: number, ...details }))
  }

  #linkEvent(entry: EntryOf<'event'>): void {
    const step = this.#stepByEntry.get(entry.cause ?? 0)
    if (step === undefined) return
    this.#stepByDelivery.set(entry.delivery_id, step)
    this.#endUserStep(entry, step, { delivery_id: entry.delivery_id })
  }

  /** Ends the step without an event if the event was not sent, or was changed by a fault: it needs no answer. */
  #endUndelivered(entry: EntryOf<'delivery'>): void {
    const step = this.#stepByDelivery.get(entry.delivery_id)
    const needsNoAnswer = entry.outcome === 'skipped' || (entry.outcome === 'failed' && entry.faults !== undefined)
    if (step !== undefined && needsNoAnswer) this.#endUserStep(entry, step)
  }

  #recordNote(entry: EntryOf<'note'>): void {
    if (isRunEvent(entry, ...RUN_EVENTS)) return
    const chat = entry.note === 'chat_created' ? this.core.platform.state.chats.get(entry.chat_id ?? '') : undefined
    if (chat !== undefined) this.#addConversation(entry, chat)
    this.#evaluate(entry)
  }
}

/** The memory of an entry of the evaluation beside that of the journal's entry: notes, steps and indexes. */
const NOTE_BYTES = 512

/** Entries are evicted down to this share of the limit, so that the next entries evict nothing. */
const KEPT_SHARE = 15 / 16

/** Notes of a scenario that ran on this simulator before. */
const RUN_EVENTS = [
  'scenario_started',
  'conversation',
  'step_started',
  'step_ended',
  'observed',
  'steps_done',
  'scenario_ended',
] as const

/** Entries before a restore belong to another test, even if the snapshot contains them. */
const currentEntries = ({ journal, restorePoint }: Core): Entry[] => journal.query({ after: restorePoint.seq - 1 })

/** Chats without a `chat_created` entry: a snapshot contained them, or the entry was evicted. */
function chatsWithoutEntry(core: Core, entries: readonly Entry[]): Chat[] {
  const created = entries.filter(entry => entry.kind === 'note' && entry.note === 'chat_created')
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

/** The step id of a user's entry, which `since` refers to. */
export const stepIdOf = (seq: number): string => `#${seq}`

/** Creates a note that is not in the journal itself. */
function noteEntry(
  content: RunEvent & { readonly chat_id?: string },
  { seq, time, at_ms }: Pick<Entry, 'seq' | 'time' | 'at_ms'>,
): EntryOf<'note'> {
  return { kind: 'note', v: 1, seq, time, cause: null, at_ms, ...content }
}

/** Creates a note with a `seq` between the entry and the next one, so that the two cannot be mixed up. */
const noteAfter = ({ seq, at_ms, time, chat_id }: Entry, content: RunEvent): EntryOf<'note'> =>
  noteEntry({ ...(chat_id === undefined ? {} : { chat_id }), ...content }, { seq: seq + 0.5, at_ms, time })

const ANY_ACK = { ack: 200, async: true } as const

const actionOf = ({ action, text = '', button = '' }: EntryOf<'user'>): Action =>
  action === 'press' ? { verb: 'press', button, ...ANY_ACK } : { verb: 'user', text, attach: [], ...ANY_ACK }

const labelOf = ({ action, text = '', button = '' }: EntryOf<'user'>): string =>
  action === 'press' ? `press ${flow(button, 40)}` : `says ${flow(text, 40)}`
