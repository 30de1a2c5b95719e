/** Compiles what a scenario expects of calls to patterns and trees, and reports bodies that no call can have. */
import type * as z from 'zod/mini'
import { definitionOf } from '../../../base/schemas/definitions.ts'
import { nearest } from '../../../base/text/error-text.ts'
import { isPlainObject } from '../../../base/text/redactor.ts'
import { ENDPOINTS } from '../../../platform/contract/endpoints.ts'
import { type ExpectInput, GROUP_NAMES, type PatternInput } from '../format/checks.ts'
import { ALIAS, AUTH, CALL_NAMES, DURATION, TIMES } from '../format/fields.ts'
import type { Path } from '../format/scenario.ts'
import { firstWord, isAsymmetric } from '../interpolation.ts'
import type { CallPattern, ExpectTree } from '../plan.ts'
import type { StepCompiler } from './step-compiler.ts'

/** `start` or `{ start: body }`; a map may name several. */
export function listPatterns(written: PatternInput): CallPattern[] {
  if (typeof written === 'string') return [{ call: written, body: null }]
  const patterns: CallPattern[] = []
  for (const call of CALL_NAMES) if (written[call] !== undefined) patterns.push({ call, body: written[call] })
  return patterns
}

/** The parts of a call that can be captured. */
const CALL_PARTS = ['body', 'response', 'status', 'endpoint', 'alias', 'method', 'path', 'headers']

/** `idOf` finds the step a `since` names. */
export function compileTree(
  compiler: StepCompiler,
  written: ExpectInput,
  path: Path,
  idOf: (id: string, path: Path) => string | null,
): ExpectTree {
  const options = typeof written === 'string' ? {} : written
  for (const op of GROUP_NAMES) {
    const of = options[op]?.map((input, index) => compileTree(compiler, input, [...path, op, index], idOf))
    if (of !== undefined) return { op, of }
  }
  const pattern = listPatterns(written)[0] ?? { call: 'any', body: null }
  checkBody(compiler, pattern, path, false)
  const { capture = {}, since } = options
  for (const [name, from] of Object.entries(capture)) {
    const first = firstWord(from)
    if (CALL_PARTS.includes(first)) continue
    const hint = nearest(first, CALL_PARTS) || `; it has ${CALL_PARTS.join(', ')}, as in body.${from}`
    compiler.report([...path, 'capture', name], `begins with ${first}, which a call does not have${hint}`)
  }
  return {
    op: 'call',
    ...pattern,
    times: compiler.staticValue(TIMES, options.times, [...path, 'times'], { min: 1, max: 1 }),
    statesTimes: options.times !== undefined,
    apartMs: compiler.staticValue(DURATION, options.apart, [...path, 'apart'], null),
    since: since === undefined ? null : idOf(since, [...path, 'since']),
    alias: compiler.staticValue(ALIAS, options.alias, [...path, 'alias'], null),
    auth: compiler.staticValue(AUTH, options.auth, [...path, 'auth'], 'valid'),
    capture,
  }
}

/** Every alternative is tried again for every call. */
const MAX_ALTERNATIVES = 1000

/** Several `oneOf` multiply their alternatives. */
export function checkAlternatives(compiler: StepCompiler, tree: ExpectTree, path: Path): void {
  const ways = countAlternatives(tree)
  if (ways > MAX_ALTERNATIVES)
    compiler.report(
      path,
      `can be met in ${ways} ways, because its oneOf multiply; at most ${MAX_ALTERNATIVES} are tried: make it several steps`,
    )
}

function countAlternatives(tree: ExpectTree): number {
  if (tree.op === 'call') return 1
  let ways = tree.op === 'oneOf' ? 0 : 1
  for (const subtree of tree.of)
    ways = tree.op === 'oneOf' ? ways + countAlternatives(subtree) : ways * countAlternatives(subtree)
  return ways
}

