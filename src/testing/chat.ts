/** Adds expectations to a chat: the user acts, and the test states which calls the intermediary has to make. */

import type { Duration } from '../base/text/quantities.ts'
import type { CallBodies, CallId } from '../platform/contract/endpoints.ts'
import type { ActOptions, ChatHandle } from '../platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../platform/simulator/simulator.ts'
import { type AckLimit, withinAckLimit } from './ack-limit.ts'
import { type ExpectedItem, expectAgentSees, type SeesOptions } from './agent.ts'
import type { BodyMatcher } from './body-matcher.ts'
import { captureStackAbove, stackAbove } from './expectation-error.ts'
import {
  type ExpectCallOptions,
  expectCalls,
  expectNone,
  type ReceivedCall,
  type Subject,
  waitFor,
} from './expectations.ts'

/** Calls that carry the id of a chat. */
export type ChatCallId = Exclude<CallId, 'availability'>

export type SingleCallOptions = Omit<ExpectCallOptions, 'times'> & { readonly times?: undefined }
export type MultipleCallsOptions = ExpectCallOptions & { readonly times: NonNullable<ExpectCallOptions['times']> }
/** Options of `expectNone`. */
export interface NoneOptions {
  /** How long no such call may arrive, a duration on the wall clock. `0s` considers only past calls. */
  readonly for: Duration
}
/** Options of `waitFor`. */
export interface WaitOptions {
  /** The maximum wait, a duration on the wall clock. Default `2s`, or `expectTimeout` of the simulator. */
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

const owners = new WeakMap<object, { readonly sim: PlatformSimulator; readonly chatId: string }>()

/** Returns the simulator of a chat, or undefined for another object. */
export const ownerOf = (chat: object) => owners.get(chat)

/** Returns a function that creates the subject of a method which the test calls. */
export const subjectIn =
  (sim: PlatformSimulator, chatId: string | null, waitMs: number | undefined) =>
  (method: (...args: never[]) => unknown): Subject => ({ sim, chatId, callStack: stackAbove(method), waitMs })

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
  owners.set(handle, { sim, chatId: handle.id })
  const subjectOf = subjectIn(sim, handle.id, waitMs)
  const { says, press } = handle
  const limited = (what: string, method: (...args: never[]) => unknown) =>
    ({ limit: ack, what, chatId: handle.id, callStack: captureStackAbove(method) }) as const
  const chat: TestChat = Object.assign(handle, {
    says: (text: string, options?: Parameters<ChatHandle['says']>[1]) =>
      withinAckLimit(sim, limited('says', chat.says), says(text, options)),
    press: (button: string, options?: ActOptions) =>
      withinAckLimit(sim, limited('press', chat.press), press(button, options)),
    expectCall: expectCallFor(() => subjectOf(chat.expectCall)) as TestChat['expectCall'],
    expectNone: expectNoneFor(() => subjectOf(chat.expectNone)) as TestChat['expectNone'],
    expectAgentSees: (item: ExpectedItem, options: SeesOptions = {}) =>
      expectAgentSees(subjectOf(chat.expectAgentSees), item, options),
    waitFor: <Value>(predicate: (chat: TestChat) => Value, options: WaitOptions = {}) =>
      waitFor(subjectOf(chat.waitFor), () => predicate(chat), options, predicate),
  })
  return chat
}

type ExpectedBody<Id extends CallId> = BodyMatcher<CallBodies[Id]> | undefined

export const expectCallFor =
  (subject: () => Subject) =>
  async <Id extends CallId>(call: Id, body?: ExpectedBody<Id>, options: ExpectCallOptions = {}) => {
    const calls = await expectCalls(subject(), call, body, options)
    return options.times === undefined ? calls[0] : calls
  }

export const expectNoneFor =
  (subject: () => Subject) =>
  <Id extends CallId>(
    call: Id,
    ...rest: readonly [NoneOptions] | readonly [ExpectedBody<Id>, NoneOptions]
  ): Promise<void> =>
    rest.length === 1 ? expectNone(subject(), call, undefined, rest[0]) : expectNone(subject(), call, rest[0], rest[1])
