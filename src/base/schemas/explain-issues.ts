/** Explains the issues of a schema: which field, what was expected, what was received, and how to fix it. */

import type * as z from 'zod/mini'
import { nearest, nearestName, shortName } from '../text/error-text.ts'
import { withoutCredentials } from '../text/redactor.ts'
import { describeSecret, isSecretPath } from '../text/secret-positions.ts'
import { knownKeys } from './definitions.ts'

/** The message of an issue whose schema has no message of its own. */
const ZOD_CODE = 'Invalid input'

/** How many problems of one value are described. */
export const MOST_PROBLEMS = 20

/**
 * The second argument of `safeParse` for a parse whose issues are explained here. Zod shares its settings over the
 * whole process, so another copy of it, or a language that other code sets, would otherwise change these messages.
 */
export const ZOD_MESSAGES = { error: () => ZOD_CODE }

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** `incomplete`: a map lacks a key that it needs; a misspelt key is often the cause. */
export type SchemaProblemCode = 'unknown_key' | 'required' | 'unexpected_value' | 'incomplete' | 'conflict'

/** One problem of a value. */
interface SchemaProblem {
  readonly code: SchemaProblemCode
  readonly path: Path
  readonly field: string
  /** Whether the key or its value is wrong. */
  readonly wrong: 'key' | 'value'
  /** A sentence without its subject, which is the name of the field. */
  readonly message: string
  /** The keys that are known instead of an unknown one. */
  readonly allowed?: readonly string[]
}

const TEXTS = {
  unexpected: (expected: string, received: string, hint: string) => `must be ${expected}, got ${received}${hint}`,
  object: 'an object',
  integer: 'an integer',
  otherForm: 'of another form',
}

/** Explains the first issues, `most` at most. */
export function explainIssues(
  issues: readonly Issue[],
  value: unknown,
  schema: z.ZodMiniType,
  most = Number.POSITIVE_INFINITY,
): SchemaProblem[] {
  const keysAt = (path: Path) => knownKeys(schema, path)
  const explained = issues.slice(0, most).flatMap(issue => explainIssue(issue, value, keysAt, most))
  return withoutConsequences(explained).slice(0, most)
}

/** Drops `incomplete` for a map with an unknown key, which is probably the missing key misspelt. */
function withoutConsequences(findings: readonly SchemaProblem[]): SchemaProblem[] {
  const misspelt = findings.filter(({ wrong }) => wrong === 'key').map(({ path }) => path.slice(0, -1).join(' '))
  return findings.filter(({ code, path }) => code !== 'incomplete' || !misspelt.includes(path.join(' ')))
}

type KeysAt = (path: Path) => readonly string[]

function explainIssue(issue: Issue, value: unknown, keysAt: KeysAt, most: number): SchemaProblem[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, most).map(key => unknownKey(issue.path, key, value, keysAt))
  const intended = issue.code === 'invalid_union' && issue.message === ZOD_CODE ? intendedBranch(issue) : undefined
  if (intended !== undefined) return intended.slice(0, most).flatMap(one => explainIssue(one, value, keysAt, most))
  return [{ path: issue.path, field: fieldName(issue.path), ...wrongValue(issue, valueAt(value, issue.path)) }]
}

function wrongValue(issue: Issue, received: unknown): Pick<SchemaProblem, 'code' | 'wrong' | 'message'> {
  const code = codeOf(issue)
  if (code !== null) return { code, wrong: code === 'unknown_key' ? 'key' : 'value', message: issue.message }
  const expectedText = expected(issue)
  if (received === undefined) return { code: 'required', wrong: 'value', message: `is required: ${expectedText}` }
  const message = isSecretPath(issue.path)
    ? TEXTS.unexpected(expectedText, describeSecret(received), quoteHint(issue, received) && '; write it in quotes')
    : TEXTS.unexpected(expectedText, formatValue(received), quoteHint(issue, received) || nearWord(issue, received))
  return { code: 'unexpected_value', wrong: 'value', message }
}

/** Creates the issue of a check; `message` is a sentence without its subject, the name of the field. */
export function sentenceIssue(code: SchemaProblemCode, input: unknown, message: string, path: PropertyKey[] = []) {
  return { code: 'custom', input, message, path, params: { problem: code } } as const
}

const codeOf = (issue: Issue): SchemaProblemCode | null =>
  issue.code === 'custom' ? ((issue.params?.problem as SchemaProblemCode | undefined) ?? null) : null

function unknownKey(path: Path, key: string, value: unknown, keysAt: KeysAt): SchemaProblem {
  const known = keysAt(path)
  const full = [...path, key]
  const hint =
    (key === '<<' ? '; YAML 1.2 has no merge keys: write the keys out, or alias the whole value' : '') ||
    otherLevelHint(path, key, keysAt) ||
    (key === 'call' ? callHint(path, valueAt(value, [...path, key]), keysAt) : '') ||
    nearest(key, known) ||
    (known.length > 0 && known.length <= 8 ? `; known: ${known.join(', ')}` : '')
  const message = `is not a known key${hint}`
  return { code: 'unknown_key', path: full, field: fieldName(full), wrong: 'key', message, allowed: known }
}

