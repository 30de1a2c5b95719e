/** Findings about signatures. */

import { formatDuration } from '../../../base/text/quantities.ts'
import type { DeliveryFailure } from '../../../platform/journal/entry.ts'
import { failureText } from '../../../platform/wording/failures.ts'
import { defineFindings } from './define.ts'
import { type AcceptedVariant, acceptedText, fixOf, PATTERN_TEXTS, type RefusalPattern } from './signature-diagnosis.ts'

/** Completes "an event with ...". */
const FORGERIES = {
  none: 'no signature',
  'wrong-key': 'a signature made with another key',
  tampered: 'one byte changed after signing',
  empty: 'an empty signature',
  truncated: 'only the first 33 characters of its signature',
  'other-end': 'a signature that begins like the right one and ends otherwise',
  'letter-case': 'its signature in other letter case',
  'other-event': 'the signature of another event',
  long: 'a signature of 10 KB',
  hex: 'its signature in hexadecimal instead of base64',
  base64url: 'its signature in base64url instead of base64',
  doubled: 'its signature written twice, one after the other',
}

/** How an event is forged. */
export type Forgery = keyof typeof FORGERIES

const VERIFY =
  'Verify the signature before anything else is done with the event, and answer 401 when it does not match.'
const WHOLE =
  'Only a part of the signature is compared. Compare the lengths and then all characters: timingSafeEqual in Node, hmac.compare_digest in Python, hash_equals in PHP.'
const TEXT =
  'The header is decoded before it is compared, and the decoder forgives. Compare it as text with the base64 of the HMAC.'

const NEXT: Readonly<Record<Forgery, string>> = {
  none: VERIFY,
  'wrong-key': VERIFY,
  tampered: 'Compute the HMAC over the whole raw body of this request, and compare it with the header.',
  empty: `An empty signature matches the beginning of every signature, or is taken for none. ${WHOLE}`,
  truncated: WHOLE,
  'other-end': WHOLE,
  'letter-case': 'Base64 is case-sensitive: compare the header as it arrived, without toLowerCase.',
  'other-event':
    'Compute the HMAC of this body with each request. A signature that was valid once says nothing about another body.',
  long: VERIFY,
  hex: 'Compare the header as text with the base64 of the HMAC, and accept no other encoding.',
  base64url: TEXT,
  doubled: TEXT,
}

interface Forged {
  readonly event: string
  readonly forgery: Forgery
}

export interface SignatureFindings {
  /** An event with a bad signature had an effect. */
  readonly 'forged-event-used': Forged & { readonly effect: 'call' | 'inbox' }
  /** An event with a bad signature was answered as a good one, without a visible effect. */
  readonly 'forged-event-accepted': Forged & { readonly status: number }
  /** An event with a bad signature was answered with 5xx. */
  readonly 'forged-event-error': Forged & { readonly status: number }
  readonly 'forged-event-unanswered': Forged & { readonly failure: DeliveryFailure | null }
  /** A validly signed event was answered as one with a bad signature. */
  readonly 'valid-signature-refused': {
    readonly event: string
    readonly status: number
    /** The wrong signature that the webhook accepts; null when none was found. */
    readonly accepts: AcceptedVariant | null
    readonly probes: number
  }
  /** Valid events were refused in these forms of JSON. */
  readonly 'serialisation-refused': {
    readonly refused: readonly string[]
    readonly accepted: readonly string[]
    readonly pattern: RefusalPattern
    readonly accepts: AcceptedVariant | null
  }
  /** The same request again opened a second conversation. */
  readonly 'replay-used': {
    readonly event: string
    readonly afterMs: number
    readonly requests: number
    readonly endpoints: readonly string[]
  }
}

const NOT_FOUND =
  'Log the raw body and the header of this request, and pass both to "handover-sim verify", which names the mistake.'

export const SIGNATURE_FINDINGS = defineFindings<SignatureFindings>({
  'forged-event-used': {
    happened: ({ event, forgery, effect }) =>
      `${event} with ${FORGERIES[forgery]} had an effect: ${effect === 'call' ? 'the intermediary called the platform about its chat' : 'the agent sees it'}.`,
    expected: 'An event whose signature is not valid has no effect (A4).',
    next: ({ forgery }) => NEXT[forgery],
  },
  'forged-event-accepted': {
    happened: ({ event, forgery, status }) => `The webhook answered ${status} to ${event} with ${FORGERIES[forgery]}.`,
    expected: 'It answers with a status from 400 to 499, so that a wrong key is noticed.',
    next: ({ forgery }) =>
      `${NEXT[forgery]} An answer of 200 hides a wrong key: all events would be lost without a sign.`,
  },
  'forged-event-error': {
    happened: ({ event, forgery, status }) => `The webhook answered ${status} to ${event} with ${FORGERIES[forgery]}.`,
    expected: 'It answers with a status from 400 to 499: a bad signature is not an error of the intermediary.',
    next: 'Look for an exception in the comparison. timingSafeEqual of Node throws when the lengths differ, and decoders throw for text that is not base64: compare the lengths first, as text.',
  },
  'forged-event-unanswered': {
    happened: ({ event, forgery, failure }) =>
      `The webhook gave no answer to ${event} with ${FORGERIES[forgery]}${failure === null ? '' : `: ${failureText(failure)}`}.`,
    expected: 'It answers every event, also a forged one.',
    next: 'Look for an exception in the comparison that nothing catches. timingSafeEqual of Node throws when the lengths differ; a handler that throws must still answer.',
  },
  'valid-signature-refused': {
    happened: ({ event, status, accepts }) =>
      `The webhook answered ${status} to a validly signed ${event}.${accepts === null ? '' : ` ${acceptedText(accepts)}`}`,
    expected:
      'It answers 200. The signature is the base64 of the HMAC-SHA256 of the raw body, keyed with the API key (A4).',
    next: ({ accepts, probes }) =>
      accepts === null
        ? `None of ${probes} usual mistakes explains it. Check that the intermediary uses the key of this run, and that its code finds the header (in Node its name is in lower case: request.headers['kindly-hmac']). ${NOT_FOUND}`
        : fixOf(accepts),
  },
  'serialisation-refused': {
    happened: ({ refused, accepted, pattern, accepts }) =>
      [
        `Valid events were refused when their JSON was ${refused.join(', ')}${accepted.length === 0 ? '' : `, and accepted when it was ${accepted.join(', ')}`}.`,
        PATTERN_TEXTS[pattern],
        ...(accepts === null ? [] : [acceptedText(accepts)]),
      ].join(' '),
    expected: 'The signature covers the bytes as they were sent, so every form of the same JSON is accepted.',
    next: ({ accepts }) =>
      accepts === null
        ? `Verify the raw body. A body that is parsed, decoded or trimmed before has other bytes, and its signature differs. ${NOT_FOUND}`
        : fixOf(accepts),
  },
  'replay-used': {
    happened: ({ event, afterMs, requests, endpoints }) =>
      `The same ${event} again, after ${formatDuration(afterMs)}, ${requests > 0 ? `shows the agent ${requests === 1 ? 'a further request' : `${requests} further requests`}` : `caused further calls: ${endpoints.join(', ')}`}.`,
    expected:
      'The same bytes again do not open a second conversation. No time is signed, so a replay looks like a retry.',
    next: 'Find the conversation by chat.id first. While it waits for an agent, or has one, a further request for it changes nothing: answer 200 and keep it.',
  },
})
