/** A chat in a test: the user acts, and the test says what the intermediary has to do about it. */
import type { CallBodies, CallId } from '../contract/wire.ts'
import type { ChatHandle } from '../simulator/chat-handle.ts'
import type { PlatformSimulator } from '../simulator/simulator.ts'
import { type ExpectedItem, expectAgentSees, type SeesOptions } from './agent.ts'
import type { BodyMatcher } from './body-matcher.ts'
import { framesAbove } from './expectation-error.ts'
import { type ExpectCallOptions, expectCalls, expectNone, type ReceivedCall, type Subject } from './expectations.ts'
import { waitFor } from './wait-for.ts'

/** Calls that carry the id of a chat. */
export type ChatCallId = Exclude<CallId, 'availability'>

export type OnceOptions = Omit<ExpectCallOptions, 'times'> & { readonly times?: undefined }
export type OftenOptions = ExpectCallOptions & { readonly times: NonNullable<ExpectCallOptions['times']> }
export interface NoneOptions {
  /** How long none may come, on the wall. `0s` only looks at what has come. */
  readonly for: string
}
export interface WaitOptions {
  /** On the wall. Default 2s, or `expectTimeout` of the simulator. */
  readonly within?: string
}

export interface ChatExpectations {
  /**
   * A call for this chat that fits, since the first thing the user did after the last expectation, and later than the
   * calls that were claimed before. Each call is claimed once. Rejects with `ExpectationError`.
   */
  expectCall<Id extends ChatCallId>(
    call: Id,
    body?: BodyMatcher<CallBodies[Id]>,
    options?: OnceOptions,
  ): Promise<ReceivedCall<Id>>
  /** With `times`: all of them. */
  expectCall<Id extends ChatCallId>(
    call: Id,
    body: BodyMatcher<CallBodies[Id]> | undefined,
    options: OftenOptions,
  ): Promise<ReceivedCall<Id>[]>
  /** Rejects the moment one comes that no expectation has claimed. */
  expectNone(call: ChatCallId, options: NoneOptions): Promise<void>
  expectNone<Id extends ChatCallId>(
    call: Id,
    body: BodyMatcher<CallBodies[Id]> | undefined,
    options: NoneOptions,
  ): Promise<void>
  /** Something new in the inbox of the agent, read by `agent.inbox` of the simulator. */
  expectAgentSees(item: ExpectedItem, options?: SeesOptions): Promise<void>
  /** Asked again with whatever happens, until it answers something true; resolves with that. */
  waitFor<Value>(look: (chat: TestChat) => Value, options?: WaitOptions): Promise<NonNullable<Value>>
}

export type TestChat = ChatHandle & ChatExpectations

const owners = new WeakMap<object, { readonly sim: PlatformSimulator; readonly chatId: string }>()

/** Whose chat it is, for matchers; undefined for what is no chat of ours. */
export const ownerOf = (chat: object) => owners.get(chat)

/** The same object with more on it: its getters stay live. */
export function withChatExpectations(sim: PlatformSimulator, handle: ChatHandle, waitMs: number | undefined): TestChat {
  owners.set(handle, { sim, chatId: handle.id })
  const from = (own: (...args: never[]) => unknown): Subject => ({
    sim,
    chatId: handle.id,
    asked: framesAbove(own),
    waitMs,
  })
  const chat: TestChat = Object.assign(handle, {
    expectCall: expectCallFor(() => from(chat.expectCall)) as TestChat['expectCall'],
    expectNone: expectNoneFor(() => from(chat.expectNone)) as TestChat['expectNone'],
    expectAgentSees: (item: ExpectedItem, options: SeesOptions = {}) =>
      expectAgentSees(from(chat.expectAgentSees), item, options),
    waitFor: <Value>(look: (own: TestChat) => Value, options: WaitOptions = {}) =>
      waitFor(from(chat.waitFor), () => look(chat), options, look),
  })
  return chat
}

type Wanted<Id extends CallId> = BodyMatcher<CallBodies[Id]> | undefined

export const expectCallFor =
  (subject: () => Subject) =>
  async <Id extends CallId>(call: Id, body?: Wanted<Id>, options: ExpectCallOptions = {}) => {
    const calls = await expectCalls(subject(), call, body, options)
    return options.times === undefined ? calls[0] : calls
  }

export const expectNoneFor =
  (subject: () => Subject) =>
  <Id extends CallId>(call: Id, ...rest: readonly [NoneOptions] | readonly [Wanted<Id>, NoneOptions]): Promise<void> =>
    rest.length === 1 ? expectNone(subject(), call, undefined, rest[0]) : expectNone(subject(), call, rest[0], rest[1])
