/** Renders what a fault does. */
import type { FaultEffect } from '../journal/entry.ts'
import { defineTexts } from '../text/texts.ts'

type Texts = { readonly [Name in keyof FaultEffect]-?: (value: NonNullable<FaultEffect[Name]>) => string }

const EFFECTS = defineTexts({
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
  http: oddities => `http ${oddities.join(', ')}`,
} satisfies Texts)

const NOT_APPLIED = defineTexts({
  no_connection: (effects: readonly string[]) => `${effects.join(', ')} not applied: the webhook is a function`,
})

/** `delay 2s, duplicate, sent 2 times` */
export function effectText(effect: FaultEffect | undefined): string {
  const texts: Readonly<Record<string, (value: never) => string>> = EFFECTS
  const values = Object.entries(effect ?? {}).filter(([, value]) => value !== undefined)
  return values.flatMap(([name, value]) => texts[name]?.(value as never) ?? []).join(', ')
}

/** `drip, http not applied: the webhook is a function` */
export const notAppliedText = (effects: readonly string[]): string => NOT_APPLIED.no_connection(effects)
