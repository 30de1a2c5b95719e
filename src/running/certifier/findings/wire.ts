/** Findings about requests that are unusual, and how they were answered. */

import { formatDuration } from '../../../base/text/quantities.ts'
import type { DeliveryFailure } from '../../../platform/journal/entry.ts'
import { failureText } from '../../../platform/wording/failures.ts'
import { defineFindings } from './define.ts'

/** Completes "an event with ...". */
const VARIANTS = {
  'algorithm-missing': 'no header that names the algorithm',
  'algorithm-other': 'another value of the header that names the algorithm',
  'algorithm-twice': 'the header that names the algorithm twice',
  'signature-twice': 'the signature header twice',
  'signatures-differ': 'two signature headers, the second one wrong',
  chunked: 'a body in chunks, without Content-Length',
  'header-case': 'header names in unusual letter case',
  'slow-body': 'a body that arrives in pieces',
  charset: 'a charset in the Content-Type',
  'byte-order-mark': 'a byte order mark before its JSON',
  'content-type-missing': 'no Content-Type',
  'content-type-twice': 'the Content-Type header twice',
}

/** How a request differs from the usual one. */
export type RequestVariant = keyof typeof VARIANTS

const NEXT: Readonly<Record<RequestVariant, string>> = {
  'algorithm-missing': 'Do not read the header that names the algorithm: it is always HMAC-SHA256 as base64.',
  'algorithm-other': 'Do not read the header that names the algorithm: it is always HMAC-SHA256 as base64.',
  'algorithm-twice': 'A header that comes twice is a list in some frameworks: code that expects text then throws.',
  'signature-twice':
    'A header that comes twice is a list, or two values joined by a comma: answer 401 unless it is one text.',
  'signatures-differ':
    'A header that comes twice is a list, or two values joined by a comma: answer 401 unless it is one text.',
  chunked: 'Read the body to its end, whatever Content-Length says: a chunked body has none.',
  'header-case': 'Look up headers without regard to case, with what the framework offers for it.',
  'slow-body': 'Read the body to its end before it is verified: it may come in several pieces.',
  charset: 'Compare only the part of Content-Type before the semicolon.',
  'byte-order-mark':
    'Catch errors of the JSON parser and answer 400, or remove the mark after the signature is verified.',
  'content-type-missing': 'A missing header is null: check for it, and then read the body as JSON or answer 415.',
  'content-type-twice': 'A header that comes twice is a list in some frameworks: code that expects text then throws.',
}

interface Sent {
  readonly event: string
  readonly variant: RequestVariant
}

export interface WireFindings {
  readonly 'variant-unanswered': Sent & { readonly failure: DeliveryFailure | null }
  readonly 'variant-error': Sent & { readonly status: number }
  readonly 'variant-late': Sent & { readonly durationMs: number; readonly limitMs: number }
  /** A legal variant was not answered with 200. */
  readonly 'variant-refused': Sent & { readonly status: number }
}

export const WIRE_FINDINGS = defineFindings<WireFindings>({
  'variant-unanswered': {
    happened: ({ event, variant, failure }) =>
      `The webhook gave no answer to ${event} with ${VARIANTS[variant]}${failure === null ? '' : `: ${failureText(failure)}`}.`,
    expected: 'It answers every request.',
    next: ({ variant }) => `${NEXT[variant]} A handler that throws must still answer.`,
  },
  'variant-error': {
    happened: ({ event, variant, status }) => `The webhook answered ${status} to ${event} with ${VARIANTS[variant]}.`,
    expected: 'It answers with 200, or with a status from 400 to 499 when it refuses the request.',
    next: ({ variant }) => NEXT[variant],
  },
  'variant-late': {
    happened: ({ event, variant, durationMs }) =>
      `The webhook answered ${event} with ${VARIANTS[variant]} after ${formatDuration(durationMs)}.`,
    expected: ({ limitMs }) => `It answers within ${formatDuration(limitMs)}.`,
    next: ({ variant }) => NEXT[variant],
  },
  'variant-refused': {
    happened: ({ event, variant, status }) =>
      `The webhook answered ${status} to a validly signed ${event} with ${VARIANTS[variant]}.`,
    expected: 'It answers 200: HTTP allows this, and libraries and proxies do it.',
    next: ({ variant }) => NEXT[variant],
  },
})
