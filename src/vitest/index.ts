/**
 * What `handover-sim/vitest` offers. Importing it registers the matchers, from a setup file for instance;
 * `expect.extend(matchers)` does the same for another `expect`.
 */
import { expect } from 'vitest'
import type { CallBodies, CallId, EventPayloads } from '../contract/wire.ts'
import type { BodyMatcher } from '../testing/body-matcher.ts'
import { matchers, type TimesOption } from './matchers.ts'

export { matchers, type TimesOption }

export interface HandoverMatchers {
  /**
   * Of a chat, or of a simulator for all its chats: a call that fits has come by now. Unlike `expectCall` it neither
   * waits nor claims, so it may be asked again; `assertClean` takes such a call for expected.
   */
  toHaveReceived<Id extends CallId>(call: Id, body?: BodyMatcher<CallBodies[Id]>, options?: TimesOption): void
  /** The webhook has acknowledged such an event by now. */
  toHaveDelivered<Event extends keyof EventPayloads>(
    event: Event,
    payload?: BodyMatcher<EventPayloads[Event]>,
    options?: TimesOption,
  ): void
}

declare global {
  /** What assertions of every version of vitest are made of, and, unlike theirs, without type parameters. */
  namespace Chai {
    interface Assertion extends HandoverMatchers {}
  }
}

expect.extend(matchers as unknown as Parameters<typeof expect.extend>[0])
