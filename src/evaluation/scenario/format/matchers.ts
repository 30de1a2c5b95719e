/** Checks matchers when a scenario is read: known operators, one for each map, with arguments they accept. */
import * as z from 'zod/mini'
import { isMap } from '../../../base/objects.ts'
import { PATTERN_LIMIT_MS } from '../../../base/runtime/patterns.ts'
import { type SchemaProblemCode, sentenceIssue } from '../../../base/schemas/explain-issues.ts'
import { messageOf, nearest } from '../../../base/text/error-text.ts'
import type { Placeholder } from './fields.ts'
import { slowText } from './slow-patterns.ts'

/** The number of characters of a slow text that an error shows. */
const SHOWN = 20

interface MatcherProblem {
  readonly path: PropertyKey[]
  readonly message: string
  readonly code: SchemaProblemCode
}

interface OperatorRule {
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

const isOperator = (name: string): name is keyof OperatorArguments => Object.hasOwn(OPS, name)

export const hasPlaceholder = (value: unknown) => typeof value === 'string' && value.includes('$(')
const anything = () => true
const isTrue = { takes: 'true', accepts: (argument: unknown) => argument === true, shape: { const: true } }
const bound: OperatorRule = {
  takes: 'a number or a time as text',
  accepts: argument => typeof argument === 'number' || typeof argument === 'string',
  shape: { type: ['number', 'string'] },
}
const matcher: OperatorRule = { takes: 'a matcher', accepts: anything, inside: true, shape: {} }

export const OPS: Readonly<Record<keyof OperatorArguments, OperatorRule>> = {
  $any: isTrue,
  $absent: isTrue,
  $uuid: isTrue,
  $iso: isTrue,
  $type: {
    takes: TYPES.join(', '),
    accepts: argument => TYPES.some(type => type === argument) || hasPlaceholder(argument),
    shape: { enum: TYPES },
  },
  $re: {
    takes: 'a regular expression as text',
    accepts: argument => typeof argument === 'string',
    shape: { type: 'string' },
  },
  $has: matcher,
  $not: matcher,
  $each: matcher,
  $oneOf: {
    takes: 'a list of matchers',
    accepts: argument => Array.isArray(argument) && argument.length > 0,
    inside: true,
    shape: { type: 'array', minItems: 1 },
  },
  $len: {
    takes: 'a number or a matcher of one',
    accepts: argument => typeof argument === 'number' || hasPlaceholder(argument) || isMap(argument),
    inside: true,
    shape: { type: ['number', 'object', 'string'] },
  },
  $gt: bound,
  $gte: bound,
  $lt: bound,
  $lte: bound,
  $exact: { takes: 'a value', accepts: anything, shape: {} },
}

/** The problems of all matchers inside a value. */
export function matcherProblems(value: unknown, path: PropertyKey[] = []): MatcherProblem[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => matcherProblems(item, [...path, index]))
  if (!isMap(value)) return []
  const op = Object.keys(value).find(key => key.startsWith('$'))
  if (op === undefined) {
    return Object.entries(value).flatMap(([key, inner]) => matcherProblems(inner, [...path, key]))
  }
  return Object.keys(value).length > 1 ? [notAlone(value, path)] : ofOperator(op, value[op], path)
}

function notAlone(value: Record<string, unknown>, path: PropertyKey[]): MatcherProblem {
  return {
    path,
    message: `holds ${Object.keys(value).join(' and ')}: a matcher such as $type or $re stands alone in its map`,
    code: 'conflict',
  }
}

function ofOperator(name: string, argument: unknown, path: PropertyKey[]): MatcherProblem[] {
  const op = isOperator(name) ? OPS[name] : undefined
  const at = [...path, name]
  if (op === undefined) {
    const names = Object.keys(OPS)
    return [
      {
        path: at,
        message: `is not a matcher${nearest(name, names) || `; there are ${names.join(', ')}`}`,
        code: 'unknown_key',
      },
    ]
  }
  if (!op.accepts(argument))
    return [
      {
        path: at,
        message: `takes ${op.takes}, got ${JSON.stringify(argument) ?? 'nothing'}`,
        code: 'unexpected_value',
      },
    ]
  if (name === '$re') return badPattern(String(argument), at)
  return op.inside === undefined ? [] : matcherProblems(argument, at)
}

/** `pattern` or `/pattern/flags`. */
export function readPattern(text: string): RegExp {
  const [, pattern = text, flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? []
  return new RegExp(pattern, /[uv]/.test(flags) ? flags : `${flags}u`)
}

function badPattern(text: string, path: PropertyKey[]): MatcherProblem[] {
  if (hasPlaceholder(text)) return []
  try {
    const slow = slowText(readPattern(text))
    return slow === null
      ? []
      : [
          {
            path,
            message: `takes longer than ${PATTERN_LIMIT_MS} ms on a text such as ${JSON.stringify(slow.slice(0, SHOWN))} (${slow.length} characters): rewrite it without nested or adjacent repetition`,
            code: 'unexpected_value',
          },
        ]
  } catch (error) {
    return [{ path, message: `is not a regular expression: ${messageOf(error)}`, code: 'unexpected_value' }]
  }
}

const opSchemas = Object.fromEntries(Object.entries(OPS).map(([name, { shape }]) => [name, shape]))

/** The JSON Schema of a matcher; editors offer `fields` in a map. */
export const matcherShape = (fields: readonly string[] = []) => ({
  anyOf: [
    { type: 'object', properties: { ...Object.fromEntries(fields.map(field => [field, {}])), ...opSchemas } },
    { not: { type: 'object' } },
  ],
})

/** The schema of a value with matchers anywhere inside; `shape` names its JSON Schema definition. */
export const matcherOf = (description: string, examples: readonly unknown[] = [], shape = 'Matcher') =>
  z.unknown().check(
    ctx => {
      for (const { path, message, code } of matcherProblems(ctx.value)) {
        ctx.issues.push(sentenceIssue(code, ctx.value, message, path))
      }
    },
    z.meta({
      $ref: `#/$defs/${shape}`,
      description,
      ...(examples.length === 0 ? {} : { examples: [...examples] }),
    }),
  )