/** Calls that must not come. */
export function compileUnwanted(compiler: StepCompiler, written: PatternInput, path: Path): CallPattern[] {
  const patterns = listPatterns(written)
  for (const pattern of patterns) checkBody(compiler, pattern, path, true)
  return patterns
}

/** Every call of a tree, with the names it captures. */
export function* callsOf(tree: ExpectTree): Generator<Extract<ExpectTree, { op: 'call' }>> {
  if (tree.op === 'call') yield tree
  else for (const subtree of tree.of) yield* callsOf(subtree)
}

/** Operators of texts, numbers and lists, which no body is. */
const FIELD_OPERATORS = ['$re', '$has', '$each', '$len', '$gt', '$gte', '$lt', '$lte', '$uuid', '$iso', '$absent']

/** `isUnwanted` patterns must not match, so that an impossible body would never be noticed. */
function checkBody(compiler: StepCompiler, pattern: CallPattern, path: Path, isUnwanted: boolean): void {
  const { call, body } = pattern
  if (body === null || body === undefined || (typeof body === 'string' && /^\$\(.*\)$/.test(body))) return
  if (typeof body !== 'object' || Array.isArray(body)) {
    const example = `{ message: ${JSON.stringify(body)} }`
    compiler.report([...path, call], `must be a map of fields of the body, such as ${example}`)
  } else {
    const operator = FIELD_OPERATORS.find(name => Object.hasOwn(body, name))
    if (operator !== undefined)
      compiler.report(
        [...path, call],
        `holds ${operator}, which no body matches: write it at a field, such as { message: { ${operator}: … } }`,
      )
  }
  for (const { path: inner, name, hint, hasNearName } of unknownFields(pattern))
    if (isUnwanted || hasNearName)
      compiler.report([...path, call, ...inner], `${call} has no field ${name}${hint}`, 'key')
}

export interface UnknownField {
  /** The path in the body, with keys of matchers. */
  readonly path: readonly PropertyKey[]
  /** The name as in a call: `sender.nam`. */
  readonly name: string
  /** The field that was probably meant, or all fields. */
  readonly hint: string
  /** Whether a field has a similar name. */
  readonly hasNearName: boolean
}

export function unknownFields({ call, body }: CallPattern): UnknownField[] {
  const schema = call === 'any' ? null : ENDPOINTS[call].body
  return schema === null ? [] : [...unknownIn(body, schema, [], '')]
}

function* unknownIn(
  pattern: unknown,
  schema: z.ZodMiniType,
  path: readonly PropertyKey[],
  within: string,
): Generator<UnknownField> {
  if (!isPlainObject(pattern) || isAsymmetric(pattern)) return
  const { shape, catchall } = definitionOf(schema)
  const entries = Object.entries(pattern)
  if (entries.some(([key]) => key.startsWith('$'))) {
    // The arguments of these operators are about the same value.
    for (const [key, value] of entries) {
      if (key === '$exact') yield* unknownIn(value, schema, [...path, key], within)
      if (key === '$oneOf' && Array.isArray(value))
        for (const [index, item] of value.entries()) yield* unknownIn(item, schema, [...path, key, index], within)
    }
    return
  }
  if (shape === undefined || catchall !== undefined) return
  const names = Object.keys(shape)
  for (const [key, value] of entries) {
    const inner = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (inner !== undefined) yield* unknownIn(value, inner, [...path, key], `${within}${key}.`)
    // `$absent` of an unknown field is valid.
    else if (!isPlainObject(value) || !('$absent' in value)) {
      // A dotted key, as other tools use them, names a field and its parts.
      const [first = '', ...rest] = key.split('.')
      const isDotted = rest.length > 0 && names.includes(first)
      const near = isDotted ? `; write ${first}: { ${rest.join(': { ')}: … }` : nearest(key, names)
      const hint = near || `; it has ${names.join(', ')}`
      yield { path: [...path, key], name: `${within}${key}`, hint, hasNearName: near !== '' }
    }
  }
}
