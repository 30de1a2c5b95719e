/** Describes a call with what the recording showed before it began. */
import type * as z from 'zod/mini'
import { isMap } from '../../base/objects.ts'
import { definitionOf } from '../../base/schemas/definitions.ts'
import { joinPath } from '../../base/schemas/explain-issues.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import { type EmptyFields, leaveOutEmpty } from '../../platform/contract/optional-fields.ts'
import { ALL_STATUSES, type ChatKnowledge, type Status, statusesAt } from './knowledge.ts'
import type { Call } from './observation.ts'

type Fields = Readonly<Record<string, unknown>>

/** A call with what was known when it began. */
export interface KnownCall extends Call {
  readonly chat: ChatKnowledge | null
  readonly statuses: readonly Status[]
  readonly request: Fields
  readonly reply: Fields
  readonly isAccepted: boolean
  readonly isRefused: boolean
  /** Whether the body has the form that the contract describes. */
  readonly isValid: boolean
  /** Names of fields of the body that the contract does not have. */
  readonly unknownFields: readonly string[]
  /** Optional fields of the body that are null or empty. */
  readonly leftOut: EmptyFields
  /** The record of a transcript; null for other answers. */
  readonly record: Fields | null
  readonly messages: readonly Fields[]
}

const NOTHING_EMPTY = { filled: {}, nulls: [], empty: [] }

export function createKnownCall(call: Call, chat: ChatKnowledge | null): KnownCall {
  const { endpoint, body, answer, status, startMs } = call
  const request = isMap(body) ? body : {}
  const reply = isMap(answer) ? answer : {}
  const isAccepted = status >= 200 && status < 300
  const schema = endpoint === null ? null : ENDPOINTS[endpoint].body
  const { filled, ...leftOut } = schema === null ? NOTHING_EMPTY : leaveOutEmpty(schema, request)
  const parsed = schema?.safeParse(filled)
  // A timeout of zero or less is a question of its own.
  const issues = parsed?.success === false ? parsed.error.issues : []
  const isValid = isMap(body) && issues.every(({ code, path }) => code === 'too_small' && path[0] === 'timeout')
  const isTranscript = endpoint === 'chat' || endpoint === 'transcript'
  const record = isTranscript && isAccepted && isMap(reply.chat) ? reply.chat : null
  return {
    ...call,
    chat,
    statuses: chat === null ? ALL_STATUSES : statusesAt(chat, startMs),
    request,
    reply,
    isAccepted,
    isRefused: status >= 400 && status < 500,
    isValid: schema === null || isValid,
    unknownFields: schema === null ? [] : [...unknownFields(schema, request, 'request')].map(([field]) => field),
    leftOut,
    record,
    messages: Array.isArray(record?.messages) ? record.messages.filter(isMap) : [],
  }
}

/** So many elements of a list are compared. */
const MAX_ELEMENTS = 50

/** Fields that a schema does not have, each with its value. In a request, some objects take any field. */
export function* unknownFields(
  schema: z.ZodMiniType,
  value: unknown,
  of: 'request' | 'answer',
  path = '',
): Generator<[field: string, value: unknown]> {
  const { element, shape, catchall } = definitionOf(schema)
  if (Array.isArray(value) && element !== undefined) {
    for (const item of value.slice(0, MAX_ELEMENTS)) yield* unknownFields(element, item, of, `${path}[]`)
  }
  if (!isMap(value) || shape === undefined) return
  for (const [key, inner] of Object.entries(value)) {
    const at = joinPath(path, key)
    const below = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (below !== undefined) yield* unknownFields(below, inner, of, at)
    else if (of === 'answer' || catchall === undefined) yield [at, inner]
  }
}
