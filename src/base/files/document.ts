/** Parses YAML and JSON into values, and finds the line and column of every key and value. */
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseAllDocuments } from 'yaml'
import type * as z from 'zod/mini'
import { explainIssues, fieldName } from '../schemas/explain-issues.ts'
import { messageOf } from '../text/error-text.ts'
import { maskedLine } from '../text/secret-positions.ts'
import { BUDGETS } from './budgets.ts'
import {
  byLine,
  ConfigError,
  createExcerpts,
  type ExcerptAt,
  fileProblem,
  limitProblems,
  type Position,
  type Problem,
} from './errors.ts'
import { mistakesIn, type YamlMistake } from './yaml-mistakes.ts'

export interface Span extends Position {
  readonly length: number
}

export interface Source {
  readonly value: unknown
  /** Written as YAML or JSON, and not as a module. */
  readonly isData: boolean
  place(path: readonly PropertyKey[], of: 'key' | 'value'): Span | null
  /** `name:line:column: field`, with the line shown. */
  problem(path: readonly PropertyKey[], of: 'key' | 'value', field: string, message: string): Problem
}

/** Throws `ConfigError` with every syntax error. */
export function parseSource(name: string, text: string, json: boolean): Source {
  const lines = new LineCounter()
  if (json) checkJson(name, text)
  const [document, second] = documentsIn(name, text, lines)
  if (document === undefined) return moduleSource(name, null)
  if (second !== undefined) {
    const message = 'is a second document (after ---); this file holds one'
    throw new ConfigError([syntaxProblem(name, createExcerpts(text), positionAt(lines, second.range[0]), message)])
  }
  checkSyntax(name, text, lines, [document])
  return sourceOf(name, createExcerpts(text), lines, document)
}

/** Parses every document of a file, which `---` separates, and skips empty ones. Throws like `parseSource`. */
export function parseSources(name: string, text: string, json: boolean): Source[] {
  if (json) return [parseSource(name, text, json)]
  const lines = new LineCounter()
  const filled = documentsIn(name, text, lines).filter(
    one => one.errors.length > 0 || !(one.contents === null || (isScalar(one.contents) && one.contents.value === null)),
  )
  checkSyntax(name, text, lines, filled)
  const excerptAt = createExcerpts(text)
  return filled.map(document => sourceOf(name, excerptAt, lines, document))
}

/** The parser prints no warnings to stderr. It compares keys too slowly; `repeatedKeys` finds those that repeat. */
function documentsIn(name: string, text: string, lineCounter: LineCounter): Document.Parsed[] {
  try {
    const options = { prettyErrors: false, uniqueKeys: false, logLevel: 'error', lineCounter } as const
    return [...parseAllDocuments(text, options)]
  } catch (error) {
    throw unreadable(name, error)
  }
}

/** The parser calls itself for each level, and limits what aliases stand for. */
function unreadable(name: string, error: unknown): ConfigError {
  if (error instanceof RangeError) return fileProblem(name, 'is nested too deep')
  const message = messageOf(error)
  return fileProblem(name, message.startsWith('Excessive alias count') ? TOO_MANY_ALIASES : message)
}

const TOO_MANY_ALIASES =
  'has too many aliases (*name) of one anchor (&name), or aliases of aliases; write some of them out'

function checkSyntax(name: string, text: string, lines: LineCounter, documents: readonly Document[]): void {
  let mistakes: YamlMistake[]
  try {
    mistakes = documents.flatMap(one => mistakesIn(one, text))
  } catch (error) {
    throw unreadable(name, error)
  }
  if (mistakes.length === 0) return
  const excerptAt = createExcerpts(text)
  const shown = mistakes.slice(0, BUDGETS.problems)
  const problems = shown.map(one => syntaxProblem(name, excerptAt, positionAt(lines, one.offset), one.message))
  throw new ConfigError(limitProblems(problems, mistakes.length - shown.length))
}

