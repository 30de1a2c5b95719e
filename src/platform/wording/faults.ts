/** Renders what a fault does, and what is wrong with a specification. */

import { textFor } from '../../base/text/texts.ts'
import type { EntryOf, FaultEffect } from '../journal/entry.ts'

type Texts = { readonly [Name in keyof FaultEffect]-?: (value: NonNullable<FaultEffect[Name]>) => string }

const EFFECTS = {
  latency: duration => `latency ${duration}`,
  respond: ({ status }) => `respond ${status}`,
  drop: moment => (moment === 'before' ? 'drop the connection before processing' : 'drop the answer after processing'),
  reset: () => 'reset the connection before processing',
  slow_body: duration => `slow body over ${duration}`,
  malformed: () => 'malformed body',
  delay: duration => `delay ${duration}`,
  slow: duration => `slow ${duration}, later events wait`,
  swap: () => 'swap with the next event',
  hold: events => `hold until ${events} later ${events === 1 ? 'event has' : 'events have'} passed`,
  sign: mode => `sign ${mode}`,
  duplicate: times => `duplicate, sent ${times} times`,
  gap: duration => `gap ${duration}`,
  truncate: () => 'truncate the body',
  drip: duration => `drip the body over ${duration}`,
  reset_after_answer: () => 'reset after answer',
  http: styles => `http ${styles.join(', ')}`,
} satisfies Texts

/** `delay 2s, duplicate, sent 2 times`, from a `FaultEffect`; notes have it without its type. */
export function effectText(effect: unknown): string {
  const values = Object.entries(typeof effect === 'object' && effect !== null ? effect : {}).filter(
    ([, value]) => value !== undefined,
  )
  return values.flatMap(([name, value]) => textFor(EFFECTS, name, value) ?? []).join(', ')
}

/** `flaky: respond 503 (1 of 2)` */
export function faultHitText({ fault, effect, hit, of, not_applied }: EntryOf<'fault'>): string {
  const count = of === null ? `hit ${hit}` : `${hit} of ${of}`
  return `${fault}: ${effectText(effect)} (${count})${not_applied === undefined ? '' : `; ${not_applied.join(', ')} not applied: the webhook is a function`}`
}

const list = (names: readonly string[]): string => names.join(', ')

/** Problems of a specification. Each text follows the name of a field. */
export const FAULT_PROBLEMS = {
  notDuration: (got: string) => `must be a duration with a unit such as 500ms or 2s, got ${got}`,
  tooShort: (got: string) => `must be longer than 0, got ${got}`,
  bothSides: 'cannot be combined with api: write one fault for each',
  noSide: 'is required: an endpoint, a list of them, or any (or webhook: an event)',
  anyInList: 'has any in a list: write any alone',
  otherSide: (other: string, side: string, own: readonly string[]) =>
    `is an effect on: ${other}, and this fault is on: ${side}; there are ${list(own)}`,
  noEffect: (effects: readonly string[]) => `has no effect: add one of ${list(effects)}`,
  answerEffects: (first: string) =>
    `cannot be combined with ${first}: a fault changes an answer in one way, beside latency; remove one of them`,
  orderEffects: (first: string) =>
    `cannot be combined with ${first}: a fault changes the time of an event in one way; remove one of them`,
  neverMatches: 'never matches: a call of availability is about no chat; remove it',
  noBodyAllowed: (status: number) => `cannot be sent with status ${status}, which has no body: remove it`,
  gapWithoutCopies: 'is the time between copies: add duplicate, how many times the event is sent in all',
  serverHeader: 'is set by the server itself: remove it',
  badHeaderName: 'is not a valid header name',
  badHeaderValue: 'must be printable ASCII on one line',
}

/** Why a simulator does not set or clear a fault. */
export const FAULT_ERRORS = {
  nameTaken: (name: string) => `name ${JSON.stringify(name)} is taken: choose another one, or clear that fault first.`,
  unknownName: (name: string, known: readonly string[]) =>
    `There is no fault ${JSON.stringify(name)}: ${known.length === 0 ? 'none is set.' : `there are ${list(known)}.`}`,
  unknownChat: (id: string, near: string, latest: readonly string[]) =>
    `chat_id ${JSON.stringify(id)} is not a chat${near || '.'} ${latest.length === 0 ? 'There are none yet.' : `The latest: ${list(latest)}.`}`,
  signatureOff: (mode: string) =>
    `sign ${mode} has no effect while webhook.signature is off; set it to base64 or hex first.`,
}
