/** Matchers as data, checked when a scenario is read: known `$ops`, one per map, each with an argument it can use. */
import * as z from 'zod/mini'
import { type SchemaProblemCode, sentenceIssue } from '../../contract/explain-issues.ts'
import { isMap } from '../../files/is-map.ts'
import { nearest } from '../../text/near-names.ts'

interface MatcherProblem {
  readonly path: PropertyKey[]
  readonly message: string
  readonly code: SchemaProblemCode
}

/** What an operator takes; `inside`: its argument is a matcher itself, or a list of them. */
interface Op {
  readonly takes: string
  right(argument: unknown): boolean
  readonly inside?: 'one' | 'each'
  readonly shape: object
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']
const hasNames = (value: unknown) => typeof value === 'string' && value.includes('$(')
const anything = () => true
const isTrue = { takes: 'true', right: (argument: unknown) => argument === true, shape: { const: true } }
const bound: Op = {
  takes: 'a number or a time as text',
  right: argument => typeof argument === 'number' || typeof argument === 'string',
  shape: { type: ['number', 'string'] },
}
const matcher: Op = { takes: 'a matcher', right: anything, inside: 'one', shape: {} }

export const OPS: Readonly<Record<string, Op>> = {
  $any: isTrue,
  $absent: isTrue,
  $uuid: isTrue,
  $iso: isTrue,
  $type: {
    takes: TYPES.join(', '),
    right: argument => TYPES.includes(argument as string) || hasNames(argument),
    shape: { enum: TYPES },
  },
  $re: {
    takes: 'a regular expression as text',
    right: argument => typeof argument === 'string',
    shape: { type: 'string' },
  },
  $has: matcher,
  $not: matcher,
  $each: matcher,
  $oneOf: {
    takes: 'a list of matchers',
    right: argument => Array.isArray(argument) && argument.length > 0,
    inside: 'each',
    shape: { type: 'array', minItems: 1 },
  },
  $len: {
    takes: 'a number or a matcher of one',
    right: argument => typeof argument === 'number' || hasNames(argument) || isMap(argument),
    inside: 'one',
    shape: { type: ['number', 'object', 'string'] },
  },
  $gt: bound,
  $gte: bound,
  $lt: bound,
  $lte: bound,
  $exact: { takes: 'a value', right: anything, shape: {} },
}

/** Everything wrong with the matchers inside a value. */
export function matcherProblems(value: unknown, path: PropertyKey[] = []): MatcherProblem[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => matcherProblems(item, [...path, index]))
  if (!isMap(value)) return []
  const ops = Object.keys(value).filter(key => key.startsWith('$'))
  if (ops.length === 0) {
    return Object.entries(value).flatMap(([key, inner]) => matcherProblems(inner, [...path, key]))
  }
  return Object.keys(value).length > 1 ? [tooMany(value, path)] : ofOp(ops[0]!, value[ops[0]!], path)
}

function tooMany(value: Record<string, unknown>, path: PropertyKey[]): MatcherProblem {
  const keys = Object.keys(value).join(' and ')
  return { path, message: `holds ${keys}: a matcher such as $type or $re stands alone in its map`, code: 'conflict' }
}

function ofOp(name: string, argument: unknown, path: PropertyKey[]): MatcherProblem[] {
  const op = Object.hasOwn(OPS, name) ? OPS[name] : undefined
  const at = [...path, name]
  if (op === undefined) {
    const hint = nearest(name, Object.keys(OPS)) || `; there are ${Object.keys(OPS).join(', ')}`
    return [{ path: at, message: `is not a matcher${hint}`, code: 'unknown_key' }]
  }
  if (!op.right(argument))
    return [
      {
        path: at,
        message: `takes ${op.takes}, got ${JSON.stringify(argument) ?? 'nothing'}`,
        code: 'unexpected_value',
      },
    ]
  if (name === '$re') return badPattern(argument as string, at)
  if (op.inside === 'each') {
    return (argument as unknown[]).flatMap((item, index) => matcherProblems(item, [...at, index]))
  }
  return op.inside === 'one' ? matcherProblems(argument, at) : []
}

/** `pattern` or `/pattern/flags`. */
export function readPattern(text: string): RegExp {
  const slashed = /^\/(.*)\/([a-z]*)$/s.exec(text)
  return slashed === null ? new RegExp(text, 'u') : new RegExp(slashed[1]!, withUnicode(slashed[2]!))
}

const withUnicode = (flags: string) => (/[uv]/.test(flags) ? flags : `${flags}u`)

function badPattern(text: string, path: PropertyKey[]): MatcherProblem[] {
  if (hasNames(text)) return []
  try {
    readPattern(text)
    return []
  } catch (error) {
    return [{ path, message: `is not a regular expression: ${(error as Error).message}`, code: 'unexpected_value' }]
  }
}

const opSchemas = Object.fromEntries(Object.entries(OPS).map(([name, { shape }]) => [name, shape]))

/** A matcher for editors, shared by everything that is one; `fields` are offered in a map. */
export const matcherShape = (fields: readonly string[] = []) => ({
  anyOf: [
    { type: 'object', properties: { ...Object.fromEntries(fields.map(field => [field, {}])), ...opSchemas } },
    { not: { type: 'object' } },
  ],
})

/** A value to compare with, matchers anywhere inside. `shape` is the name editors find its form under. */
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
