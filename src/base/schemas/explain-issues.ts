/** Explains the issues of a schema: which field, what was expected, what was received, and how to fix it. */

import type * as z from 'zod/mini'
import { cut } from '../text/cut.ts'
import { nearest, nearestName, shortName } from '../text/error-text.ts'
import { withoutCredentials } from '../text/redactor.ts'
import { describeSecret, isSecretPath } from '../text/secret-positions.ts'
import { knownKeys } from './definitions.ts'

/** The message of an issue whose schema has no message of its own. */
const ZOD_CODE = 'Invalid input'

/** How many problems of one value are described. */
export const MAX_PROBLEMS = 20

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

/** Explains the first issues, `most` at most. */
export function explainIssues(
  issues: readonly Issue[],
  value: unknown,
  schema: z.ZodMiniType,
  most = Number.POSITIVE_INFINITY,
): SchemaProblem[] {
  const problems: SchemaProblem[] = []
  const explain = (issue: Issue): void => {
    if (problems.length >= most) return
    const { path } = issue
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, most)) problems.push(unknownKey(path, key, value, schema))
    } else if (issue.code === 'invalid_union' && issue.message === ZOD_CODE && intendedBranch(issue) !== undefined) {
      for (const cause of intendedBranch(issue) ?? []) explain({ ...cause, path: [...path, ...cause.path] })
    } else problems.push({ path, field: fieldName(path), ...wrongValue(issue, valueAt(value, path)) })
  }
  for (const issue of issues.slice(0, most)) explain(issue)

  // A map with an unknown key is probably incomplete because that key is misspelt.
  const misspelt = problems.filter(({ wrong }) => wrong === 'key').map(({ path }) => path.slice(0, -1).join(' '))
  return problems
    .filter(({ code, path }) => code !== 'incomplete' || !misspelt.includes(path.join(' ')))
    .slice(0, most)
    .map(problem => {
      const { code, path, message } = problem
      if (code !== 'required' || misspelt.includes(path.slice(0, -1).join(' '))) return problem
      return { ...problem, message: `${message}${otherName(path, value, schema)}` }
    })
}

/** The key that stands for a required one, such as `botId` for `bot_id`, where unknown keys are no problem themselves. */
function otherName(path: Path, value: unknown, schema: z.ZodMiniType): string {
  const parent = path.slice(0, -1)
  const known = knownKeys(schema, parent)
  const name = String(path.at(-1))
  const unknown = Object.keys(Object(valueAt(value, parent))).filter(key => !known.includes(key))
  const similarName = nearestName(name, unknown)
  return similarName === undefined ? '' : `; write ${name} instead of ${similarName}`
}

function wrongValue(issue: Issue, received: unknown): Pick<SchemaProblem, 'code' | 'wrong' | 'message'> {
  const code = issue.code === 'custom' ? (issue.params?.problem as SchemaProblemCode | undefined) : undefined
  if (code !== undefined) return { code, wrong: code === 'unknown_key' ? 'key' : 'value', message: issue.message }
  const expectedText = expectedBy(issue)
  if (received === undefined) return { code: 'required', wrong: 'value', message: `is required: ${expectedText}` }
  // YAML reads an unquoted `12345` or `true` as no text.
  const isBare = (typeof received === 'number' || typeof received === 'boolean') && takesText(issue)
  const quoted = isBare ? '; write it in quotes' : ''
  const hint = isBare
    ? `${quoted}: "${String(received)}"`
    : typeof received === 'string'
      ? nearest(received, wordsOf(issue))
      : ''
  const message = isSecretPath(issue.path)
    ? `must be ${expectedText}, got ${describeSecret(received)}${quoted}`
    : `must be ${expectedText}, got ${formatValue(received)}${hint}`
  return { code: 'unexpected_value', wrong: 'value', message }
}

/** Creates the issue of a check; `message` is a sentence without its subject, the name of the field. */
export function sentenceIssue(code: SchemaProblemCode, input: unknown, message: string, path: PropertyKey[] = []) {
  return { code: 'custom', input, message, path, params: { problem: code } } as const
}

