/** Compiles what a scenario expects of calls to patterns and trees, and reports bodies that no call can have. */

import type * as z from 'zod/mini'
import { definitionOf } from '../../../base/schemas/definitions.ts'
import { nearest } from '../../../base/text/error-text.ts'
import { isPlainObject } from '../../../base/text/redactor.ts'
import { ENDPOINTS } from '../../../platform/contract/endpoints.ts'
import { type ExpectInput, type ExpectMap, GROUP_NAMES, type PatternInput } from '../format/checks.ts'
import { ALIAS, AUTH, CALL_NAMES, DURATION, TIMES } from '../format/fields.ts'
import type { Path } from '../format/scenario.ts'
import { firstWord, isAsymmetric } from '../interpolation.ts'
import type { CallName, CallPattern, ExpectTree, Times } from '../plan.ts'
import type { StepCompiler } from './step-compiler.ts'
import { COMPILE_TEXTS } from './texts.ts'

const ONCE: Times = { min: 1, max: 1 }

/** `start` or `{ start: body }`; a map may name several. */
export function patternsOf(written: PatternInput): CallPattern[] {
  if (typeof written === 'string') return [{ call: written, body: null }]
  return CALL_NAMES.flatMap(call => (written[call] === undefined ? [] : [{ call, body: written[call] }]))
}

/** `idOf` finds the step a `since` names. */
export function treeOf(
  compiler: StepCompiler,
  written: ExpectInput,
  path: Path,
  idOf: (id: string, path: Path) => string | null,
): ExpectTree {
  if (typeof written === 'string') return callTree(compiler, written, {}, path, idOf)
  for (const op of GROUP_NAMES) {
    const of = written[op]?.map((one, index) => treeOf(compiler, one, [...path, op, index], idOf))
    if (of !== undefined) return { op, of }
  }
  return callTree(compiler, written, written, path, idOf)
}

function callTree(
  compiler: StepCompiler,
  written: CallName | ExpectMap,
  options: ExpectMap,
  path: Path,
  idOf: (id: string, path: Path) => string | null,
): ExpectTree {
  const pattern = patternsOf(written)[0] ?? { call: 'any', body: null }
  checkBody(compiler, pattern, path, false)
  checkCapture(compiler, options.capture ?? {}, [...path, 'capture'])
  return {
    op: 'call',
    ...pattern,
    times: compiler.staticValue(TIMES, options.times, [...path, 'times'], ONCE),
    apartMs: compiler.staticValue(DURATION, options.apart, [...path, 'apart'], null),
    since: options.since === undefined ? null : idOf(options.since, [...path, 'since']),
    alias: compiler.staticValue(ALIAS, options.alias, [...path, 'alias'], null),
    auth: compiler.staticValue(AUTH, options.auth, [...path, 'auth'], 'valid'),
    capture: options.capture ?? {},
  }
}

/** Every alternative is tried again for every call. */
const MOST_ALTERNATIVES = 1000

/** Several `oneOf` multiply their alternatives. */
export function checkAlternatives(compiler: StepCompiler, tree: ExpectTree, path: Path): void {
  const ways = countAlternatives(tree)
  if (ways <= MOST_ALTERNATIVES) return
  compiler.report(path, COMPILE_TEXTS.tooManyAlternatives(ways, MOST_ALTERNATIVES))
}

function countAlternatives(tree: ExpectTree): number {
  if (tree.op === 'call') return 1
  const ways = tree.of.map(countAlternatives)
  return tree.op === 'oneOf' ? ways.reduce((sum, one) => sum + one, 0) : ways.reduce((all, one) => all * one, 1)
}

/** The parts of a call that can be captured. */
const CALL_PARTS = ['body', 'response', 'status', 'endpoint', 'alias', 'method', 'path', 'headers']

function checkCapture(compiler: StepCompiler, capture: Readonly<Record<string, string>>, path: Path): void {
  for (const [name, from] of Object.entries(capture)) {
    const first = firstWord(from)
    if (CALL_PARTS.includes(first)) continue
    const hint = nearest(first, CALL_PARTS) || COMPILE_TEXTS.callParts(CALL_PARTS, from)
    compiler.report([...path, name], COMPILE_TEXTS.unknownCallPart(first, hint))
  }
}

