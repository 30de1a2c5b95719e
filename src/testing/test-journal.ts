/** Reads the journal of a simulator for the expectations of a test, and remembers which calls they have claimed. */

import { BEGINNING, ClaimRegistry, InboxClaims, type Moment } from '../evaluation/evaluator/claims.ts'
import { explainedSeqs } from '../evaluation/evaluator/compute-verdict.ts'
import { ExpectEvaluator } from '../evaluation/evaluator/expect.ts'
import { type ConversationKey, JournalIndex } from '../evaluation/evaluator/journal-index.ts'
import { SeesEvaluator } from '../evaluation/evaluator/sees.ts'
import {
  type Deadline,
  type EvaluatedStep,
  FAILED,
  type Filled,
  PatternGuard,
  type StepEvaluator,
  type StepStatus,
  type StepWindows,
  type Stimulus,
  stepRef,
} from '../evaluation/evaluator/step-evaluator.ts'
import { driverResult } from '../evaluation/evaluator/stimulus.ts'
import type { CallReview } from '../evaluation/evaluator/unclaimed-calls.ts'
import type { Failure, FailureDetails } from '../evaluation/finding.ts'
import type { Plan } from '../evaluation/scenario/plan.ts'
import { flow } from '../evaluation/scenario/value-text.ts'
import type { Entry, EntryOf } from '../platform/journal/entry.ts'
import type { Core } from '../platform/simulator/core.ts'
import { checkOpen, coreOf, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import type { WaitContext } from '../running/runner/waiting.ts'

/** The property of the parts of a simulator that has its test journal. */
const TEST_JOURNAL = Symbol('test journal')

/** Returns the test journal of a simulator. It begins with the first expectation, and again after each reset. */
export function testJournalOf(sim: PlatformSimulator): TestJournal {
  const core = coreOf(sim)
  checkOpen(core, 'expect something')
  const current: TestJournal | undefined = Reflect.get(core, TEST_JOURNAL)
  if (current !== undefined && !current.resetSignal.aborted) return current
  const journal = new TestJournal(sim, core)
  Object.defineProperty(core, TEST_JOURNAL, { value: journal, configurable: true })
  return journal
}

/** The default of `within`: shorter than the 2 s after which mocha gives up without a reason, and the 5 s of other test runners. */
export const DEFAULT_WAIT_MS = 1_800
const TIMEOUTS = { ackMs: 10_000, expectMs: DEFAULT_WAIT_MS, settleMs: 0, scenarioMs: Number.POSITIVE_INFINITY }

/** Calls that only read need no expectation. */
const READING_CALLS: Plan['strict']['allow'] = ['transcript', 'summarize', 'chat']

/** One expectation of a test, numbered in the order in which they begin. */
export interface TestExpectation extends EvaluatedStep {
  /** Null for the bot. */
  readonly chatId: string | null
  readonly start: Pick<Entry, 'seq' | 'at_ms'>
  /** Null while it is running. */
  end: { readonly at_ms: number } | null
  readonly turn: Moment
  readonly waitMs: number
}

/** What an expectation is about, and for how long it waits. */
export interface ExpectationOptions extends Pick<TestExpectation, 'chatId' | 'label' | 'waitMs'> {
  readonly create: (journal: TestJournal, expectation: TestExpectation) => StepEvaluator
}

/** The calls of a chat that its expectations consider. */
interface Turn {
  /** The first user action since the last expectation of the chat before it. */
  readonly start: Moment
  /** Whether the journal had every action since that expectation, so that none before `start` was evicted. */
  readonly isCertain: boolean
  /** The last entry when the latest expectation of the chat began. */
  readonly checkedTo: number
}

export class TestJournal implements CallReview, StepWindows, WaitContext {
  readonly windows = this
  readonly sim: PlatformSimulator
  readonly core: Core
  /** Aborts with the next reset. */
  readonly resetSignal: AbortSignal
  index: JournalIndex
  readonly claims = new ClaimRegistry()
  readonly inboxClaims = new InboxClaims()
  readonly guard = new PatternGuard()
  readonly options = {}
  readonly expects = new Map<number, ExpectEvaluator>()
  mentionsAvailability = false
  strict: Plan['strict'] = { unexpected: 'fail', contract: 'fail', allow: READING_CALLS }
  /** `seq` of calls that a matcher has found: they need no expectation. */
  readonly matchedSeqs = new Set<number>()
  /** `seq` of the entries that the failures of expectations name. */
  readonly explainedSeqs = new Set<number>()
  /** The numbers of expectations that have failed. */
  readonly reportedNumbers = new Set<number | null>()
  readonly expectations = new Map<number, TestExpectation>()
  readonly #open = new Map<number, StepEvaluator>()
  /** The names of all chats by their ids. */
  readonly names = new Map<string, string>()
  readonly #turns = new Map<string, Turn>()
  #count = 0
  /** The first entry that belongs to the test: those before a restore belong to another one. */
  readonly #startSeq: number
  /** The entry that is read next. */
  #nextSeq: number

  constructor(sim: PlatformSimulator, core: Core) {
    this.sim = sim
    this.core = core
    this.resetSignal = core.work.epoch.signal()
    this.#startSeq = core.numbering.restorePoint.seq
    this.#nextSeq = this.#startSeq
    this.index = this.#createIndex()
    this.read()
  }

  /** Reads the entries since the last time, and evaluates the open expectations with them. */
  read(): void {
    const { journal } = this.core
    if (this.resetSignal.aborted) return
    this.#nameChats()
    if (journal.nextSeq === this.#nextSeq) return
    // Begins again with what the journal has, once most of what was read is evicted.
    if (this.index.entries.length > 2 * (journal.nextSeq - journal.firstSeq)) this.#dropEvicted()
    for (const entry of journal.query({ after: this.#nextSeq - 1 })) this.index.add(entry)
    this.#nextSeq = journal.nextSeq
    // Expected calls first: a claimed call fails no `expectNone`.
    const evaluators = [...this.#open.values()]
    for (const isExpected of [true, false])
      for (const evaluator of evaluators)
        if (evaluator instanceof ExpectEvaluator === isExpected) this.#consider(evaluator)
  }

  #consider(evaluator: StepEvaluator): void {
    this.guard.run(evaluator.step.number, undefined, () => evaluator.consider())
  }

  #createIndex(): JournalIndex {
    const { sim, core } = this
    const [first] = core.journal.query({ after: this.#startSeq - 1, limit: 1 })
    const index = new JournalIndex({ name: 'this test', timeouts: TIMEOUTS, audience: 'test' })
    const { id, name } = core.identity.bot
    const at_ms = first?.at_ms ?? core.journal.atMs
    index.started = { bot: { id, name }, config: sim.config(), sim: { url: sim.baseUrl }, driver: null, seq: 0, at_ms }
    for (const [chatId, conversation] of this.names)
      index.openConversation(conversation, chatId, core.platform.state.chats.get(chatId)?.botId)
    return index
  }

  #dropEvicted(): void {
    const { firstSeq } = this
    this.index = this.#createIndex()
    this.#nextSeq = Math.max(firstSeq, this.#startSeq)
    this.claims.removeBefore(firstSeq)
    for (const seqs of [this.matchedSeqs, this.explainedSeqs])
      for (const seq of seqs) if (seq < firstSeq) seqs.delete(seq)
    for (const [number, { start }] of this.expectations) {
      const claimed = this.expects.get(number)?.claimed ?? []
      if (start.seq >= firstSeq || this.#open.has(number) || claimed.some(({ seq }) => seq >= firstSeq)) continue
      for (const map of [this.expectations, this.expects]) map.delete(number)
    }
  }

  /** Names each chat after the first name of its user. */
  #nameChats(): void {
    const { chats } = this.core.platform.state
    if (chats.size === this.names.size) return
    const usedNames = new Set(this.names.values())
    for (const { id, botId, persona } of chats.values()) {
      if (this.names.has(id)) continue
      const first = persona.firstName ?? id.slice(0, 8)
      let name = first
      for (let count = 2; usedNames.has(name); count++) name = `${first} ${count}`
      usedNames.add(name)
      this.names.set(id, name)
      this.index.openConversation(name, id, botId)
    }
  }

  /** The name of a chat; empty for one that the simulator does not have, and for the bot. */
  nameOf(chatId: string | null | undefined): string {
    return this.names.get(chatId ?? '') ?? ''
  }

  get conversations(): string[] {
    return [...this.names.values()]
  }

  get firstSeq(): number {
    return this.core.journal.firstSeq
  }

  /** The number of entries that are not considered: they were evicted, or precede a restore. */
  get skippedEntries(): number {
    return Math.max(this.firstSeq, this.#startSeq) - 1
  }

  /** Whether no entry about the chat, or about any chat, was evicted. */
  isComplete(chatId: string | null): boolean {
    if (this.firstSeq <= this.#startSeq) return true
    if (chatId === null) return false
    return this.core.journal.query({ kind: 'note', chatId }).some(({ note }) => note === 'chat_created')
  }

  /** Begins an expectation, which considers what the journal has, and whatever comes until it ends. */
  begin({ chatId, label, waitMs, create }: ExpectationOptions): TestExpectation {
    this.read()
    const { journal } = this.core
    const number = ++this.#count
    const expectation: TestExpectation = {
      number,
      id: null,
      name: null,
      label,
      conversation: this.nameOf(chatId),
      place: null,
      level: 'must',
      soft: false,
      chatId,
      start: { seq: journal.nextSeq - 1, at_ms: journal.atMs },
      end: null,
      turn: this.#openTurn(chatId),
      waitMs,
    }
    this.expectations.set(number, expectation)
    const evaluator = create(this, expectation)
    if (evaluator instanceof ExpectEvaluator) {
      this.expects.set(number, evaluator)
      if (chatId === null) this.mentionsAvailability = true
    }
    this.#open.set(number, evaluator)
    this.#consider(evaluator)
    return expectation
  }

  #openTurn(chatId: string | null): Moment {
    if (chatId === null) return BEGINNING
    const { journal } = this.core
    const before = this.#turns.get(chatId) ?? { start: BEGINNING, isCertain: true, checkedTo: this.#startSeq - 1 }
    const [action] = journal.query({ kind: 'user', chatId, after: before.checkedTo, limit: 1 })
    const start = action === undefined ? before.start : momentOf(action)
    const isCertain = action === undefined ? before.isCertain : journal.firstSeq <= before.checkedTo + 1
    this.#turns.set(chatId, { start, isCertain, checkedTo: journal.nextSeq - 1 })
    return start
  }

  status({ number }: TestExpectation): StepStatus {
    this.read()
    const { atMs } = this.core.journal
    return this.guard.run(number, FAILED, () => this.#open.get(number)?.status(atMs) ?? FAILED)
  }

  /** Ends an expectation. Returns its failure, or null when it was met. */
  end(expectation: TestExpectation): Failure | null {
    const { number, start, label } = expectation
    const { state } = this.status(expectation)
    const evaluator = this.#open.get(number)
    this.#open.delete(number)
    expectation.end = { at_ms: this.core.journal.atMs }
    if (evaluator === undefined || this.resetSignal.aborted) return null
    evaluator.close()
    const failed = this.guard.run(number, null, () => {
      const excess = evaluator instanceof SeesEvaluator && state === 'met' ? evaluator.excess() : null
      if (state === 'met') return excess
      const driverFailure =
        evaluator instanceof SeesEvaluator ? driverResult(this.index, label, start.seq)?.failure : undefined
      return driverFailure ?? evaluator.failure()
    })
    const details = this.guard.failureOf(number) ?? failed
    if (details === null) return null
    this.reportedNumbers.add(number)
    for (const seq of explainedSeqs(details)) this.explainedSeqs.add(seq)
    return this.attribute(details, expectation)
  }

  /** Adds the place to a failure. The bot has no chat. */
  attribute(details: FailureDetails, step: EvaluatedStep | null, conversation = step?.conversation ?? null): Failure {
    // `main` is the name of an only chat, which reports leave out.
    const ref = step === null ? null : stepRef({ ...step, conversation: step.conversation || 'main' }, this.#count)
    return { ...details, step: ref, conversation: conversation || null, soft: false }
  }

  get openLabel(): string | undefined {
    const [evaluator] = this.#open.values()
    return evaluator?.step.label
  }

  #get({ number }: EvaluatedStep): TestExpectation {
    const expectation = this.expectations.get(number)
    if (expectation === undefined) throw new Error(`Failed to find expectation ${number}: it has ended.`)
    return expectation
  }

  getStart(step: EvaluatedStep) {
    return this.#get(step).start
  }

  findEnd({ number }: EvaluatedStep) {
    return this.expectations.get(number)?.end ?? null
  }

  turnStart(step: EvaluatedStep): Moment {
    return this.#get(step).turn
  }

  isTurnComplete(step: EvaluatedStep): boolean {
    const { chatId, turn } = this.#get(step)
    const isCertain = this.#turns.get(chatId ?? '')?.isCertain ?? false
    return this.isComplete(chatId) || (isCertain && turn.seq >= this.firstSeq)
  }

  /** `id`: the number of the entry of an action, or `beginning`. */
  since(id: string): Moment {
    const action = this.core.journal.find(Number(id))
    return action === undefined ? BEGINNING : momentOf(action)
  }

  /** Whether an action of this test has the entry. */
  hasAction(seq: number): boolean {
    return seq >= this.#startSeq && this.core.journal.find(seq)?.kind === 'user'
  }

  deadlineOf(step: EvaluatedStep, _: ConversationKey, withinMs: number | null): Deadline {
    const { start, waitMs } = this.#get(step)
    const ms = withinMs ?? waitMs
    return { atMs: start.at_ms + ms, ms, from: null }
  }

  findStimulus(step: EvaluatedStep): Stimulus | null {
    const { chatId, start, turn } = this.#get(step)
    if (chatId === null) return null
    const chat = this.index.history.chats.get(chatId)
    const last = chat?.userActs.findLast(({ seq }) => seq >= turn.seq && seq <= start.seq)
    if (last === undefined) return null
    const { seq } = last
    const hasEvent = chat?.events.some(({ act }) => act === last) ?? false
    return { seq, name: { seq, label: labelOf(last) }, verb: VERBS[last.action], hasEvent }
  }

  nextTurnStart(step: EvaluatedStep): number | null {
    const { chatId, start } = this.#get(step)
    if (chatId === null) return null
    const acts = this.index.history.chats.get(chatId)?.userActs
    return acts?.find(({ seq }) => seq > start.seq)?.at_ms ?? null
  }

  /** What a test expects has no `$(...)`. */
  fill<Value>(_: EvaluatedStep, value: Value): Filled<Value> {
    return { value, problem: null }
  }

  /** A chat of a test goes on after a failed expectation. */
  cutOff(): number {
    return Number.POSITIVE_INFINITY
  }

  chatName(conversation: string | null): string | null {
    return this.names.size > 1 ? conversation || null : null
  }

  /** Sets the calls that need no expectation, besides those that only read. */
  allow(calls: Plan['strict']['allow']): void {
    this.strict = { ...this.strict, allow: [...READING_CALLS, ...calls] }
  }
}

const momentOf = ({ seq, at_ms }: Entry): Moment => ({ atMs: at_ms, seq, step: null })

const VERBS = { message: 'user', press: 'press', close: 'leaves', delete: 'leaves' } as const

const labelOf = ({ action, text = '', button = '' }: EntryOf<'user'>): string => {
  if (action === 'message') return `says ${flow(text, 40)}`
  return action === 'press' ? `press ${flow(button, 40)}` : `${action}s the chat`
}