function unknownKey(path: Path, key: string, value: unknown, schema: z.ZodMiniType): SchemaProblem {
  const known = knownKeys(schema, path)
  const full = [...path, key]
  const below = (verb: string) => knownKeys(schema, [...path, verb])
  let hint = ''
  if (key === '<<') hint = '; YAML 1.2 has no merge keys: write the keys out, or alias the whole value'
  // A key that is one level too high: a knob at the top of a file, or a limit beside its `expect`.
  else if (knownKeys(schema, ['knobs']).includes(key)) hint = '; it is a knob: write it under knobs'
  else if (below('expect').includes(key)) hint = `; write it inside: expect: { start: {}, ${key}: ... }`
  else if (below('none').includes(key)) hint = `; write it inside: none: { start: {}, ${key}: ... }`
  else if (key === 'call') {
    // The journal and the library have `call: start`; in files the name of a call is a key.
    const calls = known.includes('start') ? known : below('expect')
    const named = valueAt(value, full)
    const call = typeof named === 'string' && calls.includes('start') ? nearestName(named, calls) : undefined
    if (call !== undefined)
      hint = calls === known ? `; the name of a call is the key: write ${call}: {}` : `; write expect: { ${call}: {} }`
  }
  hint ||= nearest(key, known) || (known.length > 0 && known.length <= 8 ? `; known: ${known.join(', ')}` : '')
  const message = `is not a known key${hint}`
  return { code: 'unknown_key', path: full, field: fieldName(full), wrong: 'key', message, allowed: known }
}

/** Selects the branch that accepts the type of the value and has the fewest wrong parts. */
function intendedBranch({ errors }: Extract<Issue, { code: 'invalid_union' }>): readonly Issue[] | undefined {
  let intended: readonly Issue[] | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const branch of errors) {
    const fits = branch.every(issue => issue.path.length > 0 || issue.code === 'unrecognized_keys')
    let count = 0
    for (const issue of branch) count += issue.code === 'unrecognized_keys' ? issue.keys.length : 1
    if (!fits || count === 0 || count >= fewest) continue
    intended = branch
    fewest = count
  }
  return intended
}

const KINDS: Readonly<Record<string, string>> = {
  int: 'an integer',
  number: 'an integer',
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
}

const OTHER_FORM = 'of another form'

function expectedBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message === ZOD_CODE ? (KINDS[issue.expected] ?? `a ${issue.expected}`) : issue.message
    case 'invalid_value':
    case 'invalid_union': {
      // `real, virtual or an object`
      const forms = [...new Set(formsOf(issue))]
      const last = forms.pop() ?? OTHER_FORM
      return forms.length === 0 ? last : `${forms.join(', ')} or ${last}`
    }
    case 'too_small': {
      const minimum = String(issue.minimum)
      if (issue.origin === 'string') return 'a string that is not empty'
      if (issue.origin === 'array')
        return minimum === '1' ? 'an array that is not empty' : `an array of at least ${minimum} items`
      return issue.inclusive ? `at least ${minimum}` : `greater than ${minimum}`
    }
    case 'too_big':
      return `at most ${String(issue.maximum)}`
    case 'invalid_format':
      return `of the form ${issue.pattern ?? issue.format}`
    default:
      return issue.message === ZOD_CODE ? OTHER_FORM : issue.message
  }
}

/** The values and types that the issue would accept, in the order of the schema. */
function formsOf(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  if (issue.code === 'invalid_type' && issue.expected === 'boolean') return ['true', 'false']
  if (issue.code !== 'invalid_union') return [expectedBy(issue)]
  // No form has this value of the field that tells the forms apart.
  if ('options' in issue && issue.options !== undefined) return issue.options.map(String)
  return issue.message === ZOD_CODE ? issue.errors.flatMap(([first]) => (first ? formsOf(first) : [])) : [issue.message]
}

function wordsOf(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  return issue.code === 'invalid_union' ? issue.errors.flat().flatMap(wordsOf) : []
}

function takesText(issue: Issue): boolean {
  if (issue.code === 'invalid_union') return issue.errors.some(([first]) => first !== undefined && takesText(first))
  if (issue.code === 'custom') return issue.params?.textFits === true
  return issue.code === 'invalid_type' && issue.expected === 'string'
}

/** `sender.language_codes[0]` */
export function fieldName(path: Path): string {
  let name = ''
  for (const part of path)
    name = typeof part === 'number' ? `${name}[${part}]` : joinPath(name, shortName(String(part)))
  return name
}

/** The name of a field below another one. */
export const joinPath = (field: string, key: string) => (field === '' ? key : `${field}.${key}`)

function valueAt(value: unknown, path: Path): unknown {
  let at = value
  for (const part of path) at = at === null || at === undefined ? undefined : Reflect.get(Object(at), part)
  return at
}

/** Describes a value for an error: its type and a short form. */
export function formatValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object') return 'an object'
  if (typeof value !== 'string') return typeof value === 'number' ? `the number ${String(value)}` : String(value)
  return `the string ${JSON.stringify(cut(withoutCredentials(value), 60))}`
}