/** Calls that must not come. */
export function unwantedOf(compiler: StepCompiler, written: PatternInput, path: Path): CallPattern[] {
  const patterns = patternsOf(written)
  for (const pattern of patterns) checkBody(compiler, pattern, path, true)
  return patterns
}

/** Every call of a tree, with the names it captures. */
export function* callsOf(tree: ExpectTree): Generator<Extract<ExpectTree, { op: 'call' }>> {
  if (tree.op === 'call') yield tree
  else for (const one of tree.of) yield* callsOf(one)
}

/** `negative` patterns must not match, so that an impossible body would go unnoticed. */
function checkBody(compiler: StepCompiler, pattern: CallPattern, path: Path, negative: boolean): void {
  const { call, body } = pattern
  if (body === null || body === undefined || (typeof body === 'string' && /^\$\(.*\)$/.test(body))) return
  const why = notABody(body)
  if (why !== null) compiler.report([...path, call], why)
  for (const { path: inner, name, hint, near } of unknownFields(pattern)) {
    if (negative || near)
      compiler.report([...path, call, ...inner], COMPILE_TEXTS.unknownField(call, name, hint), 'key')
  }
}

/** Operators of texts, numbers and lists, which no body is. */
const FIELD_OPERATORS = ['$re', '$has', '$each', '$len', '$gt', '$gte', '$lt', '$lte', '$uuid', '$iso', '$absent']

function notABody(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return COMPILE_TEXTS.notABody(body)
  }
  const op = FIELD_OPERATORS.find(name => Object.hasOwn(body, name))
  return op === undefined ? null : COMPILE_TEXTS.operatorOfField(op)
}

export interface UnknownField {
  /** The path in the body, with keys of matchers. */
  readonly path: readonly PropertyKey[]
  /** The name as in a call: `sender.nam`. */
  readonly name: string
  /** The field that was probably meant, or all fields. */
  readonly hint: string
  /** Whether a field has a similar name. */
  readonly near: boolean
}

export function unknownFields({ call, body }: CallPattern): UnknownField[] {
  const schema = call === 'any' ? null : ENDPOINTS[call].body
  return schema === null ? [] : unknownIn(body, schema, [], '')
}

function unknownIn(
  pattern: unknown,
  schema: z.ZodMiniType,
  path: readonly PropertyKey[],
  within: string,
): UnknownField[] {
  const { shape, catchall } = definitionOf(schema)
  if (!isPlainObject(pattern) || isAsymmetric(pattern)) return []
  const entries = Object.entries(pattern)
  if (entries.some(([key]) => key.startsWith('$'))) {
    return entries.flatMap(([key, value]) => inMatcher(key, value, schema, [...path, key], within))
  }
  if (shape === undefined || catchall !== undefined) return []
  return entries.flatMap(([key, value]) => {
    const full = [...path, key]
    const inner = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (inner !== undefined) return unknownIn(value, inner, full, `${within}${key}.`)
    return isAbsent(value) ? [] : [{ path: full, name: `${within}${key}`, ...suggestion(key, Object.keys(shape)) }]
  })
}

function suggestion(key: string, known: readonly string[]): Pick<UnknownField, 'hint' | 'near'> {
  const near = dotted(key, known) || nearest(key, known)
  return { near: near !== '', hint: near || `; it has ${known.join(', ')}` }
}

/** Explains a dotted key, as other tools use them. */
function dotted(key: string, known: readonly string[]): string {
  const [first = '', ...rest] = key.split('.')
  return rest.length > 0 && known.includes(first) ? `; write ${first}: { ${rest.join(': { ')}: … }` : ''
}

/** Operators whose argument is about the same value. */
function inMatcher(
  key: string,
  value: unknown,
  schema: z.ZodMiniType,
  path: readonly PropertyKey[],
  within: string,
): UnknownField[] {
  if (key === '$exact') return unknownIn(value, schema, path, within)
  if (key !== '$oneOf' || !Array.isArray(value)) return []
  return value.flatMap((one, index) => unknownIn(one, schema, [...path, index], within))
}

/** `$absent` of an unknown field is valid. */
const isAbsent = (value: unknown) => isPlainObject(value) && '$absent' in value
