/** Compares what arrives on the other side of a conversation with what was written. */

import { isMap } from '../../base/objects.ts'
import { counted, formatDuration } from '../../base/text/quantities.ts'
import { type DifferenceNote, noteFor } from '../../evaluation/evaluator/difference-notes.ts'
import type { Level } from '../../evaluation/finding.ts'
import { type CallEntry, isAccepted } from '../../evaluation/history.ts'
import type { CheckChat } from './chat.ts'
import type { CheckContext, FoundMistake } from './context.ts'
import { inboxUntil, lastEntry } from './observe.ts'

/** A text that the check writes. */
export interface Sample {
  /** Names it in findings, such as `an emoji`. */
  readonly name: string
  /** The part by which it is recognized when the rest has changed. */
  readonly token: string
  readonly text: string
}

/** A text as it arrived, with the entry that shows it. */
export interface ReceivedText {
  readonly text: string
  readonly seq: number
}

/** What is compared. */
export interface Exchange {
  readonly level: Level
  /** to_agent: the user wrote it. to_user: the agent wrote it. */
  readonly direction: 'to_agent' | 'to_user'
  readonly samples: readonly Sample[]
}

/**
 * For checks that compare texts: the languages of the agent, which are unknown, must not change them, and a missing
 * sender, which FLW-03 reports, must not hide them.
 */
export const UNTRANSLATED = { 'translation.engine': 'identity' } as const

/** The text of a `message` call; empty when there is none. */
export const messageIn = ({ request: { body } }: CallEntry): string =>
  isMap(body) && typeof body.message === 'string' ? body.message : ''

/** Waits until all samples have arrived on the other side; resolves with all texts there, oldest first. */
export async function receivedTexts(
  check: CheckContext,
  chat: CheckChat,
  direction: Exchange['direction'],
  samples: readonly Sample[] = [],
): Promise<readonly ReceivedText[]> {
  let received: ReceivedText[] = []
  const hasAll = () => samples.every(({ token }) => received.some(({ text }) => text.includes(token)))
  if (direction === 'to_agent') {
    await inboxUntil(check, chat, items => {
      const seq = check.core.journal.nextSeq - 1
      received = []
      for (const { text } of items) if (typeof text === 'string') received.push({ text, seq })
      return hasAll()
    })
    return received
  }
  const readCalls = () => {
    received = []
    for (const call of chat.calls('message'))
      if (isAccepted(call)) received.push({ text: messageIn(call), seq: call.seq })
    return hasAll()
  }
  await check.until(readCalls, check.limits.effectMs)
  return received
}

/** Reports samples that did not arrive, and those that arrived with other characters. True: all arrived unchanged. */
export function compareSamples(check: CheckContext, exchange: Exchange, received: readonly ReceivedText[]): boolean {
  const mistakes = changedTexts(exchange, received, check.limits.effectMs, lastEntry(check))
  for (const mistake of mistakes) check.add(mistake)
  return mistakes.length === 0
}

/** `shown`: the entries that show that a text did not arrive. */
export function changedTexts(
  { level, direction, samples }: Exchange,
  received: readonly ReceivedText[],
  withinMs: number,
  shown: readonly { readonly seq: number }[],
): FoundMistake[] {
  const reader = direction === 'to_agent' ? 'The agent' : 'The user'
  const mistakes: FoundMistake[] = []
  for (const { name, token, text } of samples) {
    const arrived = received.filter(candidate => candidate.text.includes(token))
    const [first] = arrived
    if (arrived.some(candidate => candidate.text === text)) continue
    const difference = first === undefined ? null : differenceOf(text, first.text)
    if (first !== undefined && difference !== null)
      mistakes.push({
        ...{ code: 'text-changed', level },
        happened: `${reader} got ${name} changed, ${differenceInWords(difference)}.`,
        hint: adviceFor(difference),
        details: { direction, name, difference },
        entries: [first],
      })
    else {
      const within = formatDuration(withinMs)
      const isToAgent = direction === 'to_agent'
      mistakes.push({
        ...{ code: 'text-missing', level },
        happened: isToAgent
          ? `The agent does not see ${name}, which the user wrote, within ${within}.`
          : `No message call had ${name}, which the agent wrote, within ${within}.`,
        hint: isToAgent
          ? 'Look whether the event MESSAGE FROM USER arrived, was acknowledged, and was stored for this chat.'
          : 'Look whether the help desk reported the message to the intermediary, and whether the call failed.',
        details: { direction, name, withinMs },
        entries: shown,
      })
    }
  }
  return mistakes
}

