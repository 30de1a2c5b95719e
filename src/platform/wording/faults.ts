/** Renders what a fault does. */

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

/** Why a simulator does not send a wrong signature. */
export const signatureOffText = (mode: string): string =>
  `sign ${mode} has no effect while webhook.signature is off; set it to base64 or hex first.`
