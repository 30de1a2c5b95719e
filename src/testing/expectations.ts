/** Implements the expectations of a test: each waits for the journal to have a matching call that is not claimed. */

import { cut } from '../base/text/cut.ts'
import { type Duration, formatDuration } from '../base/text/quantities.ts'
import { ExpectEvaluator } from '../evaluation/evaluator/expect.ts'
import type { IndexedCall } from '../evaluation/evaluator/journal-index.ts'
import { asExpectation, NoneEvaluator } from '../evaluation/evaluator/none.ts'
import { patternText } from '../evaluation/evaluator/words.ts'
import { createOrphan, type Failure } from '../evaluation/finding.ts'
import type { CallBodies, CallId, CallResponses } from '../platform/contract/endpoints.ts'
import type { EntryOf } from '../platform/journal/entry.ts'
import { isThenable } from '../platform/rules/engines.ts'
import { type ActionResult, CHAT_REMOVED } from '../platform/simulator/chat-handle.ts'
import { anything, describeValue, invalidOption, validateOptions } from '../platform/simulator/options.ts'
import { coreOf, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import { InterruptedError, waitUntil } from '../running/runner/waiting.ts'
import { type BodyMatcher, bodyPattern } from './body-matcher.ts'
import { expectationError } from './expectation-error.ts'
import { checkCall, durationMs, type ExpectedTimes, parseTimes } from './options.ts'
import {
  DEFAULT_WAIT_MS,
  type ExpectationOptions,
  type TestExpectation,
  type TestJournal,
  testJournalOf,
} from './test-journal.ts'

/** Options of `expectCall`. */
export interface ExpectCallOptions {
  /** The maximum wait, a duration on the wall clock such as `500ms`. Default `1800ms`, or `expectTimeout` of the simulator. */
  readonly within?: Duration
  /** How many calls are expected. Default: exactly one; `assertClean` reports further ones. */
  readonly times?: ExpectedTimes
  /**
   * Considers calls after this action, or all calls. Default: calls after the user's first action since the last
   * expectation of this chat. With `since`, the call may precede calls that were claimed before.
   */
  readonly since?: Pick<ActionResult, 'seq'> | 'beginning'
}

/** Options of `expectNone`. */
export interface NoneOptions {
  /** How long no such call may arrive, a duration on the wall clock. `0s` considers only past calls. */
  readonly for: Duration
}

/** What an expectation is about: a chat, or the bot when `chatId` is null. */
export interface Subject {
  readonly sim: PlatformSimulator
  readonly chatId: string | null
  /** Stack frames of the test that expects. */
  readonly callStack: string
  /** The default of `within`, in milliseconds. */
  readonly waitMs: number | undefined
}

type Body<Id extends CallId> = BodyMatcher<CallBodies[Id]>

/** What tests pass to `expectCall` and `expectNone` after the name of the call. */
export type CallArguments<Id extends CallId = CallId> = readonly [body?: Body<Id>, options?: ExpectCallOptions]
export type NoneArguments<Id extends CallId = CallId> =
  | readonly [NoneOptions]
  | readonly [Body<Id> | undefined, NoneOptions]

/** Resolves with the claimed call; with `times`, with all claimed calls. */
export async function expectCall<Id extends CallId>(
  subject: Subject,
  call: Id,
  ...[body, options = {}]: CallArguments<Id>
): Promise<ReceivedCall<Id> | ReceivedCall<Id>[] | undefined> {
  validateOptions('expectCall', options, CALL_OPTIONS)
  const { since, within } = options
  checkSubject(subject, call)
  const leaf = {
    ...asExpectation({ call, body: bodyPattern(call, body) }),
    times: parseTimes(options.times),
    statesTimes: options.times !== undefined,
    since: since === undefined ? null : parseSince(subject, since),
  }
  const { journal, expectation } = await meet(subject, {
    label: `expect ${patternText({ call, body: body ?? null })}`,
    waitMs: durationMs('within', within) ?? subject.waitMs ?? DEFAULT_WAIT_MS,
    create: (tests, step) => new ExpectEvaluator(tests, step, { tree: { op: 'call', ...leaf }, withinMs: null }),
  })
  const calls = (journal.expects.get(expectation.number)?.claimed ?? []).map(toReceivedCall<Id>)
  return options.times === undefined ? calls[0] : calls
}

export async function expectNone<Id extends CallId>(
  subject: Subject,
  call: Id,
  ...rest: NoneArguments<Id>
): Promise<void> {
  const [body, options] = rest.length === 1 ? [undefined, rest[0]] : rest
  checkSubject(subject, call)
  if (options === undefined) throw invalidOption('for', NO_FOR)
  validateOptions('expectNone', options, NONE_OPTIONS)
  const pattern = { call, body: bodyPattern(call, body, true) }
  const forMs = durationMs('for', options.for)
  await meet(subject, {
    label: `none ${patternText({ call, body: body ?? null })} for ${formatDuration(forMs)}`,
    waitMs: forMs,
    create: (tests, step) => new NoneEvaluator(tests, step, { calls: [pattern], forMs }),
  })
}

/** Known option names. Each value is checked where it is used. */
const CALL_OPTIONS = { within: anything, times: anything, since: anything }
const NONE_OPTIONS = { for: anything }
const NO_FOR =
  "expectNone needs a duration: { for: '500ms' } also considers calls of the next 500 ms, { for: '0s' } only past calls."

function parseSince({ sim }: Subject, since: NonNullable<ExpectCallOptions['since']>): string {
  if (since === 'beginning') return since
  if (testJournalOf(sim).hasAction(since.seq)) return String(since.seq)
  const message = `since must be what an action of this chat resolved with since the last reset or restore, or 'beginning', got ${describeValue(since)}.`
  throw invalidOption('since', message)
}

/** Waits until an expectation is met. Throws `ExpectationError` when it fails. `wait` decides when to look again. */
export async function meet(
  subject: Subject,
  options: Omit<ExpectationOptions, 'chatId'>,
  wait = waitForEntries,
): Promise<{ readonly journal: TestJournal; readonly expectation: TestExpectation }> {
  const { sim, chatId, callStack } = subject
  const journal = testJournalOf(sim)
  const expectation = journal.begin({ ...options, chatId })
  let failure: Failure | null = null
  try {
    await wait(journal, expectation)
  } catch (error) {
    throw error instanceof InterruptedError ? resetError(options.label, callStack) : error
  } finally {
    failure = journal.end(expectation)
  }
  if (failure !== null) throw expectationError(journal, [failure], callStack)
  return { journal, expectation }
}

const waitForEntries = (journal: TestJournal, expectation: TestExpectation): Promise<void> =>
  waitUntil(
    journal,
    () => {
      const status = journal.status(expectation)
      return status.state === 'open' ? status : null
    },
    journal.resetSignal,
  )

export function resetError(label: string, callStack: string): Error {
  const error = new Error(
    `Failed to wait for ${label}: the simulator was reset, restored or closed. Await it before that.`,
  )
  error.stack = `${error.name}: ${error.message}\n${callStack}`
  return error
}

/** Checks that the subject is the bot for `availability`, and a chat for every other call. */
function checkSubject({ chatId, sim }: Subject, call: CallId): void {
  checkCall(call)
  if (chatId !== null && call === 'availability')
    throw invalidOption('call', "availability belongs to the bot, not to a chat: sim.expectCall('availability').")
  if (chatId === null && call !== 'availability') {
    const message = `sim expects only availability, which belongs to the bot. ${call} is about a chat: (await sim.chat()).expectCall(${JSON.stringify(call)}).`
    throw invalidOption('call', message)
  }
  checkChatExists({ chatId, sim })
}

/** Throws `InvalidOptionError` for a chat that no longer exists: no call can be about it. */
export function checkChatExists({ chatId, sim }: Pick<Subject, 'chatId' | 'sim'>): void {
  if (chatId !== null && !coreOf(sim).platform.state.chats.has(chatId)) throw invalidOption('chat', CHAT_REMOVED)
}

/** A call of the intermediary, typed by its endpoint. */
export interface ReceivedCall<Id extends CallId = CallId> {
  readonly call: Id
  /** The body as it was sent. The type is that of a valid body; a refused call may have another one. */
  readonly body: CallBodies[Id]
  /** The body of the answer. */
  readonly response: CallResponses[Id]
  readonly status: number
  readonly method: string
  readonly path: string
  /** The spelling of the path; null for `chat`. */
  readonly alias: 'handover' | 'takeover' | null
  readonly headers: Readonly<Record<string, string>>
  readonly chatId: string | null
  /** The number of its entry in `sim.journal`. */
  readonly seq: number
  /** ISO 8601 on the simulator's clock. */
  readonly time: string
  /** The journal entry, which is wire-shaped (snake_case). */
  readonly entry: EntryOf<'api'>
}

function toReceivedCall<Id extends CallId>({ body, chatId, entry, seq }: IndexedCall): ReceivedCall<Id> {
  const { endpoint, response, status, method, path, alias, request, time } = entry
  return {
    call: endpoint as Id,
    body: body as CallBodies[Id],
    response: response as CallResponses[Id],
    status,
    method,
    path,
    alias,
    headers: request.headers,
    chatId,
    seq,
    time,
    entry,
  }
}

/** Resolves with the first truthy value of `predicate`. `written` is the function whose source a failure shows. */
export async function waitFor<Value>(
  subject: Subject,
  predicate: () => Value,
  options: { readonly within?: Duration },
  written: (...args: never[]) => unknown = predicate,
): Promise<NonNullable<Value>> {
  if (typeof written !== 'function')
    throw invalidOption('waitFor', `waitFor takes a function, got ${describeValue(written)}.`)
  validateOptions('waitFor', options, { within: anything })
  checkChatExists(subject)
  const tests = testJournalOf(subject.sim)
  const { journal } = tests.core
  const ms = durationMs('within', options.within) ?? subject.waitMs ?? DEFAULT_WAIT_MS
  const untilMs = journal.atMs + ms
  let value = callPredicate(predicate)
  const status = () => {
    value ||= callPredicate(predicate)
    return value || journal.atMs >= untilMs ? null : { untilMs }
  }
  if (!value)
    await waitUntil(tests, status, tests.resetSignal).catch(error => {
      throw error instanceof InterruptedError ? resetError('waitFor', subject.callStack) : error
    })
  if (value) return value
  throw expectationError(tests, [timeoutFailure(tests, subject, String(written), ms)], subject.callStack)
}

/** Rejects a promise, because it is always truthy. */
function callPredicate<Value>(predicate: () => Value): Value {
  const value = predicate()
  if (!isThenable(value)) return value
  throw invalidOption(
    'waitFor',
    'waitFor takes a function that returns its value at once; this one returned a promise.',
  )
}

function timeoutFailure(journal: TestJournal, { chatId }: Subject, source: string, ms: number): Failure {
  const chat = chatId === null ? undefined : journal.core.platform.state.chats.get(chatId)
  const state = chat === undefined ? '' : `; the chat is with ${chat.status}, ${chat.typing ? 'typing' : 'not typing'}`
  return createOrphan('check', {
    code: 'condition_false',
    expected: `waitFor ${cut(source.replace(/\s+/g, ' '), 120)} within ${formatDuration(ms)}`,
    happened: `the condition did not become true${state}`,
    conversation: chat === undefined ? null : journal.nameOf(chat.id),
  })
}