/** Reports samples that arrived more than once, or in another order. */
export function compareOrder(
  check: CheckContext,
  { level, direction, samples }: Exchange,
  received: readonly ReceivedText[],
): void {
  const reader = direction === 'to_agent' ? 'The agent' : 'The user'
  const arrived: { seq: number }[] = []
  const copies = new Map<string, { seq: number }[]>()
  for (const { text, seq } of received) {
    const sample = samples.find(({ token }) => text.includes(token))
    if (sample === undefined) continue
    arrived.push({ seq })
    copies.set(sample.name, [...(copies.get(sample.name) ?? []), { seq }])
  }
  const expected: string[] = []
  for (const { name } of samples) {
    const entries = copies.get(name)
    if (entries === undefined) continue
    expected.push(name)
    if (entries.length < 2) continue
    check.report(level, 'text-repeated', {
      happened: `${reader} got ${name} ${counted(entries.length, 'time')}; it was sent once.`,
      hint: 'Look for a handler that is registered twice, or a repetition of a call that had succeeded.',
      details: { direction, name, times: entries.length },
      entries,
    })
  }
  const order = [...copies.keys()]
  if (order.join('\n') === expected.join('\n')) return
  check.report(level, 'text-order', {
    happened: `${reader} got ${order.join(', ')}; the order was ${expected.join(', ')}.`,
    hint: 'Handle the messages of one chat one after the other: begin a call when the one before was answered.',
    details: { direction, expected, received: order },
    entries: arrived,
  })
}

export interface TextDifference {
  /** Of the first differing character, from 1, in code points. */
  readonly position: number
  /** The code points from there on, at most four; empty at the end of the text. */
  readonly expected: readonly number[]
  readonly received: readonly number[]
  readonly cause: DifferenceNote | null
}

const SHOWN = 4

/** Null when all code points are identical. */
function differenceOf(expected: string, received: string): TextDifference | null {
  if (expected === received) return null
  const codePoints = (text: string) => Array.from(text, character => character.codePointAt(0) ?? 0)
  const [sent, got] = [codePoints(expected), codePoints(received)]
  let at = 0
  while (at < sent.length && sent[at] === got[at]) at++
  return {
    position: at + 1,
    expected: sent.slice(at, at + SHOWN),
    received: got.slice(at, at + SHOWN),
    cause: noteFor(expected, received) ?? null,
  }
}

/** `U+1F469 U+200D U+1F4BB` */
function notation(points: readonly number[]): string {
  if (points.length === 0) return 'the end of the text'
  return points.map(point => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`).join(' ')
}

/** `at character 5: sent U+0026 U+0020, received U+0026 U+0061 (only HTML escaping differs)` */
function differenceInWords({ position, expected, received, cause }: TextDifference): string {
  const why = cause === null ? '' : ` (${cause.text})`
  return `at character ${position}: sent ${notation(expected)}, received ${notation(received)}${why}`
}

const ADVICE: Readonly<Record<string, string>> = {
  html: 'Do not escape the text: JSON carries it as it is, and the page that shows it escapes it.',
  markup_removed: 'Do not remove markup: it is text that a person wrote. The page that shows it escapes it.',
  white_space: 'Do not trim: leading and trailing white space belongs to the text.',
  normalisation: 'Do not normalise the text, also not in the database: keep the code points that came.',
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

function adviceFor({ cause }: TextDifference): string {
  const advice = cause !== null && Object.hasOwn(ADVICE, cause.code) ? ADVICE[cause.code] : undefined
  return advice ?? 'Compare the text at each place that handles it: webhook, storage, help desk, call.'
}
