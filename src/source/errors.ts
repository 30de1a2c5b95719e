/** Problems of flags, variables and files of the user: where, what, the value seen, and what was probably meant. */
import { fieldName, show } from '../api/explain.ts'
import { UNSAID } from '../contract/own-words.ts'
import { nearest } from '../text/nearest.ts'
import { visible } from '../text/visible.ts'

export interface Problem {
  /** `--port`, `HANDOVER_SIM_PORT` or `handover-sim.config.yaml:3:7: webhook.url`. */
  readonly at: string
  readonly message: string
  /** The line of the file with a caret below. */
  readonly excerpt?: string
}

/** What the user can mend: printed without a stack, exit code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'))
    this.problems = problems
  }
}

/** A sentence ends once. */
const sentence = (text: string): string => (/[.?]$/.test(text) ? text : `${text}.`)

export const formatProblem = ({ at, message, excerpt }: Problem): string =>
  `${visible(at)}: ${lines(sentence(message))}${excerpt === undefined ? '' : `\n${excerpt}`}`

const lines = (text: string): string => text.split('\n').map(visible).join('\n')

export const problem = (at: string, message: string): ConfigError => new ConfigError([{ at, message }])

const EXCERPT_CHARS = 90

/** The line as it is, cut around the column, and a caret under it. Nothing in it can move the cursor. */
export function excerptOf(source: string, line: number, column: number, length = 1): string {
  const text = (source.split(/\r?\n/)[line - 1] ?? '').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
  const from = Math.max(0, Math.min(column - 1 - EXCERPT_CHARS / 2, text.length - EXCERPT_CHARS))
  const shown = text.slice(from, from + EXCERPT_CHARS)
  const at = column - 1 - from
  const carets = '^'.repeat(Math.max(1, Math.min(length, shown.length - at)))
  const margin = String(line).replace(/./g, ' ')
  return `  ${line} | ${shown}\n  ${margin} | ${' '.repeat(at)}${carets}`
}

/** One problem of a value: the path to it, and whether its key is what is wrong. */
export interface Finding {
  readonly path: readonly PropertyKey[]
  readonly field: string
  readonly wrong: 'key' | 'value'
  readonly message: string
}

/** The parts of a schema issue that are read here. */
export interface Issue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly [detail: string]: unknown
}

/** `keysAt` names the keys known at a path, to suggest one. */
export function explainIssues(
  issues: readonly Issue[],
  value: unknown,
  keysAt: (path: readonly PropertyKey[]) => readonly string[],
): Finding[] {
  return issues.flatMap(issue => {
    if (issue.code === 'unrecognized_keys')
      return (issue.keys as string[]).map(key => unknownKey(issue.path, key, keysAt))
    if (issue.code === 'invalid_union') return explainUnion(issue, value, keysAt)
    const wrong = (issue.params as { key?: true } | undefined)?.key ? 'key' : 'value'
    return [{ path: issue.path, field: fieldName(issue.path), wrong, message: wrongValue(issue, value) }]
  })
}

type KeysAt = (path: readonly PropertyKey[]) => readonly string[]

const MERGE = '; YAML 1.2 merges nothing in: write the keys out, or alias the whole value'

function unknownKey(path: readonly PropertyKey[], key: string, keysAt: KeysAt): Finding {
  const known = keysAt(path)
  const suggestion =
    (key === '<<' ? MERGE : '') ||
    elsewhere(path, key, keysAt) ||
    nearest(key, known) ||
    (known.length <= 8 ? `; known: ${known.join(', ')}` : '')
  const full = [...path, key]
  return { path: full, field: fieldName(full), wrong: 'key', message: `is not a known key${suggestion}` }
}

/** A knob written at the top, or a bound beside its `expect`, is right, only one level too high. */
function elsewhere(path: readonly PropertyKey[], key: string, keysAt: KeysAt): string {
  if (keysAt(['knobs']).includes(key)) return `; it is a knob: write it under knobs`
  const inside = ['expect', 'none'].find(verb => keysAt([...path, verb]).includes(key))
  return inside === undefined ? '' : `; write it inside: ${inside}: { start: {}, ${key}: ... }`
}

