/** Findings about signatures. */
import { defineFindings } from './define.ts'

export interface SignatureFindings {
  /** An event with a bad signature had an effect. */
  readonly 'forged-event-used': { readonly event: string; readonly variant: string; readonly effect: 'call' | 'inbox' }
  /** An event with a bad signature was answered as a good one, without a visible effect. */
  readonly 'forged-event-accepted': { readonly event: string; readonly variant: string; readonly status: number }
  /** A valid event was refused in this form of JSON. */
  readonly 'serialisation-refused': { readonly refused: readonly string[]; readonly accepted: readonly string[] }
}

export const SIGNATURE_FINDINGS = defineFindings<SignatureFindings>({
  'forged-event-used': {
    happened: ({ event, variant, effect }) =>
      `${event} with ${variant} had an effect: ${effect === 'call' ? 'the intermediary called the platform about its chat' : 'the agent sees it'}.`,
    expected: 'An event whose signature is not valid has no effect (A4).',
    next: 'Verify the signature before anything else is done with the event, and answer 401 when it does not match.',
  },
  'forged-event-accepted': {
    happened: ({ event, variant, status }) => `The webhook answered ${status} to ${event} with ${variant}.`,
    expected: 'It answers with a status from 400 to 499, so that a wrong key is noticed.',
    next: 'Answer 401 when the signature does not match. An answer of 200 hides a wrong key: all events would be lost silently.',
  },
  'serialisation-refused': {
    happened: ({ refused, accepted }) =>
      `Valid events were refused when their JSON was ${refused.join(', ')}${accepted.length === 0 ? '' : `, and accepted when it was ${accepted.join(', ')}`}.`,
    expected: 'The signature covers the bytes as they were sent, so every form of the same JSON is accepted.',
    next: 'Verify the raw body. A body that is parsed and written again has other bytes, and its signature differs.',
  },
})
