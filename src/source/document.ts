/** YAML and JSON files as a value with places: line and column of every key and value. */
import { type Document, isMap, isPair, isScalar, LineCounter, type Node, type ParsedNode, parseDocument } from 'yaml'
import { ConfigError, excerptOf, type Problem } from './errors.ts'

export interface Place {
  readonly line: number
  readonly column: number
  readonly length: number
}

export interface Source {
  readonly value: unknown
  place(path: readonly PropertyKey[], of: 'key' | 'value'): Place | null
  /** `name:line:column: field`, with the line shown. */
  problem(path: readonly PropertyKey[], of: 'key' | 'value', field: string, message: string): Problem
}

/** Throws `ConfigError` with every syntax error. */
export function parseSource(name: string, text: string, json: boolean): Source {
  if (json) checkJson(name, text)
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const at = (offset: number) => lines.linePos(offset)
  if (document.errors.length > 0) {
    throw new ConfigError(document.errors.map(error => syntaxProblem(name, text, at(error.pos[0]), error.message)))
  }
  const place = (path: readonly PropertyKey[], of: 'key' | 'value') => {
    const range = rangeOf(document, path, of)
    if (range === null) return null
    const { line, col } = at(range[0])
    return { line, column: col, length: range[1] - range[0] }
  }
  return {
    value: valueIn(name, document),
    place,
    problem(path, of, field, message) {
      const found = place(path, of)
      const label = field === '' ? '' : `: ${field}`
      if (found === null) return { at: `${name}${label}`, message }
      const excerpt = excerptOf(text, found.line, found.column, found.length)
      return { at: `${name}:${found.line}:${found.column}${label}`, message, excerpt }
    },
  }
}

type Range = readonly [from: number, valueTo: number, nodeTo: number]
type Position = { readonly line: number; readonly col: number }

const syntaxProblem = (name: string, text: string, { line, col }: Position, message: string): Problem => ({
  at: `${name}:${line}:${col}`,
  message: `${message.replace(/\s+/g, ' ').replace(/\.$/, '')}.`,
  excerpt: excerptOf(text, line, col),
})

/** Aliases can be wrong in ways only seen when they are followed. */
function valueIn(name: string, document: Document): unknown {
  try {
    return document.toJS() as unknown
  } catch (error) {
    throw new ConfigError([{ at: name, message: `${(error as Error).message}.` }])
  }
}

/** YAML would forgive what JSON does not. */
function checkJson(name: string, text: string): void {
  try {
    JSON.parse(text)
  } catch (error) {
    const { message } = error as Error
    const offset = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
    const before = text.slice(0, offset).split('\n')
    const position = { line: before.length, col: before.at(-1)!.length + 1 }
    throw new ConfigError([syntaxProblem(name, text, position, `is not valid JSON: ${message}`)])
  }
}

/** Of something that is not there: where its parent is. */
function rangeOf(document: Document, path: readonly PropertyKey[], of: 'key' | 'value'): Range | null {
  const node = of === 'value' || path.length === 0 ? (document.getIn(path, true) as ParsedNode | undefined) : undefined
  const found = node?.range ?? keyRange(document, path)
  return found ?? (path.length === 0 ? null : rangeOf(document, path.slice(0, -1), 'value'))
}

function keyRange(document: Document, path: readonly PropertyKey[]): Range | null {
  const parent = path.length <= 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (!isMap(parent)) return null
  const wanted = String(path.at(-1))
  const pair = parent.items.find(item => isPair(item) && isScalar(item.key) && String(item.key.value) === wanted)
  return (pair?.key as Node | undefined)?.range ?? null
}
