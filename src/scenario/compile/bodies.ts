/** Bodies that no call can have: an `expect` of one fails for want of it, a `none` or `never` would pass whatever came. */
import type { CallPattern } from '../action.ts'
import type { StepCompiler } from './step-compiler.ts'
import { TEXTS } from './texts.ts'
import { unknownFields } from './unknown-fields.ts'

type Path = readonly PropertyKey[]

/** `negative`: it must not come, so nobody would notice that it cannot. */
export function checkBody(compiler: StepCompiler, pattern: CallPattern, path: Path, negative: boolean): void {
  const { call, body } = pattern
  if (body === null || body === undefined || isFilledLater(body)) return
  const why = notABody(body)
  if (why !== null) compiler.complain([...path, call], why)
  for (const { path: inner, name, hint, near } of unknownFields(pattern)) {
    if (negative || near) compiler.complain([...path, call, ...inner], `${call} has no field ${name}${hint}`, 'key')
  }
}

const isFilledLater = (body: unknown) => typeof body === 'string' && /^\$\(.*\)$/.test(body)

/** Operators that are about texts, numbers and lists. */
const OF_FIELDS = ['$re', '$has', '$each', '$len', '$gt', '$gte', '$lt', '$lte', '$uuid', '$iso', '$absent']

function notABody(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return TEXTS.notABody(body)
  }
  const op = OF_FIELDS.find(name => Object.hasOwn(body, name))
  return op === undefined ? null : TEXTS.operatorOfField(op)
}
