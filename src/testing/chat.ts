/** Adds expectations to a chat: the user acts, and the test states which calls the intermediary has to make. */

import { wallTimer } from '../base/runtime/clock.ts'
import { type Duration, formatDuration } from '../base/text/quantities.ts'
import { withoutCredentials } from '../base/text/redactor.ts'
import type { CallBodies, CallId } from '../platform/contract/endpoints.ts'
import { WaitTimeoutError } from '../platform/journal/journal.ts'
import type { ActOptions, ChatHandle } from '../platform/simulator/chat-handle.ts'
import type { PlatformSimulatorOptions } from '../platform/simulator/options.ts'
import { coreOf, type PlatformSimulator } from '../platform/simulator/simulator.ts'
import type { Job } from '../platform/webhooks/dispatcher.ts'
import { type ExpectedItem, expectAgentSees, type SeesOptions } from './agent.ts'
import type { BodyMatcher } from './body-matcher.ts'
import {
  type CallArguments,
  type ExpectCallOptions,
  expectCall,
  expectNone,
  type NoneArguments,
  type NoneOptions,
  type ReceivedCall,
  type Subject,
  waitFor,
} from './expectations.ts'

/** Calls that carry the id of a chat. */
export type ChatCallId = Exclude<CallId, 'availability'>

export type SingleCallOptions = Omit<ExpectCallOptions, 'times'> & { readonly times?: undefined }
export type MultipleCallsOptions = ExpectCallOptions & { readonly times: NonNullable<ExpectCallOptions['times']> }
/** Options of `waitFor`. */
export interface WaitOptions {
  /** The maximum wait, a duration on the wall clock. Default `1800ms`, or `expectTimeout` of the simulator. */
  readonly within?: Duration
}

export interface ChatExpectations {
  /**
   * Waits for a call about this chat that matches, and claims it. Considers calls after the first user action since the
   * last expectation, and after the calls that were claimed before. Each call is claimed once.
   *
   * @throws ExpectationError if no call matches in time; InvalidOptionError for a wrong call, body or option.
   * @example
   * const ada = await sim.chat()
   * await ada.press('handover')
   * const start = await ada.expectCall('start', { supports_attachment: true }, { within: '3s' })
   */
  expectCall<Id extends ChatCallId>(
    call: Id,
    body?: BodyMatcher<CallBodies[Id]>,
    options?: SingleCallOptions,
  ): Promise<ReceivedCall<Id>>
  /** With `times`, resolves with all claimed calls. */
  expectCall<Id extends ChatCallId>(
    call: Id,
    body: BodyMatcher<CallBodies[Id]> | undefined,
    options: MultipleCallsOptions,
  ): Promise<ReceivedCall<Id>[]>
  /** Rejects with `ExpectationError` as soon as a matching call arrives that no expectation has claimed. */
  expectNone(call: ChatCallId, options: NoneOptions): Promise<void>
  expectNone<Id extends ChatCallId>(
    call: Id,
    body: BodyMatcher<CallBodies[Id]> | undefined,
    options: NoneOptions,
  ): Promise<void>
  /** Waits for a new item in the inbox of the agent, which the option `agent.inbox` of the simulator reads. */
  expectAgentSees(item: ExpectedItem, options?: SeesOptions): Promise<void>
  /** Calls `predicate` after every journal entry until it returns a truthy value, and resolves with that. */
  waitFor<Value>(predicate: (chat: TestChat) => Value, options?: WaitOptions): Promise<NonNullable<Value>>
}

/** A chat of a simulator, with the actions of its end user and the expectations of a test. */
export type TestChat = ChatHandle & ChatExpectations

/** The property of a chat that has its simulator. */
const OWNER = Symbol('owner')

interface Owner {
  readonly sim: PlatformSimulator
  readonly chatId: string
}

/** Returns the simulator of a chat, or undefined for another object. */
export const ownerOf = (chat: object): Owner | undefined => Reflect.get(chat, OWNER)

/** The limits of a test that a simulator was created with. */
export interface TestLimits {
  /** The default of `within`, in milliseconds. */
  readonly waitMs: number | undefined
  readonly ack: AckLimit
}

