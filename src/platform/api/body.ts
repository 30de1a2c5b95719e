/** Reads the body of a request: its form, its JSON, and its fields by the contract. */
import type * as z from 'zod/mini'
import { createJsonMeter } from '../../base/nesting.ts'
import { explainIssues, formatValue, joinPath, MAX_PROBLEMS, ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { messageOf, sentence, shortName } from '../../base/text/error-text.ts'
import type { AssumptionName } from '../contract/assumptions.ts'
import type { EndpointId } from '../contract/endpoint-routes.ts'
import { ENDPOINTS } from '../contract/endpoints.ts'
import type { Knobs } from '../contract/knobs.ts'
import { leaveOutEmpty } from '../contract/optional-fields.ts'
import { invalidParameter, Refusal } from '../rules/refusal.ts'
import { addFinding, assumed, type Transaction } from '../rules/state.ts'
import type { ApiRequest } from './messages.ts'

export interface ParsedBody {
  readonly body: unknown
  /** About how many values the text has; none for a short text. */
  readonly valueCount: number
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Parses JSON; throws a refusal for a body that is too large, not UTF-8, or not JSON. */
export function parseJson(request: ApiRequest, knobs: Knobs): ParsedBody {
  if (request.tooLarge || request.body.length > knobs['limits.body']) throw tooLarge(knobs)
  if (request.body.length === 0) throw badJson('The body is empty; a JSON object is expected.')
  let text: string
  try {
    text = UTF8.decode(request.body)
  } catch {
    throw badJson('The body is not valid JSON: it is not UTF-8.')
  }
  // A short text can be neither deep nor long.
  const valueCount = text.length <= 2 * MAX_DEPTH ? 0 : createJsonMeter(MAX_DEPTH)(request.body)?.values
  if (valueCount === undefined) {
    throw new Refusal('invalid_json', `The body is nested more than ${MAX_DEPTH} levels deep.`, {
      assumed: ['limits.nesting'],
    })
  }
  try {
    return { body: JSON.parse(text), valueCount }
  } catch (error) {
    throw badJson(`The body is not valid JSON: ${messageOf(error)}.`)
  }
}

/** Deeper values can be parsed, but writing them again would exceed the stack. */
const MAX_DEPTH = 200

const badJson = (message: string) => new Refusal('invalid_json', message)
const tooLarge = (knobs: Knobs) =>
  new Refusal('payload_too_large', `The body is larger than ${knobs['limits.body']} bytes.`, {
    assumed: ['limits.body'],
  })

/** A byte order mark and a Content-Encoding are findings; the body is parsed as it is. */
export function checkBodyForm({ body, headers }: ApiRequest, transaction: Transaction): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    assumed(transaction, 'api.contentEncoding')
    addFinding(
      transaction,
      'E0.2',
      `Content-Encoding is ${JSON.stringify(encoding)}; send the body without it, because the platform describes no compression.`,
    )
  }
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    assumed(transaction, 'api.byteOrderMark')
    addFinding(transaction, 'E0.2', 'The body begins with a byte order mark; send the JSON without it.')
  }
}

/** A missing or different Content-Type with a JSON body is a finding, a refusal with `api.contentType=415`. */
export function checkContentType(request: ApiRequest, knobs: Knobs, transaction: Transaction): void {
  const type = request.headers['content-type']
  if (type !== undefined && (type === 'application/json' || /^application\/json\s*(;|$)/i.test(type))) return
  assumed(transaction, 'api.contentType')
  const message = `Content-Type should be application/json, got ${type === undefined ? 'none' : JSON.stringify(type)}.`
  if (knobs['api.contentType'] === '415')
    throw new Refusal('unsupported_media_type', message, { field: 'Content-Type' })
  addFinding(transaction, 'E0.2', message)
}

/** How many elements of a long array are checked first. */
const FIRST_ELEMENTS = 100

/** Throws a refusal for an invalid body. */
export function parseBySchema(
  id: EndpointId,
  { body, transaction }: ParsedBody & { readonly transaction: Transaction },
  knobs: Knobs,
): unknown {
  const { body: schema } = ENDPOINTS[id]
  if (schema === null) throw new Error(`A call of ${id} has no body.`)

  if (!hasFields(body) || Array.isArray(body)) {
    throw invalidParameter(knobs, `The body must be a JSON object, got ${formatValue(body)}.`, {})
  }
  const raw = withoutEmptyFields(schema, body, knobs, transaction)
  for (const beginning of shortenedArrays(raw))
    if (!schema.safeParse(beginning).success) throw refuse(schema, beginning, knobs)
  const result = schema.safeParse(raw)
  if (!result.success) throw refuse(schema, raw, knobs)
  if (hasFields(result.data)) checkUnknown(droppedFields(raw, result.data), knobs, transaction)
  return result.data
}

/** Reads optional fields that are null or empty as left out, with findings; or refuses them. */
function withoutEmptyFields(schema: z.ZodMiniType, body: Fields, knobs: Knobs, transaction: Transaction): Fields {
  if (!hasEmpty(body)) return body
  const { filled, nulls, empty } = leaveOutEmpty(schema, body)
  for (const [knob, names, what] of [
    ['api.nulls', nulls, 'null'],
    ['api.emptyFields', empty, 'empty'],
  ] as const) {
    const [field] = names
    if (field === undefined) continue
    assumed(transaction, knob)
    if (knobs[knob] === '400')
      throw invalidParameter(knobs, `${field} is ${what}: leave it out, or give it a value.`, { field })
    for (const name of names) addFinding(transaction, 'ER4', `${name} is ${what}; it was read as left out.`)
  }
  return filled
}

