/** Parses YAML and JSON into values, finds the line and column of every key and value, and explains mistakes in YAML. */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
  type YAMLParseError,
} from 'yaml'
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
  return createSource(name, createExcerpts(text), lines, document)
}

/** Parses every document of a file, which `---` separates, and skips empty ones. Throws like `parseSource`. */
export function parseSources(name: string, text: string, json: boolean): Source[] {
  if (json) return [parseSource(name, text, json)]
  const lines = new LineCounter()
  const filled = documentsIn(name, text, lines).filter(
    document =>
      document.errors.length > 0 ||
      !(document.contents === null || (isScalar(document.contents) && document.contents.value === null)),
  )
  checkSyntax(name, text, lines, filled)
  const excerptAt = createExcerpts(text)
  return filled.map(document => createSource(name, excerptAt, lines, document))
}

/** The parser prints no warnings to stderr. It compares keys too slowly; `repeatedKeys` finds those that repeat. */
function documentsIn(name: string, text: string, lineCounter: LineCounter): Document.Parsed[] {
  if (hasDeepBrackets(text)) throw fileProblem(name, 'is nested too deep')
  try {
    const options = { prettyErrors: false, uniqueKeys: false, logLevel: 'error', lineCounter } as const
    return [...parseAllDocuments(text, options)]
  } catch (error) {
    throw unreadable(name, error)
  }
}

/** Levels of `[` and `{`. The parser takes time with the square of them. */
const MAX_BRACKETS = 1_000

function hasDeepBrackets(text: string): boolean {
  if (text.split(/[[{]/, MAX_BRACKETS + 2).length <= MAX_BRACKETS + 1) return false
  let depth = 0
  let before = ''
  for (const token of new Lexer().lex(text)) {
    // After this mark, a token is the text of a scalar.
    if (before !== '\x1f' && (token === '[' || token === '{')) depth++
    else if (before !== '\x1f' && (token === ']' || token === '}')) depth--
    if (depth > MAX_BRACKETS) return true
    before = token
  }
  return false
}

/** The parser calls itself for each level, and limits what aliases stand for. */
function unreadable(name: string, error: unknown): ConfigError {
  if (error instanceof RangeError || /Stack overflow/.test(messageOf(error)))
    return fileProblem(name, 'is nested too deep')
  const message = messageOf(error)
  return fileProblem(name, message.startsWith('Excessive alias count') ? TOO_MANY_ALIASES : message)
}

const TOO_MANY_ALIASES =
  'has too many aliases (*name) of one anchor (&name), or aliases of aliases; write some of them out'

function checkSyntax(name: string, text: string, lines: LineCounter, documents: readonly Document[]): void {
  let mistakes: YamlMistake[]
  try {
    mistakes = documents.flatMap(document => mistakesIn(document, text))
  } catch (error) {
    throw unreadable(name, error)
  }
  if (mistakes.length === 0) return
  const excerptAt = createExcerpts(text)
  const shown = mistakes.slice(0, BUDGETS.problems)
  const problems = shown.map(mistake =>
    syntaxProblem(name, excerptAt, positionAt(lines, mistake.offset), mistake.message),
  )
  throw new ConfigError(limitProblems(problems, mistakes.length - shown.length))
}

function createSource(name: string, excerptAt: ExcerptAt, lines: LineCounter, document: Document): Source {
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
      const span = place(path, of)
      const label = field === '' ? '' : `: ${field}`
      if (span === null) return { at: `${name}${label}`, file: name, message }
      const { line, column, length } = span
      const excerpt = excerptAt(span, length)
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
  const range = (isNode(node) ? node.range : null) ?? keyRange(document, path)
  return range ?? (path.length === 0 ? null : rangeOf(document, path.slice(0, -1), 'value'))
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

export interface YamlMistake {
  readonly offset: number
  readonly message: string
}

/** By the error code of the YAML parser. */
const FIXES: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'a text with ": " in it must be quoted',
  TAB_AS_INDENT: 'indent with spaces',
  BAD_SCALAR_START: 'quote the text',
  MULTILINE_IMPLICIT_KEY: 'a text over several lines must be quoted or begin with |',
}

/** Returns all syntax errors; without any, aliases of nothing, misread text and documents in YAML 1.1. */
function mistakesIn(document: Document, text: string): YamlMistake[] {
  const syntax = [...syntaxMistakes(document, text), ...repeatedKeys(document)].sort((a, b) => a.offset - b.offset)
  if (syntax.length > 0) return firstOfEachLine(syntax, text)
  return firstOfEachLine([...oldVersion(document), ...wrongAliases(document), ...traps(document)], text)
}

/** Errors after a quote that is never closed are left out, because they are consequences of it. */
function syntaxMistakes({ errors, contents }: Document, text: string): YamlMistake[] {
  const open = errors.flatMap(error => openQuote(error, contents) ?? [])[0]
  const syntax = errors.map(({ code, message, pos: [offset] }): YamlMistake => {
    // The parser calls itself for each level.
    // Where a regular expression is compiled first, its own text says so.
    if (/call stack|Stack overflow/.test(message)) return { offset, message: 'is nested too deep' }
    // The parser takes an item with another indentation for a part of the item above.
    if (code === 'BLOCK_AS_IMPLICIT_KEY' && text[offset - 1] === '\n' && /^ *- /.test(text.slice(offset, offset + 200)))
      return { offset, message: ITEM_IN_OTHER_COLUMN }
    const from = text.lastIndexOf('\n', offset - 1) + 1
    const to = text.indexOf('\n', offset)
    const fix = /\{\{|\}\}/.test(text.slice(from, to === -1 ? undefined : to))
      ? 'write $(name) where a value goes in, without quotes'
      : fixFor(code, text, offset)
    return { offset, message: withFix(message, fix) }
  })
  return open === undefined ? syntax : [...syntax.filter(({ offset }) => offset < open.offset), open]
}

/** The parser reports the end of the text; this is the place of the quote instead. */
function openQuote({ code, pos }: YAMLParseError, contents: Node | null): YamlMistake | undefined {
  if (code !== 'MISSING_CHAR') return
  let mistake: YamlMistake | undefined
  visit(contents, {
    Scalar(_key, { type, range }) {
      const quoted = type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE'
      if (quoted && range?.[1] === pos[0]) mistake = { offset: range[0], message: 'this quote is never closed' }
    },
  })
  return mistake
}

const ITEM_IN_OTHER_COLUMN =
  'this item does not begin in the column of the other items; indent the - of every item of a list equally'

const fixFor = (code: string, text: string, offset: number) =>
  code === 'UNEXPECTED_TOKEN' && text[offset - 1] === "'"
    ? "a ' inside '...' is written twice, or the text put between double quotes"
    : FIXES[code]

const withFix = (message: string, fix: string | undefined) =>
  fix === undefined ? message : `${message.replace(/\.$/, '')}; ${fix}`

/** Keeps the first mistake of each line, because the others follow from it. */
function firstOfEachLine(mistakes: readonly YamlMistake[], text: string): YamlMistake[] {
  const lines = new Set<number>()
  return mistakes.filter(({ offset }) => {
    const start = text.lastIndexOf('\n', offset - 1)
    return !lines.has(start) && lines.add(start)
  })
}

function oldVersion(document: Document): YamlMistake[] {
  if (document.directives?.yaml.version !== '1.1') return []
  return [
    { offset: 0, message: 'YAML 1.1 is not read, because no, yes and 09:00 mean something else in it; use YAML 1.2' },
  ]
}

/** Finds aliases whose anchor does not stand before them, or stands around them. */
function wrongAliases(document: Document): YamlMistake[] {
  const lost: YamlMistake[] = []
  const anchors = new Set<string>()
  visit(document, {
    Node(_key, node, ancestors) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.add(node.anchor)
      } else if (ancestors.some(parent => isNode(parent) && 'anchor' in parent && parent.anchor === node.source)) {
        const message = `*${node.source} is inside of &${node.source}, so it would contain itself`
        lost.push({ offset: node.range?.[0] ?? 0, message })
      } else if (!anchors.has(node.source)) {
        lost.push({
          offset: node.range?.[0] ?? 0,
          message: `*${node.source} is an alias of nothing; set it with &${node.source} before, or quote the text`,
        })
      }
    },
  })
  return lost
}

