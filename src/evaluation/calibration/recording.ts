/** Reads recordings piece by piece, so that a file of any size needs little memory: journals, HAR 1.2, lines of exchanges. */

import { BUDGETS } from '../../base/files/budgets.ts'
import { problem } from '../../base/files/errors.ts'
import { jsonOr } from '../../base/objects.ts'
import { cut } from '../../base/text/cut.ts'
import { type Observation, observationsOf } from './observation.ts'

/** Receives what a recording contains. */
export interface RecordingListener {
  observe(observation: Observation): void | Promise<void>
  leaveOut?(why: string): void
}

/** An answer of `GET /_sim/journal` or a HAR file: one value with a list of entries. */
const DOCUMENT = /^\s*\{\s*"(log|entries)"\s*:/
const LIST = /(?<!\\)"entries"\s*:\s*\[/

/**
 * Passes on what is in a recording. A last line that is cut off is left out. Rejects with `ConfigError` when an entry of
 * a journal has a wrong field, and when nothing in the file is part of a recording.
 *
 * @param name of the file, for the places of evidence
 * @param chunks its text
 */
export async function readRecording(
  name: string,
  chunks: AsyncIterable<string>,
  listener: RecordingListener,
): Promise<void> {
  let number = 0
  let isRecording = false
  let firstText: string | null = null
  for await (const { text, at } of valuesIn(name, chunks)) {
    firstText ??= text
    number++
    const value = text === TOO_LONG ? null : jsonOr(text, undefined)
    const observed = value === undefined ? 'not JSON' : observationsOf(value, { file: name, entry: number }, at)
    if (observed !== 'not JSON' && observed !== null) isRecording = true
    if (typeof observed === 'string' || observed === null)
      listener.leaveOut?.(observed ?? 'neither a call nor an event')
    else for (const observation of observed) await listener.observe(observation)
  }
  if (isRecording) return
  const begins = firstText === null ? 'it is empty' : `it begins with ${JSON.stringify(cut(firstText, 40))}`
  throw problem(
    `${name} is no recording`,
    `${begins}. Pass a journal (JSON lines), a HAR file, or JSON lines of { request, response }`,
  )
}

interface ValueText {
  readonly text: string
  /** `traffic.jsonl:3`, or `traffic.har: entry 3`. */
  readonly at: string
}

/** The texts of the values in a file: the elements of its list of entries, or its lines. */
async function* valuesIn(name: string, chunks: AsyncIterable<string>): AsyncGenerator<ValueText> {
  let head = ''
  let cutNext: Cut | null = null
  let unit = ':'
  let count = 0
  function* values(text: string, isEnd: boolean): Generator<ValueText> {
    for (const value of cutNext?.(text, isEnd) ?? []) {
      count++
      if (value !== '') yield { text: value, at: `${name}${unit}${count}` }
    }
  }
  for await (const chunk of chunks) {
    if (cutNext !== null) {
      yield* values(chunk, false)
      continue
    }
    head = (head + chunk).replace(/^\ufeff/, '')
    if (head.length < 64 && !head.includes('\n')) continue
    const isDocument = DOCUMENT.test(head)
    const list: RegExpExecArray | null = isDocument ? LIST.exec(head) : null
    // The list may begin in a later chunk.
    if (isDocument && list === null && head.length < BUDGETS.fileBytes) continue
    if (list !== null) unit = ': entry '
    cutNext = list === null ? cutLines() : cutElements()
    yield* values(list === null ? head : head.slice(list.index + list[0].length), false)
    head = ''
  }
  cutNext ??= cutLines()
  yield* values(head, true)
}

/** Cuts values out of the chunks of a text. */
type Cut = (chunk: string, isEnd: boolean) => Generator<string>

/** A value that is longer than any exchange. */
const TOO_LONG = 'null'

const grow = (text: string, more: string) => (text.length > BUDGETS.stateBytes ? text : text + more)
const limit = (text: string) => (text.length > BUDGETS.stateBytes ? TOO_LONG : text.trim())

function cutLines(): Cut {
  let line = ''
  return function* (chunk, isEnd) {
    const [end = '', ...lines] = chunk.split('\n')
    line = grow(line, end)
    for (const next of lines) {
      yield limit(line)
      line = next
    }
    if (isEnd) yield limit(line)
  }
}

const [QUOTE, BACKSLASH, OPEN_LIST, OPEN, CLOSE_LIST, CLOSE] = [34, 92, 91, 123, 93, 125]

/** Cuts the elements out of a list of objects, whose text begins behind its bracket. */
function cutElements(): Cut {
  let element = ''
  let depth = 0
  let isInText = false
  let isEscaped = false
  let hasEnded = false
  return function* (chunk, isEnd) {
    let from = 0
    for (let at = 0; at < chunk.length && !hasEnded; at++) {
      const code = chunk.charCodeAt(at)
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isInText = false
      } else if (code === QUOTE) isInText = true
      else if (code === OPEN || code === OPEN_LIST) {
        if (depth++ === 0) from = at
      } else if (code === CLOSE || code === CLOSE_LIST) {
        if (depth === 0) hasEnded = true
        else if (--depth === 0) {
          yield limit(grow(element, chunk.slice(from, at + 1)))
          element = ''
        }
      }
    }
    if (depth > 0) element = grow(element, chunk.slice(from))
    // The file ends in the middle of an element.
    if (isEnd && depth > 0) yield element
  }
}
