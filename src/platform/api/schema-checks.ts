/** Parses bodies and answers by the schemas of the contract, and describes what is wrong with an invalid one. */
import type * as z from 'zod/mini'
import { explainIssues, formatValue, joinPath, MOST_PROBLEMS, ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { sentence, shortName } from '../../base/text/error-text.ts'
import type { AssumptionName } from '../contract/assumptions.ts'
import { checkInSteps } from '../contract/check-in-steps.ts'
import type { EndpointId } from '../contract/endpoint-routes.ts'
import { ENDPOINTS } from '../contract/endpoints.ts'
import type { Knobs } from '../contract/knobs.ts'
import { invalidParameter, REFUSAL_TEXTS, Refusal } from '../rules/refusal.ts'
import { addFinding, assumed, type Transaction } from '../rules/transaction.ts'
import type { ParsedBody } from './body.ts'

const contractError = (id: EndpointId, message: string) =>
  new Error(`The answer of ${id} breaks its contract: ${message}`)

/** Throws when the value breaks the contract, which is a bug of the simulator. */
export function checkAnswer(id: EndpointId, reply: unknown): void {
  const checked = ENDPOINTS[id].response.safeParse(reply)
  if (!checked.success) throw contractError(id, checked.error.message)
}

/** The same for a long answer. */
export function* checkAnswerInSteps(id: EndpointId, reply: object): Generator<void, void> {
  const checked = yield* checkInSteps<unknown>(ENDPOINTS[id].response, reply)
  if (!checked.success) throw contractError(id, JSON.stringify(checked.issues))
}

function bodySchemaOf(id: EndpointId): z.ZodMiniType {
  const { body } = ENDPOINTS[id]
  if (body === null) throw new Error(`A call of ${id} has no body.`)
  return body
}

/** Throws a refusal for an invalid body. */
export function parseBySchema(
  id: EndpointId,
  { body: raw, transaction }: ParsedBody & { readonly transaction: Transaction },
  knobs: Knobs,
): unknown {
  const schema = bodySchemaOf(id)
  if (!hasFields(raw) || Array.isArray(raw)) {
    throw invalidParameter(knobs, REFUSAL_TEXTS.bodyNotObject(formatValue(raw)), {})
  }
  const result = schema.safeParse(raw)
  if (!result.success) throw refuse(schema, raw, knobs)
  if (hasFields(result.data)) checkUnknown(droppedFields(raw, result.data), knobs, transaction)
  return result.data
}

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
  const others = count - names.length
  if (knobs['api.unknownFields'] === '400') {
    throw new Refusal('invalid_parameter', REFUSAL_TEXTS.unknownFields(names.join(', '), others), { field })
  }
  for (const field of names) addFinding(transaction, 'ER1', REFUSAL_TEXTS.unknownField(field))
  if (others > 0) addFinding(transaction, 'ER1', REFUSAL_TEXTS.furtherUnknownFields(others))
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
  const problems = explainIssues(issues, value, schema, MOST_PROBLEMS + 1)
  const described = problems.slice(0, MOST_PROBLEMS).map(({ field, message, allowed }) => ({
    field,
    message: sentence(`${field || whole} ${message}`),
    ...(allowed === undefined ? {} : { allowed }),
  }))
  return problems.length > MOST_PROBLEMS
    ? [...described, { field: '', message: REFUSAL_TEXTS.furtherProblems }]
    : described
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
  collectDropped(raw, parsed, '', dropped)
  return dropped
}

/** Allocates nothing unless a field was dropped, because it runs for every request. */
function collectDropped(raw: Fields, parsed: Fields, at: string, dropped: DroppedFields): void {
  for (const key in raw) {
    if (Object.hasOwn(parsed, key)) descend(raw, parsed, at, key, dropped)
    else if (++dropped.count <= MOST_PROBLEMS) dropped.names.push(nameAt(raw, at, key))
  }
}

const nameAt = (parent: object, at: string, key: string) =>
  Array.isArray(parent) ? `${at}[${key}]` : joinPath(at, shortName(key))

function descend(raw: Fields, parsed: Fields, at: string, key: string, dropped: DroppedFields): void {
  const [child, other] = [raw[key], parsed[key]]
  if (hasFields(child) && hasFields(other)) collectDropped(child, other, nameAt(raw, at, key), dropped)
}