/** The parser compares every key with every other one, so a map with many keys would take long. */
function repeatedKeys(document: Document): YamlMistake[] {
  const mistakes: YamlMistake[] = []
  visit(document, {
    Map(_key, { items }) {
      const keys = new Set<unknown>()
      for (const { key } of items) {
        const value = isScalar(key) ? key.value : key
        if (keys.has(value))
          mistakes.push({ offset: (isNode(key) && key.range?.[0]) || 0, message: 'Map keys must be unique' })
        keys.add(value)
      }
    },
  })
  return mistakes
}

/** Inside braces a comma ends a text, and `{{ x }}` is a map in a map; the parser accepts both. */
function traps(document: Document): YamlMistake[] {
  const mistakes: YamlMistake[] = []
  const add = (node: unknown, message: string) =>
    mistakes.push({ offset: (isNode(node) && node.range?.[0]) || 0, message })
  visit(document, {
    Map(_key, node) {
      for (const pair of node.items) {
        if (node.flow && isMap(pair.key))
          add(
            pair.key,
            withFix('{{ }} is a map inside a map here', 'write $(name) where a value goes in, without quotes'),
          )
        else if (isCollection(pair.key)) add(pair.key, 'a list or a map is a key here; a key is a text')
        else if (node.flow && isScalar(pair.key) && pair.value === null)
          add(pair.key, 'has no value; inside { } quote a text that has , [ ] { } or ": " in it')
      }
    },
    Scalar(_key, node) {
      if (node.type === 'PLAIN' && /\$?\{\{/.test(node.source ?? ''))
        add(node, withFix('{{ }} fills nothing in', 'write $(name) where a value goes in, without quotes'))
    },
  })
  return mistakes
}