/** Adds the expectations to the handle itself, so that its getters stay live. */
export function withChatExpectations(
  sim: PlatformSimulator,
  handle: ChatHandle,
  { waitMs, ack }: TestLimits,
): TestChat {
  const { says, press, id: chatId } = handle
  Object.defineProperty(handle, OWNER, { value: { sim, chatId } satisfies Owner })
  const subject = (method: Method): Subject => ({ sim, chatId, callStack: stackAbove(method), waitMs })
  const limited = (what: string, method: Method) => ({ limit: ack, what, chatId, callStack: captureStackAbove(method) })
  const chat = Object.assign(handle, {
    says: (text: string, options?: Parameters<ChatHandle['says']>[1]) =>
      withinAckLimit(sim, limited('says', chat.says), says(text, options)),
    press: (button: string, options?: ActOptions) =>
      withinAckLimit(sim, limited('press', chat.press), press(button, options)),
    expectCall: (call: CallId, ...rest: CallArguments) => expectCall(subject(chat.expectCall), call, ...rest),
    expectNone: (call: CallId, ...rest: NoneArguments) => expectNone(subject(chat.expectNone), call, ...rest),
    expectAgentSees: (item: ExpectedItem, options: SeesOptions = {}) =>
      expectAgentSees(subject(chat.expectAgentSees), item, options),
    waitFor: <Value>(predicate: (chat: TestChat) => Value, options: WaitOptions = {}) =>
      waitFor(subject(chat.waitFor), () => predicate(chat), options, predicate),
  } as ChatExpectations & Pick<ChatHandle, 'says' | 'press'>)
  return chat
}

type Method = (...args: never[]) => unknown

/** Limits how long a test waits for the webhook, so that an error names the cause before the test runner ends the test. */
export interface AckLimit {
  /** Milliseconds on the wall clock. */
  readonly ms: number
  readonly webhook: PlatformSimulatorOptions['webhook']
}

/** Shorter than the timeouts of test runners. */
export const DEFAULT_ACK_MS = 4_000

/** The maximum number of reasons that an error lists. */
const MAX_REASONS = 3

export interface LimitedAction {
  readonly limit: AckLimit
  readonly what: string
  readonly chatId: string | null
  /** Returns the stack frames of the test, because a timer has none of them. */
  readonly callStack: () => string
}

/**
 * Rejects with `WaitTimeoutError` when `work` takes longer than the limit. It names the running deliveries of the chat, or
 * of all chats when `chatId` is null; they go on.
 */
export function withinAckLimit<Result>(
  sim: PlatformSimulator,
  { limit, what, chatId, callStack }: LimitedAction,
  work: Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = wallTimer(limit.ms, () => {
      const error = new WaitTimeoutError(
        `${what} waited ${formatDuration(limit.ms)}: ${reasonsFor(sim, limit, chatId).join('; ')}. Answer every event, or raise ackTimeout, as in createSimulator({ ackTimeout: '10s' }).`,
      )
      error.stack = `${error.name}: ${error.message}\n${callStack()}`
      reject(error)
    })
    work.then(resolve, reject).finally(timer.cancel)
  })
}

function reasonsFor(sim: PlatformSimulator, { webhook }: AckLimit, chatId: string | null): string[] {
  const { dispatcher, address, clock } = coreOf(sim)
  const url = address.webhookUrl ?? ''
  let receiver = withoutCredentials(url)
  if (webhook?.fetch) receiver = 'the function webhook.fetch'
  else if (webhook?.listener) receiver = `the application of webhook.listener (POST ${new URL(url).pathname})`
  const reasons: string[] = []
  for (const job of dispatcher.inProgress())
    if (chatId === null || job.chatId === chatId) reasons.push(reasonFor(job, receiver, clock.now()))
  if (reasons.length === 0)
    for (const { event } of dispatcher.backgroundWork())
      reasons.push(`a promise that ${receiver} gave to waitUntil for ${event} has not ended`)
  return reasons.length === 0
    ? ['the simulator has not finished its work: do the functions translate and summarize end?']
    : reasons.slice(0, MAX_REASONS)
}

function reasonFor({ phase, request, faults }: Readonly<Job>, receiver: string, nowMs: number): string {
  const { event } = request
  switch (phase.kind) {
    case 'sending':
      return `${receiver} has not answered ${event}`
    case 'waiting':
      return `${event} waits for the end of an earlier event of its chat`
    case 'scheduled':
      return `${event} is due in ${formatDuration(phase.atMs - nowMs)} on the clock of the simulator`
    case 'held':
      return `${(faults?.faults ?? []).join(', ')} holds ${event}`
  }
}

/** Returns the frames above `method`. Called before the first `await`, while the test is still on the stack. */
export const stackAbove = (method: (...args: never[]) => unknown): string => captureStackAbove(method)()

/** Captures the frames above `method`, and formats them only when the result is called: formatting takes long. */
function captureStackAbove(method: (...args: never[]) => unknown): () => string {
  const error: { stack?: string } = new Error()
  Error.captureStackTrace?.(error, method)
  return () => (error.stack ?? '').replace(/^Error.*\n/, '')
}
