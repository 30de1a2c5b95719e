/** Renders why a receiver refuses valid signatures: which forms pass and fail, and which wrong signature it accepts. */

import { FIX_TEXTS, MISTAKE_TEXTS, type MistakeId } from '../../../platform/signature/mistakes.ts'

/** Completes "their JSON was ...". */
export const JSON_FORM_TEXTS = {
  compact: 'compact',
  spaced: 'spaced',
  ascii: 'ASCII with \\u escapes',
  slashes: 'written with \\/',
  pretty: 'indented',
  newline: 'followed by a newline',
  reordered: 'in another order of fields',
}

/** Which forms of the same JSON a receiver refuses. */
export const PATTERN_TEXTS = {
  every: 'No form passes, so the form is not the reason.',
  rewritten: 'Only what JSON.stringify writes passes: the body is parsed and written again before it is verified.',
  'non-ascii':
    'Events with non-ASCII text fail and the one without it passes: the body is decoded before it is verified.',
  newline: 'Only the body with a newline at its end fails: the body is trimmed before it is verified.',
  'line-breaks': 'Bodies with line breaks fail: the body is read by lines, or its line breaks are changed.',
  escapes: 'Bodies with backslashes fail: escapes are removed before the body is verified.',
  order: 'Only another order of the fields fails: fields are put in order before the body is verified.',
  mixed: 'So the bytes are changed before they are verified.',
}
export type RefusalPattern = keyof typeof PATTERN_TEXTS

/** A wrong signature that a receiver accepts, which tells how it verifies. */
export interface AcceptedVariant {
  /** A mistake of `explain`, or another difference of the request. */
  readonly code: MistakeId | keyof typeof REQUEST_TEXTS
  /** Empty, or completes the text of the mistake. */
  readonly detail: string
}

const REQUEST_TEXTS = {
  'compact-ascii':
    'It accepts the same event as compact JSON in ASCII: the form of the JSON decides, so the raw body is not what it verifies',
  'header-name': 'It accepts the same event when the names of the headers are in lower case: it looks for another case',
}

const isMistake = (code: AcceptedVariant['code']): code is MistakeId => Object.hasOwn(MISTAKE_TEXTS, code)

export function acceptedText({ code, detail }: AcceptedVariant): string {
  if (!isMistake(code)) return `${REQUEST_TEXTS[code]}.`
  const mistake = MISTAKE_TEXTS[code]
  const sentence = mistake.charAt(0).toLowerCase() + mistake.slice(1)
  return `It accepts an event with this mistake: ${sentence}${detail === '' ? '' : ` (${detail})`}.`
}

/** How to fix what the accepted variant shows. */
export function fixOf({ code }: AcceptedVariant): string {
  if (code === 'compact-ascii') return FIX_TEXTS['restringified-json']
  return FIX_TEXTS[code === 'header-name' ? 'missing-header' : code]
}
