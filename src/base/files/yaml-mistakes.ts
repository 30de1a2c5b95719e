/** Finds mistakes in YAML: syntax errors, and text that YAML reads as something else than it looks like. */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  type Node,
  visit,
  type YAMLParseError,
} from 'yaml'

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
export function mistakesIn(document: Document, text: string): YamlMistake[] {
  const syntax = [...syntaxMistakes(document, text), ...repeatedKeys(document)].sort((a, b) => a.offset - b.offset)
  if (syntax.length > 0) return firstOfEachLine(syntax, text)
  return firstOfEachLine([...oldVersion(document), ...wrongAliases(document), ...traps(document)], text)
}

/** Errors after a quote that is never closed are left out, because they are consequences of it. */
function syntaxMistakes({ errors, contents }: Document, text: string): YamlMistake[] {
  const open = errors.flatMap(error => openQuote(error, contents) ?? [])[0]
  const syntax = errors.map(({ code, message, pos: [offset] }): YamlMistake => {
    // The parser calls itself for each level.
    if (message.includes('call stack')) return { offset, message: 'is nested too deep' }
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
  let found: YamlMistake | undefined
  visit(contents, {
    Scalar(_key, { type, range }) {
      const quoted = type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE'
      if (quoted && range?.[1] === pos[0]) found = { offset: range[0], message: 'this quote is never closed' }
    },
  })
  return found
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
      } else if (ancestors.some(one => isNode(one) && 'anchor' in one && one.anchor === node.source)) {
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
  const found: YamlMistake[] = []
  visit(document, {
    Map(_key, { items }) {
      const keys = new Set<unknown>()
      for (const { key } of items) {
        const value = isScalar(key) ? key.value : key
        if (keys.has(value))
          found.push({ offset: (isNode(key) && key.range?.[0]) || 0, message: 'Map keys must be unique' })
        keys.add(value)
      }
    },
  })
  return found
}

/** Inside braces a comma ends a text, and `{{ x }}` is a map in a map; the parser accepts both. */
function traps(document: Document): YamlMistake[] {
  const found: YamlMistake[] = []
  const add = (node: unknown, message: string) =>
    found.push({ offset: (isNode(node) && node.range?.[0]) || 0, message })
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
  return found
}
