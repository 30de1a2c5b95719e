/**
 * What a YAML document cannot be read for, or is read as something nobody meant; with the fix where the mistake is a
 * common one.
 */
import { type Document, isAlias, isMap, isScalar, type Node, type Pair, visit, type YAMLParseError } from 'yaml'

export interface Mistake {
  readonly offset: number
  readonly message: string
}

const FIXES: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'a text with ": " in it must be quoted',
  TAB_AS_INDENT: 'indent with spaces',
  BAD_SCALAR_START: 'quote the text',
  MULTILINE_IMPLICIT_KEY: 'a text over several lines must be quoted or begin with |',
}

/** Every syntax error; or every alias to nothing and every trap; and YAML 1.1, where `no` is false, 09:00 a number. */
export function mistakesIn(document: Document, text: string): Mistake[] {
  if (document.errors.length > 0) return firstOfEachLine(syntaxMistakes(document, text), text)
  return firstOfEachLine([...oldVersion(document), ...lostAliases(document), ...traps(document)], text)
}

/** After a quote that is never closed nothing is what it looks like. */
function syntaxMistakes({ errors, contents }: Document, text: string): Mistake[] {
  const open = errors.flatMap(error => openQuote(error, contents) ?? [])[0]
  const syntax = errors.map(({ code, message, pos: [offset] }) => ({
    offset,
    message: withFix(message, placeholderOn(text, offset) ? PLACEHOLDER : fixFor(code, text, offset)),
  }))
  return open === undefined ? syntax : [...syntax.filter(({ offset }) => offset < open.offset), open]
}

/** The error is where the text ends, far below the line that has to be mended. */
function openQuote({ code, pos }: YAMLParseError, contents: Node | null): Mistake | undefined {
  if (code !== 'MISSING_CHAR') return
  let found: Mistake | undefined
  visit(contents, {
    Scalar(_key, { type, range }) {
      const quoted = type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE'
      if (quoted && range?.[1] === pos[0]) found = { offset: range[0], message: 'this quote is never closed' }
    },
  })
  return found
}

const fixFor = (code: string, text: string, offset: number) =>
  code === 'UNEXPECTED_TOKEN' && text[offset - 1] === "'"
    ? "a ' inside '...' is written twice, or the text put between double quotes"
    : FIXES[code]

const PLACEHOLDER = 'write $(name) where a value goes in, without quotes'

const withFix = (message: string, fix: string | undefined) =>
  fix === undefined ? message : `${message.replace(/\.$/, '')}; ${fix}`

function lineAround(text: string, offset: number): string {
  const from = text.lastIndexOf('\n', offset - 1) + 1
  const to = text.indexOf('\n', offset)
  return text.slice(from, to === -1 ? undefined : to)
}
const placeholderOn = (text: string, offset: number) => /\{\{|\}\}/.test(lineAround(text, offset))

/** One slip confuses the rest of its line. */
function firstOfEachLine(mistakes: readonly Mistake[], text: string): Mistake[] {
  const lineOf = ({ offset }: Mistake) => text.slice(0, offset).split('\n').length
  return mistakes.filter((one, index) => mistakes.findIndex(other => lineOf(other) === lineOf(one)) === index)
}

function oldVersion(document: Document): Mistake[] {
  if (document.directives?.yaml.version !== '1.1') return []
  return [
    { offset: 0, message: 'YAML 1.1 is not read, because no, yes and 09:00 mean something else in it; use YAML 1.2' },
  ]
}

function lostAliases(document: Document): Mistake[] {
  const lost: Mistake[] = []
  visit(document, {
    Alias(_key, node) {
      if (!isAlias(node) || node.resolve(document) !== undefined) return
      const fix = `set it with &${node.source} before, or quote the text`
      lost.push({ offset: node.range?.[0] ?? 0, message: `*${node.source} is an alias of nothing; ${fix}` })
    },
  })
  return lost
}

/** Inside braces a comma ends a text, and `{{ x }}` is a map in a map: both go through silently. */
function traps(document: Document): Mistake[] {
  const found: Mistake[] = []
  const add = (node: unknown, message: string) => found.push({ offset: (node as Node).range?.[0] ?? 0, message })
  visit(document, {
    Map(_key, node) {
      for (const pair of node.flow ? node.items : []) {
        if (isMap(pair.key)) add(pair.key, `{{ }} is a map inside a map here; ${PLACEHOLDER}`)
        else if (isCutOff(pair)) add(pair.key, CUT_OFF)
      }
    },
    Scalar(_key, node) {
      if (node.type === 'PLAIN' && /\$?\{\{/.test(node.source ?? ''))
        add(node, `{{ }} fills nothing in; ${PLACEHOLDER}`)
    },
  })
  return found
}

const CUT_OFF = 'has no value; inside { } quote a text that has , [ ] { } or ": " in it'
const isCutOff = ({ key, value }: Pair) => isScalar(key) && value === null