function sourceOf(name: string, excerptAt: ExcerptAt, lines: LineCounter, document: Document): Source {
  let value: unknown
  try {
    value = document.toJS()
  } catch (error) {
    throw unreadable(name, error)
  }
  const place = (path: readonly PropertyKey[], of: 'key' | 'value') => {
    const range = rangeOf(document, path, of)
    return range === null ? null : { ...positionAt(lines, range[0]), length: range[1] - range[0] }
  }
  return {
    value,
    isData: true,
    place,
    problem(path, of, field, message) {
      const found = place(path, of)
      const label = field === '' ? '' : `: ${field}`
      if (found === null) return { at: `${name}${label}`, file: name, message }
      const { line, column, length } = found
      const excerpt = excerptAt(found, length)
      return { at: `${name}:${line}:${column}${label}`, file: name, line, message, excerpt }
    },
  }
}

type Range = readonly [from: number, valueTo: number, nodeTo: number]

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

const syntaxProblem = (name: string, excerptAt: ExcerptAt, position: Position, message: string): Problem => ({
  at: `${name}:${position.line}:${position.column}`,
  file: name,
  line: position.line,
  message: message.replace(/\s+/g, ' '),
  excerpt: excerptAt(position),
})

/** Checks JSON by itself, because the YAML parser accepts more. */
function checkJson(name: string, text: string): void {
  try {
    JSON.parse(text)
  } catch (error) {
    const message = messageOf(error)
    const before = text.slice(0, offsetIn(message, text)).split('\n')
    const position = { line: before.length, column: (before.at(-1) ?? '').length + 1 }
    // The message of V8 may quote a secret of the line.
    const lines = text.split('\n')
    const hasSecret = maskedLine(lines, position.line - 1) !== lines[position.line - 1]
    const shown = hasSecret ? 'is not valid JSON here' : `is not valid JSON: ${message}`
    throw new ConfigError([syntaxProblem(name, createExcerpts(text), position, shown)])
  }
}

/** V8 names a position, or quotes ten characters before and after the wrong one, or means the end of the text. */
function offsetIn(message: string, text: string): number {
  const position = /position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return Number(position)
  const [, cutBefore, around = '', cutAfter] =
    /^Unexpected token '.', (\.{3})?"(.*)"(\.{3})? is not/s.exec(message) ?? []
  const from = text.indexOf(around)
  if ((!cutBefore && !cutAfter) || from === -1 || from !== text.lastIndexOf(around)) return text.length
  return cutBefore ? from + AROUND : around.length - AROUND
}

const AROUND = 10

/** A missing part has the range of its parent. */
function rangeOf(document: Document, path: readonly PropertyKey[], of: 'key' | 'value'): Range | null {
  const node = of === 'value' || path.length === 0 ? document.getIn(path, true) : undefined
  const found = (isNode(node) ? node.range : null) ?? keyRange(document, path)
  return found ?? (path.length === 0 ? null : rangeOf(document, path.slice(0, -1), 'value'))
}

function keyRange(document: Document, path: readonly PropertyKey[]): Range | null {
  const parent = path.length <= 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (!isMap(parent)) return null
  const name = String(path.at(-1))
  const pair = parent.items.find(item => isPair(item) && isScalar(item.key) && String(item.key.value) === name)
  return isNode(pair?.key) ? (pair.key.range ?? null) : null
}

/** A value that a module exports, which has no places. */
export function moduleSource(name: string, value: unknown): Source {
  return {
    value,
    isData: false,
    place: () => null,
    problem: (_path, _of, field, message) => ({ at: field === '' ? name : `${name}: ${field}`, file: name, message }),
  }
}

/** The issues that `schema` has with `value`, which stands at the path `at`, in the order of the lines. */
export function schemaProblems(
  source: Source,
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  schema: z.ZodMiniType,
  at: readonly PropertyKey[] = [],
): Problem[] {
  // Issues are cut before they are explained, because that takes long.
  const most = BUDGETS.problems
  const shown: z.core.$ZodIssue[] = []
  let hidden = Math.max(0, issues.length - most)
  for (const issue of issues.slice(0, most)) {
    if (issue.code === 'unrecognized_keys' && issue.keys.length > most) {
      shown.push({ ...issue, keys: issue.keys.slice(0, most) })
      hidden += issue.keys.length - most
    } else shown.push(issue)
  }
  const problems = explainIssues(shown, value, schema).map(({ path, wrong, message }) => {
    const full = [...at, ...path]
    return source.problem(full, wrong, fieldName(full), message)
  })
  return limitProblems(byLine(problems), hidden)
}
