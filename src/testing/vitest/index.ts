/** `handover-sim/vitest`: importing it registers the matchers, for instance in a setup file. */
import { expect } from 'vitest'
import type { CallBodies, CallId, EventPayloads } from '../../platform/contract/endpoints.ts'
import type { BodyMatcher } from '../body-matcher.ts'
import { matchers, type TimesOption } from './matchers.ts'

export { matchers, type TimesOption }

/** The matchers that this entry adds to `expect`. */
export interface HandoverMatchers {
  /**
   * Passes if a chat, or any chat of a simulator, has received a matching call. Unlike `expectCall` it does not wait and
   * claims nothing; `assertClean` treats the calls it found as expected.
   *
   * @throws InvalidOptionError for an unknown call, body operator or option.
   * @example
   * expect(ada).toHaveReceived('start', { sender: { name: 'Anna' } }, { times: 1 })
   */
  toHaveReceived<Id extends CallId>(call: Id, body?: BodyMatcher<CallBodies[Id]>, options?: TimesOption): void
  /**
   * Passes if the webhook has acknowledged a matching event. Counts an event once, however many attempts it took.
   *
   * @throws InvalidOptionError for an unknown event, payload operator or option.
   * @example
   * expect(sim).toHaveDelivered('MESSAGE FROM USER', { message: /hello/i })
   */
  toHaveDelivered<Event extends keyof EventPayloads>(
    event: Event,
    payload?: BodyMatcher<EventPayloads[Event]>,
    options?: TimesOption,
  ): void
}

declare global {
  /** All versions of vitest share this interface, and it has no type parameters. */
  namespace Chai {
    interface Assertion extends HandoverMatchers {}
  }
}

expect.extend(matchers as unknown as Parameters<typeof expect.extend>[0])
