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

/** A value that is longer than any exchange. */
const TOO_LONG = 'null'

interface ValueText {
  readonly text: string
  /** `traffic.jsonl:3`, or `traffic.har: entry 3`. */
  readonly at: string
}

/** The texts of the values in a file: the elements of its list of entries, or its lines. */
async function* valuesIn(name: string, chunks: AsyncIterable<string>): AsyncGenerator<ValueText> {
  let head: string | null = ''
  let cutNext = cutLines()
  let count = 0
  let unit = ':'
  const values = function* (chunk: string | null): Generator<ValueText> {
    for (const text of cutNext(chunk)) {
      count++
      if (text !== '') yield { text, at: `${name}${unit}${count}` }
    }
  }
  for await (const chunk of chunks) {
    if (head === null) {
      yield* values(chunk)
      continue
    }
    head += chunk
    if (head.length < 64 && !head.includes('\n')) continue
    const isDocument = DOCUMENT.test(head.replace(/^\ufeff/, ''))
    const list: RegExpExecArray | null = isDocument ? LIST.exec(head) : null
    // The list may begin in a later chunk.
    if (isDocument && list === null && head.length < BUDGETS.fileBytes) continue
    const rest: string = list === null ? head.replace(/^\ufeff/, '') : head.slice(list.index + list[0].length)
    if (list !== null) [cutNext, unit] = [cutElements(), ': entry ']
    head = null
    yield* values(rest)
  }
  if (head !== null) yield* values(head.replace(/^\ufeff/, ''))
  yield* values(null)
}

/** Cuts values out of chunks of text; null is the end of the file. */
type Cut = (chunk: string | null) => Generator<string>

function cutLines(): Cut {
  let pieces: string[] = []
  let length = 0
  return function* (text) {
    // The last line may have no line break.
    const chunk = text ?? '\n'
    for (let from = 0; from <= chunk.length; ) {
      const end = chunk.indexOf('\n', from)
      const piece = chunk.slice(from, end < 0 ? undefined : end)
      length += piece.length
      if (length <= BUDGETS.stateBytes) pieces.push(piece)
      if (end < 0) return
      const line = length > BUDGETS.stateBytes ? TOO_LONG : pieces.join('').trim()
      pieces = []
      length = 0
      from = end + 1
      yield line
    }
  }
}

const [QUOTE, BACKSLASH, OPEN_LIST, OPEN, CLOSE_LIST, CLOSE] = [34, 92, 91, 123, 93, 125]

/** Cuts the elements out of a list of objects, whose text begins behind its bracket. */
function cutElements(): Cut {
  let pieces: string[] = []
  let length = 0
  let depth = 0
  let isInText = false
  let isEscaped = false
  let hasEnded = false
  return function* (chunk) {
    // The file ends in the middle of an element.
    if (chunk === null) return length > 0 ? yield pieces.join('') : undefined
    let from = depth > 0 ? 0 : -1
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
          pieces.push(chunk.slice(from, at + 1))
          yield length > BUDGETS.stateBytes ? TOO_LONG : pieces.join('')
          pieces = []
          length = 0
          from = -1
        }
      }
    }
    if (from < 0 || hasEnded) return
    length += chunk.length - from
    if (length <= BUDGETS.stateBytes) pieces.push(chunk.slice(from))
  }
}
