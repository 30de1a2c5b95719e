/** Finds where a text first differs from the text that was sent, and why. */

import { type DifferenceNote, noteFor } from '../../evaluation/evaluator/difference-notes.ts'
import { noteText } from '../../evaluation/evaluator/wording/failure-text.ts'

export type TextCause =
  | DifferenceNote
  | { readonly code: 'normalised'; readonly form: string }
  | { readonly code: 'line_breaks' }
  /** Characters above U+FFFF, which are two units in UTF-16, were cut or replaced. */
  | { readonly code: 'surrogates' }

export interface TextDifference {
  /** Of the first differing character, from 1, in code points. */
  readonly position: number
  /** The code points from there on, at most four; empty at the end of the text. */
  readonly expected: readonly number[]
  readonly received: readonly number[]
  readonly cause: TextCause | null
}

const SHOWN = 4
const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const
const ASTRAL = /[\u{10000}-\u{10ffff}]/gu

/** Null when all code points are identical. */
export function differenceOf(expected: string, received: string): TextDifference | null {
  if (expected === received) return null
  const codePoints = (text: string) => Array.from(text, character => character.codePointAt(0) ?? 0)
  const [sent, got] = [codePoints(expected), codePoints(received)]
  let at = 0
  while (at < sent.length && sent[at] === got[at]) at++
  return {
    position: at + 1,
    expected: sent.slice(at, at + SHOWN),
    received: got.slice(at, at + SHOWN),
    cause: causeOf(expected, received),
  }
}

function causeOf(expected: string, received: string): TextCause | null {
  for (const form of FORMS) if (expected.normalize(form) === received) return { code: 'normalised', form }
  for (const space of ['', ' '])
    if (expected.replace(/[\r\n]+/g, space) === received.replace(/[\r\n]+/g, space)) return { code: 'line_breaks' }
  const cut = expected.replace(ASTRAL, character => String.fromCharCode((character.codePointAt(0) ?? 0) & 0xffff))
  if (cut !== expected && cut === received) return { code: 'surrogates' }
  const without = expected.replace(ASTRAL, '')
  const isReplaced = received.replace(/[\ud800-\udfff\ufffd?]+/g, '') === without.replace(/\?+/g, '')
  if (without !== expected && isReplaced) return { code: 'surrogates' }
  return noteFor(expected, received) ?? null
}

function causeText(cause: TextCause): string {
  switch (cause.code) {
    case 'normalised':
      return `the text was normalised to ${cause.form}`
    case 'line_breaks':
      return 'line breaks were changed'
    case 'surrogates':
      return 'characters above U+FFFF, such as emoji, were cut or replaced'
    default:
      return noteText(cause)
  }
}

/** `U+1F469 U+200D U+1F4BB` */
function notation(points: readonly number[]): string {
  if (points.length === 0) return 'the end of the text'
  return points.map(point => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`).join(' ')
}

/** `at character 5: sent U+0026 U+0020, received U+0026 U+0061 (only HTML escaping differs)` */
export function differenceInWords({ position, expected, received, cause }: TextDifference): string {
  const why = cause === null ? '' : ` (${causeText(cause)})`
  return `at character ${position}: sent ${notation(expected)}, received ${notation(received)}${why}`
}

const ADVICE: Readonly<Record<string, string>> = {
  html: 'Do not escape the text: JSON carries it as it is, and the page that shows it escapes it.',
  markup_removed: 'Do not remove markup: it is text that a person wrote. The page that shows it escapes it.',
  white_space: 'Do not trim: leading and trailing white space belongs to the text.',
  normalised: 'Do not normalise the text, also not in the database: keep the code points that came.',
  line_breaks: 'Keep line breaks as they came: look for a one-line field, or for a conversion to <br> and back.',
  surrogates:
    'Use a type that holds all of Unicode, such as utf8mb4 in MySQL, and do not cut texts between UTF-16 units.',
  invisible: 'Do not filter characters such as U+200D and U+200F: emoji and right-to-left text are made of them.',
  latin1: 'Read the body as UTF-8: JSON has no other encoding, whatever the Content-Type says.',
  non_ascii_lost: 'Look for a conversion to ASCII or Latin-1: a driver, a database column, or a log format.',
  marker_added: 'Do not translate: the platform does it, in both directions, when the agent has another language.',
  marker_missing: 'Forward the text of the event, which the platform has translated already.',
  cut: 'Look for a limit of the length: a column of the database, a limit of the help desk, or a preview.',
}

export function adviceFor({ cause }: TextDifference): string {
  const advice = cause !== null && Object.hasOwn(ADVICE, cause.code) ? ADVICE[cause.code] : undefined
  return advice ?? 'Compare the text at each place that handles it: webhook, storage, help desk, call.'
}
