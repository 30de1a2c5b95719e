/** Renders what a fault does. */

import { isMap } from '../../base/objects.ts'
import type { EntryOf, FaultEffect } from '../journal/entry.ts'

/** `delay 2s, duplicate, sent 2 times`, from a `FaultEffect`; notes have it without its type. */
export function effectText(given: unknown): string {
  const effect: FaultEffect = isMap(given) ? given : {}
  const texts: string[] = []
  for (const [name, value] of Object.entries(effect)) {
    if (value === undefined) continue
    const text = partText(name as keyof FaultEffect, effect)
    if (text !== null) texts.push(text)
  }
  return texts.join(', ')
}

/** Null for an effect of another version. */
function partText(name: keyof FaultEffect, effect: FaultEffect): string | null {
  switch (name) {
    case 'latency':
    case 'gap':
    case 'delay':
      return `${name} ${effect[name]}`
    case 'respond':
      return `respond ${effect.respond?.status}`
    case 'drop':
      return effect.drop === 'before' ? 'drop the connection before processing' : 'drop the answer after processing'
    case 'reset':
      return 'reset the connection before processing'
    case 'slow_body':
      return `slow body over ${effect.slow_body}`
    case 'malformed':
      return 'malformed body'
    case 'slow':
      return `slow ${effect.slow}, later events wait`
    case 'swap':
      return 'swap with the next event'
    case 'hold':
      return `hold until ${effect.hold} later ${effect.hold === 1 ? 'event has' : 'events have'} passed`
    case 'sign':
      return `sign ${effect.sign}`
    case 'duplicate':
      return `duplicate, sent ${effect.duplicate} times`
    case 'truncate':
      return 'truncate the body'
    case 'drip':
      return `drip the body over ${effect.drip}`
    case 'reset_after_answer':
      return 'reset after answer'
    case 'http':
      return `http ${effect.http?.join(', ')}`
    default:
      return null
  }
}

/** `flaky: respond 503 (1 of 2)` */
export function faultHitText({ fault, effect, hit, of, not_applied }: EntryOf<'fault'>): string {
  const count = of === null ? `hit ${hit}` : `${hit} of ${of}`
  return `${fault}: ${effectText(effect)} (${count})${not_applied === undefined ? '' : `; ${not_applied.join(', ')} not applied: the webhook is a function`}`
}

/** Why a simulator does not send a wrong signature. */
export const signatureOffText = (mode: string): string =>
  `sign ${mode} has no effect while webhook.signature is off; set it to base64 or hex first.`