/** Explains a key that is one level too high: a knob at the top of a file, or a limit beside its `expect`. */
function otherLevelHint(path: Path, key: string, keysAt: KeysAt): string {
  if (keysAt(['knobs']).includes(key)) return '; it is a knob: write it under knobs'
  const inside = ['expect', 'none'].find(verb => keysAt([...path, verb]).includes(key))
  return inside === undefined ? '' : `; write it inside: ${inside}: { start: {}, ${key}: ... }`
}

/** Explains `call: start`, in the form that the journal and the library have: in files the name of a call is a key. */
function callHint(path: Path, named: unknown, keysAt: KeysAt): string {
  const here = keysAt(path)
  const calls = here.includes('start') ? here : keysAt([...path, 'expect'])
  const call = typeof named === 'string' && calls.includes('start') ? nearestName(named, calls) : undefined
  if (call === undefined) return ''
  return calls === here ? `; the name of a call is the key: write ${call}: {}` : `; write expect: { ${call}: {} }`
}

type UnionIssue = Extract<Issue, { code: 'invalid_union' }>

/** Selects the branch that accepts the type of the value and reports the fewest issues inside it. */
function intendedBranch({ errors, path }: UnionIssue): Issue[] | undefined {
  const fitting = errors.filter(
    branch => branch.length > 0 && branch.every(one => one.path.length > 0 || one.code === 'unrecognized_keys'),
  )
  const [intended] = fitting.sort((a, b) => wrongParts(a) - wrongParts(b))
  return intended?.map(one => ({ ...one, path: [...path, ...one.path] }))
}

const wrongParts = (branch: readonly Issue[]) =>
  branch.reduce((sum, one) => sum + (one.code === 'unrecognized_keys' ? one.keys.length : 1), 0)

const KINDS: Readonly<Record<string, () => string>> = {
  int: () => TEXTS.integer,
  number: () => TEXTS.integer,
  string: () => 'a string',
  boolean: () => 'true or false',
  array: () => 'an array',
  object: () => TEXTS.object,
  record: () => TEXTS.object,
}

function expected(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message === ZOD_CODE ? (KINDS[issue.expected]?.() ?? `a ${issue.expected}`) : issue.message
    case 'invalid_value':
    case 'invalid_union':
      return either(formsOf(issue))
    case 'too_small':
      return tooSmall(issue)
    case 'too_big':
      return `at most ${String(issue.maximum)}`
    case 'invalid_format':
      return `of the form ${issue.pattern ?? issue.format}`
    default:
      return issue.message === ZOD_CODE ? TEXTS.otherForm : issue.message
  }
}

function tooSmall({ origin, minimum, inclusive }: Extract<Issue, { code: 'too_small' }>): string {
  if (origin === 'string') return 'a string that is not empty'
  if (origin === 'array')
    return minimum === 1 ? 'an array that is not empty' : `an array of at least ${String(minimum)} items`
  return inclusive ? `at least ${String(minimum)}` : `greater than ${String(minimum)}`
}

/** `real, virtual or an object` */
function either(forms: readonly string[]): string {
  const all = [...new Set(forms)]
  const last = all.pop() ?? TEXTS.otherForm
  return all.length === 0 ? last : `${all.join(', ')} or ${last}`
}

/** The values and types that the issue would accept, in the order of the schema. */
function formsOf(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  if (issue.code === 'invalid_type' && issue.expected === 'boolean') return ['true', 'false']
  if (issue.code !== 'invalid_union') return [expected(issue)]
  return issue.message === ZOD_CODE ? issue.errors.flatMap(([first]) => (first ? formsOf(first) : [])) : [issue.message]
}

function nearWord(issue: Issue, received: unknown): string {
  return typeof received === 'string' ? nearest(received, wordsOf(issue)) : ''
}

function wordsOf(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  return issue.code === 'invalid_union' ? issue.errors.flat().flatMap(wordsOf) : []
}

/** Suggests quotes when YAML read an unquoted `12345` or `true` and a string is expected. */
function quoteHint(issue: Issue, received: unknown): string {
  if (typeof received !== 'number' && typeof received !== 'boolean') return ''
  return takesText(issue) ? `; write it in quotes: "${String(received)}"` : ''
}

function takesText(issue: Issue): boolean {
  if (issue.code === 'invalid_union') return issue.errors.some(([first]) => first !== undefined && takesText(first))
  if (issue.code === 'custom') return issue.params?.textFits === true
  return issue.code === 'invalid_type' && issue.expected === 'string'
}

/** `sender.language_codes[0]` */
export function fieldName(path: Path): string {
  return path.reduce<string>(
    (name, part) => (typeof part === 'number' ? `${name}[${part}]` : joinPath(name, shortName(String(part)))),
    '',
  )
}

/** The name of a field below another one. */
export const joinPath = (field: string, key: string) => (field === '' ? key : `${field}.${key}`)

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, part) => (at === null || at === undefined ? undefined : Reflect.get(Object(at), part)),
    value,
  )
}

/** Describes a value for an error: its type and a short form. */
export function formatValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object') return TEXTS.object
  if (typeof value === 'string') return `the string ${JSON.stringify(shortened(withoutCredentials(value)))}`
  return typeof value === 'number' ? `the number ${String(value)}` : String(value)
}

const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
