/** Checks matchers when a scenario is read: known operators, one for each map, with arguments they accept. */
import * as z from 'zod/mini'
import { isMap } from '../../../base/objects.ts'
import { type SchemaProblemCode, sentenceIssue } from '../../../base/schemas/explain-issues.ts'
import { messageOf, nearest } from '../../../base/text/error-text.ts'
import type { Placeholder } from './fields.ts'

interface MatcherProblem {
  readonly path: PropertyKey[]
  readonly message: string
  readonly code: SchemaProblemCode
}

interface OperatorRule {
  /** What it matches, for readers. */
  readonly matches: string
  /** The arguments it accepts, for errors. */
  readonly takes: string
  accepts(argument: unknown): boolean
  /** The argument is a matcher itself, or a list of matchers. */
  readonly inside?: true
  readonly shape: object
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const

/** The argument of each operator. */
export interface OperatorArguments {
  readonly $any: true
  readonly $absent: true
  readonly $uuid: true
  readonly $iso: true
  readonly $type: (typeof TYPES)[number] | Placeholder
  readonly $re: string
  readonly $has: unknown
  readonly $not: unknown
  readonly $each: unknown
  readonly $oneOf: readonly [unknown, ...unknown[]]
  readonly $len: number | Matcher | Placeholder
  readonly $gt: number | string
  readonly $gte: number | string
  readonly $lt: number | string
  readonly $lte: number | string
  readonly $exact: unknown
}

type Alone<Operator extends keyof OperatorArguments> = Pick<OperatorArguments, Operator> & {
  readonly [Other in Exclude<keyof OperatorArguments, Operator>]?: never
}

/** `{ $type: 'string' }`: exactly one operator. */
export type Matcher = { [Operator in keyof OperatorArguments]: Alone<Operator> }[keyof OperatorArguments]

export const hasPlaceholder = (value: unknown): boolean => typeof value === 'string' && value.includes('$(')

const flag = { takes: 'true', accepts: (argument: unknown) => argument === true, shape: { const: true } }
const bound = {
  takes: 'a number or a time as text',
  accepts: (argument: unknown) => typeof argument === 'number' || typeof argument === 'string',
  shape: { type: ['number', 'string'] },
}
const matcher = { takes: 'a matcher', accepts: () => true, inside: true, shape: {} } as const

export const OPS: Readonly<Record<keyof OperatorArguments, OperatorRule>> = {
  $any: { ...flag, matches: 'any value that is present' },
  $absent: { ...flag, matches: 'no value' },
  $uuid: { ...flag, matches: 'a UUID' },
  $iso: { ...flag, matches: 'a time such as 2024-01-01T09:00:00Z' },
  $type: {
    matches: 'a value of this type',
    takes: TYPES.join(', '),
    accepts: argument => TYPES.some(type => type === argument) || hasPlaceholder(argument),
    shape: { enum: TYPES },
  },
  $re: {
    matches: 'a text, by a pattern or /pattern/flags',
    takes: 'a regular expression as text',
    accepts: argument => typeof argument === 'string',
    shape: { type: 'string' },
  },
  $has: { ...matcher, matches: 'a list with such an item, a text with such a part' },
  $not: { ...matcher, matches: 'what the matcher does not match' },
  $each: { ...matcher, matches: 'a list of which every item matches' },
  $oneOf: {
    matches: 'what one of them matches',
    takes: 'a list of matchers',
    accepts: argument => Array.isArray(argument) && argument.length > 0,
    inside: true,
    shape: { type: 'array', minItems: 1 },
  },
  $len: {
    matches: 'a text or a list of this length',
    takes: 'a number or a matcher of one',
    accepts: argument => typeof argument === 'number' || hasPlaceholder(argument) || isMap(argument),
    inside: true,
    shape: { type: ['number', 'object', 'string'] },
  },
  $gt: { ...bound, matches: 'more than this, or later' },
  $gte: { ...bound, matches: 'this or more' },
  $lt: { ...bound, matches: 'less than this, or earlier' },
  $lte: { ...bound, matches: 'this or less' },
  $exact: { matches: 'this value without further fields', takes: 'a value', accepts: () => true, shape: {} },
}

/** The problems of all matchers inside a value. */
export function matcherProblems(value: unknown, path: PropertyKey[] = []): MatcherProblem[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => matcherProblems(item, [...path, index]))
  if (!isMap(value)) return []
  const keys = Object.keys(value)
  const name = keys.find(key => key.startsWith('$'))
  if (name === undefined) return keys.flatMap(key => matcherProblems(value[key], [...path, key]))
  if (keys.length > 1) {
    const message = `holds ${keys.join(' and ')}: a matcher such as $type or $re stands alone in its map`
    return [{ path, message, code: 'conflict' }]
  }

  const at = [...path, name]
  const argument = value[name]
  const rule = Object.hasOwn(OPS, name) ? OPS[name as keyof OperatorArguments] : undefined
  if (rule === undefined) {
    const names = Object.keys(OPS)
    const hint = nearest(name, names) || `; there are ${names.join(', ')}`
    return [{ path: at, message: `is not a matcher${hint}`, code: 'unknown_key' }]
  }
  if (!rule.accepts(argument)) {
    const message = `takes ${rule.takes}, got ${JSON.stringify(argument) ?? 'nothing'}`
    return [{ path: at, message, code: 'unexpected_value' }]
  }
  if (name === '$re' && !hasPlaceholder(argument))
    try {
      readPattern(String(argument))
    } catch (error) {
      const message = `is not a regular expression: ${messageOf(error)}`
      return [{ path: at, message, code: 'unexpected_value' }]
    }
  return rule.inside === true ? matcherProblems(argument, at) : []
}

/** `pattern` or `/pattern/flags`. */
export function readPattern(text: string): RegExp {
  const [, pattern = text, flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? []
  return new RegExp(pattern, /[uv]/.test(flags) ? flags : `${flags}u`)
}

/** The JSON Schema of a matcher; editors offer `fields` in a map. */
export function matcherShape(fields: readonly string[] = []): object {
  const properties: Record<string, object> = {}
  for (const field of fields) properties[field] = {}
  for (const [name, { shape }] of Object.entries(OPS)) properties[name] = shape
  return { anyOf: [{ type: 'object', properties }, { not: { type: 'object' } }] }
}

/** The schema of a value with matchers anywhere inside; `shape` names its JSON Schema definition. */
export const matcherSchema = (description: string, examples: readonly unknown[] = [], shape = 'Matcher') =>
  z.unknown().check(
    ctx => {
      for (const { path, message, code } of matcherProblems(ctx.value))
        ctx.issues.push(sentenceIssue(code, ctx.value, message, path))
    },
    z.meta({
      $ref: `#/$defs/${shape}`,
      description,
      ...(examples.length > 0 && { examples: [...examples] }),
    }),
  )
