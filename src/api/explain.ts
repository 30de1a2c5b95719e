/** Says what is wrong with a value: which field, what was expected, what came. */
import type * as z from 'zod/mini'
import { UNSAID } from '../contract/own-words.ts'
import { suggest } from '../text/nearest.ts'

export interface Problem {
  readonly field: string
  readonly message: string
}

type Issue = z.core.$ZodIssue

export function explain(issues: readonly Issue[], value: unknown): Problem[] {
  return issues.flatMap(issue => explainOne(issue, value))
}

function explainOne(issue: Issue, value: unknown): Problem[] {
  const field = fieldName(issue.path)
  const seen = valueAt(value, issue.path)
  const inner = issue.code === 'invalid_union' && issue.message === UNSAID ? meant(issue) : null
  if (inner !== null) return explain(inner, value)
  if (isComplete(issue)) return [{ field, message: `${field || 'body'} ${issue.message}.` }]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => ({ field: join(field, key), message: `${join(field, key)} is not a known field.` }))
  }
  if (seen === undefined) return [{ field, message: `${field || 'body'} is required: ${expected(issue)}.` }]
  return [
    { field, message: `${field || 'body'} must be ${expected(issue)}, got ${show(seen)}${nearWord(issue, seen)}` },
  ]
}

/** The message is the whole sentence behind the name of the field. */
const isComplete = (issue: Issue) => issue.code === 'custom' && issue.params?.complete === true

/** The branch of a union that got furthest into the value is the one that was meant. */
function meant({ errors, path }: Extract<Issue, { code: 'invalid_union' }>): Issue[] | null {
  const branch = errors.find(issues => issues.every(one => one.path.length > 0 || one.code === 'unrecognized_keys'))
  if (branch === undefined || branch.length === 0) return null
  return branch.map(one => ({ ...one, path: [...path, ...one.path] }))
}

/** What any branch of a union takes: its words, or its kind of value. */
function either(errors: readonly (readonly Issue[])[]): string {
  const firsts = errors.flatMap(([issue]) => (issue === undefined ? [] : [issue]))
  const words = firsts.flatMap(issue => (issue.code === 'invalid_value' ? issue.values.map(String) : []))
  const kinds = firsts.filter(issue => issue.code !== 'invalid_value').map(expected)
  return [...(words.length === 0 ? [] : [`one of ${words.join(', ')}`]), ...kinds].join(', or ')
}

/** Ends the sentence. */
function nearWord(issue: Issue, seen: unknown): string {
  if (issue.code !== 'invalid_union' || typeof seen !== 'string') return '.'
  const words = issue.errors.flat().flatMap(one => (one.code === 'invalid_value' ? one.values.map(String) : []))
  return suggest(seen, words)
}

const join = (field: string, key: string) => (field === '' ? key : `${field}.${key}`)

/** `sender.language_codes[0]` */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (name, part) => (typeof part === 'number' ? `${name}[${part}]` : join(name, String(part))),
    '',
  )
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, part) => (at === null || at === undefined ? undefined : (at as Record<PropertyKey, unknown>)[part]),
    value,
  )
}

const ARTICLES: Record<string, string> = {
  int: 'an integer',
  number: 'an integer',
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
}

function expected(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return ARTICLES[issue.expected] ?? `a ${issue.expected}`
    case 'invalid_value':
      return `one of ${issue.values.map(value => JSON.stringify(value)).join(', ')}`
    case 'too_small':
      if (issue.origin === 'string') return 'a string that is not empty'
      return `${issue.inclusive ? 'at least' : 'greater than'} ${issue.minimum}`
    case 'too_big':
      return `at most ${issue.maximum}`
    case 'invalid_format':
      return `of the form ${issue.pattern ?? issue.format}`
    case 'invalid_union':
      return issue.message === UNSAID ? either(issue.errors) : issue.message
    default:
      return issue.message === UNSAID ? 'of another form' : issue.message
  }
}

/** A value as an error shows it: its kind and a short form. */
export function show(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string')
    return `the string ${JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)}`
  return `${typeof value === 'number' ? 'the number ' : ''}${String(value)}`
}

/** Fields of `raw` that a parse dropped, with their full names. */
export function droppedFields(raw: object, parsed: object): string[] {
  const dropped: string[] = []
  collectDropped(raw, parsed, '', dropped)
  return dropped
}

/** On the path of every request, so it makes nothing unless a field was dropped. */
function collectDropped(raw: object, parsed: object, at: string, dropped: string[]): void {
  for (const key in raw) {
    if (!Object.hasOwn(parsed, key)) dropped.push(nameAt(raw, at, key))
    else descend(raw, parsed, at, key, dropped)
  }
}

const nameAt = (parent: object, at: string, key: string) => (Array.isArray(parent) ? `${at}[${key}]` : join(at, key))

function descend(raw: object, parsed: object, at: string, key: string, dropped: string[]): void {
  const [child, other] = [(raw as Record<string, unknown>)[key], (parsed as Record<string, unknown>)[key]]
  if (typeof child !== 'object' || child === null || typeof other !== 'object' || other === null) return
  collectDropped(child, other, nameAt(raw, at, key), dropped)
}
