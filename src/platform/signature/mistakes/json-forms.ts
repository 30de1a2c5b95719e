/** Writes one JSON text in the styles of many programs. It changes tokens, so that everything else stays exact. */
import { type Variant, variant } from './catalogue.ts'

interface Spacing {
  readonly detail: string
  readonly comma: string
  readonly colon: string
  readonly indent: string
}

const SPACINGS: readonly Spacing[] = [
  { detail: '', comma: ',', colon: ':', indent: '' },
  { detail: "spaces behind , and : (as Python's json.dumps)", comma: ', ', colon: ': ', indent: '' },
  { detail: 'indented by two spaces', comma: ',', colon: ': ', indent: '  ' },
  { detail: 'indented by four spaces', comma: ',', colon: ': ', indent: '    ' },
  { detail: 'indented by tabs', comma: ',', colon: ': ', indent: '\t' },
]

interface Escaping {
  readonly detail: string
  /** Of a string as `JSON.stringify` writes it. */
  apply(text: string): string
}

const hex = (char: string) => char.charCodeAt(0).toString(16).padStart(4, '0')
const lower = (char: string) => `\\u${hex(char)}`
const upper = (char: string) => `\\u${hex(char).toUpperCase()}`
const slashes = (text: string) => text.replaceAll('/', '\\/')
const letters = (text: string) => text.replace(/[\u0080-\uffff]/g, lower)

const ESCAPINGS: readonly Escaping[] = [
  { detail: '', apply: text => text },
  { detail: 'other letters than ASCII as \\u escapes', apply: letters },
  { detail: 'other letters and delete as \\u escapes', apply: text => text.replace(/[\u007f-\uffff]/g, lower) },
  { detail: 'slashes as \\/', apply: slashes },
  { detail: 'other letters as \\u escapes and slashes as \\/ (as PHP)', apply: text => slashes(letters(text)) },
  { detail: '< > & as \\u escapes (as Go)', apply: text => text.replace(/[<>&\u2028\u2029]/g, lower) },
  { detail: 'other letters and < > & + \' " ` as \\u escapes (as .NET)', apply: dotnet },
]

function dotnet(text: string): string {
  const inner = text.slice(1, -1).replace(/\\"/g, '\\u0022')
  return `"${inner.replace(/[<>&+'`\u007f-\uffff]/g, upper)}"`
}

const ENDINGS = [
  { detail: '', text: '' },
  { detail: 'a newline at the end', text: '\n' },
]

/** Each different text once, the most likely first; nothing when it is not JSON. */
export function* jsonForms(text: string): Iterable<Variant<string>> {
  const value = parsed(text)
  if (value === undefined) return
  if (typeof value === 'string') yield variant(value, 'it was JSON inside a JSON string')
  yield variant(JSON.stringify(text), 'the text was written as a JSON string')
  const seen = new Set<string>()
  for (const [from, order] of orders(text, value))
    for (const form of styled(tokensOf(from), order))
      if (!seen.has(form.value)) {
        seen.add(form.value)
        yield form
      }
}

const AS_JAVASCRIPT = 'as JSON.stringify(JSON.parse(body)) writes it'

function* orders(text: string, value: unknown): Iterable<[text: string, detail: string]> {
  yield [JSON.stringify(value), AS_JAVASCRIPT]
  yield [text.replace(/^\ufeff/, ''), 'without other changes to names, numbers and their order']
  yield [JSON.stringify(reordered(value, names => names.sort())), 'names sorted']
  yield [JSON.stringify(reordered(value, names => names.reverse())), 'names in reverse order']
}

function* styled(tokens: readonly string[], order: string): Iterable<Variant<string>> {
  const deep = depthOf(tokens) > DEEPEST_INDENTED
  for (const ending of ENDINGS)
    for (const escaping of ESCAPINGS) {
      const escaped = tokens.map(token => (token.startsWith('"') ? escaping.apply(rewritten(token)) : token))
      for (const spacing of deep ? UNINDENTED : SPACINGS) {
        const styles = [spacing.detail, escaping.detail, ending.detail].filter(detail => detail !== '')
        yield variant(laidOut(escaped, spacing) + ending.text, [...styles, order].join(', '))
      }
    }
}

/** The indents of deep nesting would be longer than the body by far. */
const DEEPEST_INDENTED = 32
const UNINDENTED = SPACINGS.filter(({ indent }) => indent === '')

function depthOf(tokens: readonly string[]): number {
  let [depth, deepest] = [0, 0]
  for (const token of tokens) {
    depth += isOpening(token) ? 1 : isClosing(token) ? -1 : 0
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

const rewritten = (token: string): string => JSON.stringify(JSON.parse(token))

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

const tokensOf = (json: string): readonly string[] =>
  json.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []

function laidOut(tokens: readonly string[], { comma, colon, indent }: Spacing): string {
  const line = (depth: number) => (indent === '' ? '' : `\n${indent.repeat(depth)}`)
  let depth = 0
  let text = ''
  for (const [at, token] of tokens.entries()) {
    if (token === ',') text += comma + line(depth)
    else if (token === ':') text += colon
    else if (token === '{' || token === '[') text += token + (isClosing(tokens[at + 1]) ? '' : line(depth + 1))
    else if (isClosing(token)) text += (isOpening(tokens[at - 1]) ? '' : line(depth - 1)) + token
    else text += token
    depth += isOpening(token) ? 1 : isClosing(token) ? -1 : 0
  }
  return text
}

const isOpening = (token: string | undefined) => token === '{' || token === '['
const isClosing = (token: string | undefined) => token === '}' || token === ']'

function reordered(value: unknown, order: (names: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map(item => reordered(item, order))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(order(Object.keys(value)).map(name => [name, reordered(Reflect.get(value, name), order)]))
}