/**
 * The value with the first elements of its long arrays, then with more of them, but not the whole value. Zod collects the
 * problems of all elements: a body of 1 MiB with 500,000 wrong buttons would take more than a gigabyte.
 */
export function* shortenedArrays(value: unknown): Generator<object> {
  const longest = longestArray(value)
  for (let length = FIRST_ELEMENTS; length < longest; length *= 2) yield shortenArrays(value, length) as object
}

/** Whether a null, an empty text or an empty list is anywhere in a value. */
const hasEmpty = (value: unknown): boolean => {
  if (value === null || value === '') return true
  return hasFields(value) && ((Array.isArray(value) && value.length === 0) || Object.values(value).some(hasEmpty))
}

/** The length of the longest array in a value. */
function longestArray(value: unknown): number {
  if (!hasFields(value)) return 0
  let longest = Array.isArray(value) ? value.length : 0
  for (const key in value) if (hasFields(value[key])) longest = Math.max(longest, longestArray(value[key]))
  return longest
}

/** The value with at most the first `length` elements of each array. */
function shortenArrays(value: unknown, length: number): unknown {
  if (Array.isArray(value)) return value.slice(0, length).map(element => shortenArrays(element, length))
  return hasFields(value) ? mapFields(value, field => shortenArrays(field, length)) : value
}

const mapFields = (value: Fields, change: (field: unknown) => unknown): Fields =>
  Object.fromEntries(Object.entries(value).map(([name, field]) => [name, change(field)]))

/** Parses again with messages, which a valid body does not need. */
function refuse(schema: z.ZodMiniType, raw: object, knobs: Knobs): Refusal {
  const issues = schema.safeParse(raw, ZOD_MESSAGES).error?.issues ?? []
  const problems = describeIssues(issues, raw, schema, 'The body')
  const field = problems[0]?.field
  const message = problems.map(problem => problem.message).join(' ')
  return invalidParameter(knobs, message, { ...(field ? { field } : {}), ...assumedBy(issues[0]) })
}

/** A timeout of zero or less has the right type, so refusing it is an assumption. */
const assumedBy = (issue: z.core.$ZodIssue | undefined): { assumed?: readonly AssumptionName[] } =>
  issue?.code === 'too_small' && issue.path[0] === 'timeout' ? { assumed: ['typing.timeout'] } : {}

function checkUnknown({ names, count }: DroppedFields, knobs: Knobs, transaction: Transaction): void {
  const [field] = names
  if (field === undefined) return
  assumed(transaction, 'api.unknownFields')
  const otherCount = count - names.length
  if (knobs['api.unknownFields'] === '400') {
    throw new Refusal(
      'invalid_parameter',
      `${names.join(', ')}${otherCount === 0 ? '' : ` and ${otherCount} more`}: not a known field.`,
      { field },
    )
  }
  for (const field of names) addFinding(transaction, 'ER1', `${field} is not a known field; it was ignored.`)
  if (otherCount > 0) addFinding(transaction, 'ER1', `And ${otherCount} more unknown fields; they were ignored.`)
}

export interface FieldProblem {
  readonly field: string
  readonly message: string
  /** The keys that are known instead of an unknown one. */
  readonly allowed?: readonly string[]
}

/** Describes at most 20 issues. `whole` names the value itself: `The body`. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  schema: z.ZodMiniType,
  whole: string,
): FieldProblem[] {
  const problems = explainIssues(issues, value, schema, MAX_PROBLEMS + 1)
  const described = problems.slice(0, MAX_PROBLEMS).map(({ field, message, allowed }) => ({
    field,
    message: sentence(`${field || whole} ${message}`),
    ...(allowed === undefined ? {} : { allowed }),
  }))
  return problems.length > MAX_PROBLEMS ? [...described, { field: '', message: 'There are more problems.' }] : described
}

type Fields = Readonly<Record<string, unknown>>

/** Whether a value has fields; an array counts. */
const hasFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Fields of `raw` that a parse dropped: the full names of the first 20, and the number of all. */
interface DroppedFields {
  readonly names: string[]
  count: number
}

function droppedFields(raw: Fields, parsed: Fields): DroppedFields {
  const dropped: DroppedFields = { names: [], count: 0 }
  const collect = (from: Fields, to: Fields, path: readonly string[]): void => {
    for (const key in from) {
      const [child, counterpart] = [from[key], to[key]]
      if (!Object.hasOwn(to, key)) {
        if (++dropped.count <= MAX_PROBLEMS) dropped.names.push(nameOf(raw, [...path, key]))
      } else if (hasFields(child) && hasFields(counterpart)) collect(child, counterpart, [...path, key])
    }
  }
  collect(raw, parsed, [])
  return dropped
}

/** `sender.name`, `buttons[0].label`. */
function nameOf(raw: Fields, path: readonly string[]): string {
  let name = ''
  let parent: unknown = raw
  for (const key of path) {
    name = Array.isArray(parent) ? `${name}[${key}]` : joinPath(name, shortName(key))
    parent = (parent as Fields)[key]
  }
  return name
}