/** The branch that got furthest into the value, and found least wrong there, is the one that was meant. */
function explainUnion(issue: Issue, value: unknown, keysAt: KeysAt): Finding[] {
  const branches = issue.errors as Issue[][]
  const meant = branches.filter(isOfItsKind).sort((a, b) => wrongParts(a) - wrongParts(b))[0]
  if (meant) {
    const inner = meant.map(one => ({ ...one, path: [...issue.path, ...one.path] }))
    return explainIssues(inner, value, keysAt)
  }
  const seen = valueAt(value, issue.path)
  if (seen === undefined) return [found(issue, `is required: ${either(branches)}`)]
  const words = branches.flat().flatMap(one => (one.values as unknown[] | undefined) ?? [])
  const quoted = branches.some(([first]) => first?.expected === 'string')
    ? quotes({ ...issue, expected: 'string' }, seen)
    : ''
  return [found(issue, `must be ${either(branches)}${got(seen)}${quoted}${meantWord(seen, words)}`)]
}

const found = ({ path }: Issue, message: string): Finding => ({ path, field: fieldName(path), wrong: 'value', message })

const isOfItsKind = (branch: readonly Issue[]) =>
  branch.every(one => one.path.length > 0 || one.code === 'unrecognized_keys')
const wrongParts = (branch: readonly Issue[]) =>
  branch.reduce((sum, one) => sum + ((one.keys as string[] | undefined)?.length ?? 1), 0)

/** `real, virtual or a map` */
function either(branches: readonly Issue[][]): string {
  const forms = branches.flatMap(branch => branch.slice(0, 1).flatMap(one => formsOf(one)))
  const words = [...new Set(forms)]
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function formsOf(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return (issue.values as unknown[]).map(String)
  if (issue.code === 'invalid_union')
    return (issue.errors as Issue[][]).flatMap(one => one.slice(0, 1).flatMap(formsOf))
  return [expected(issue)]
}

const meantWord = (seen: unknown, words: readonly unknown[]) =>
  typeof seen === 'string' ? nearest(seen, words.map(String)) : ''

function wrongValue(issue: Issue, value: unknown): string {
  if ((issue.params as { complete?: boolean } | undefined)?.complete) return issue.message
  const seen = valueAt(value, issue.path)
  if (seen === undefined) return `is required: ${expected(issue)}`
  const must = hasWords(issue) ? issue.message : `must be ${expected(issue)}`
  return `${must}${got(seen)}${quotes(issue, seen)}${meantWord(seen, (issue.values as unknown[] | undefined) ?? [])}`
}

/** Zod says nothing of its own here. */
const hasWords = ({ code, message }: Issue) =>
  code === 'custom' || (code === 'invalid_type' && message !== '' && message !== UNSAID)

const got = (seen: unknown) => `, got ${show(seen)}`

/** YAML reads `12345` and `yes` as something else than text. */
const quotes = (issue: Issue, seen: unknown) =>
  (typeof seen === 'number' || typeof seen === 'boolean') &&
  (issue.expected === 'string' || /printable characters/.test(issue.message))
    ? `; write it in quotes: "${seen}"`
    : ''

const KINDS: Record<string, string> = {
  int: 'a whole number',
  number: 'a whole number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
}

function expected(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[String(issue.expected)] ?? `a ${issue.expected}`
    case 'invalid_value':
      return (issue.values as unknown[]).map(String).join(' | ')
    case 'too_small':
      return issue.origin === 'string' ? 'a text that is not empty' : `at least ${issue.minimum}`
    case 'too_big':
      return `at most ${issue.maximum}`
    case 'custom':
      return issue.message.replace(/^must be /, '')
    default:
      return 'of another form'
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown> | null | undefined)?.[part], value)
}
