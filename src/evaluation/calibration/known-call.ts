/** Describes a call with what the recording showed before it began, and learns from it. */

import type * as z from 'zod/mini'
import { isSuccess } from '../../base/http-status.ts'
import { isMap } from '../../base/objects.ts'
import { definitionOf } from '../../base/schemas/definitions.ts'
import { joinPath } from '../../base/schemas/explain-issues.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import { type EmptyFields, leaveOutEmpty } from '../../platform/contract/optional-fields.ts'
import { ALL_STATUSES, type ChatKnowledge, isOnly, isQueueFree, markOf, type Status, statusesAt } from './knowledge.ts'
import type { Call, Fields } from './observation.ts'

/** A call with what was known when it began. */
export interface KnownCall extends Call {
  readonly chat: ChatKnowledge | null
  readonly statuses: readonly Status[]
  readonly request: Fields
  readonly reply: Fields
  readonly isAccepted: boolean
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
  const isAccepted = isSuccess(status)
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
    isValid: schema === null || isValid,
    unknownFields: schema === null ? [] : [...unknownFields(schema, request, 'request')].map(([field]) => field),
    leftOut,
    record,
    messages: Array.isArray(record?.messages) ? record.messages.filter(isMap) : [],
  }
}

const MAX_SENT = 50

/** Learns from a call that was accepted. */
export function learnFromCall(chat: ChatKnowledge, call: KnownCall): void {
  const { endpoint, request, reply, statuses, messages, startMs, endMs } = call
  if (typeof request.bot_id === 'number') chat.botId ??= request.bot_id
  if (endpoint !== 'chat' && endpoint !== 'transcript') chat.userTexts = null
  const messageId = typeof reply.chatmessage_id === 'string' ? reply.chatmessage_id : null
  if (endpoint === 'start') {
    chat.lastMessageMs = endMs
    changeStatus(chat, call, ['agent'])
    const sender = isMap(request.sender) ? request.sender : {}
    const codes = Array.isArray(sender.language_codes) ? sender.language_codes : []
    chat.languageCodes = codes.filter(code => typeof code === 'string')
    chat.supportsAttachments = request.supports_attachment === true
    chat.wasFreeAtStart = isQueueFree(chat, startMs)
    chat.startMessageId = messageId
  } else if (endpoint === 'end') {
    if (isOnly(chat.statuses, 'agent')) chat.lastMessageMs = endMs
    const after = statuses.map(status => (status === 'agent' ? 'bot' : status))
    changeStatus(chat, call, [...new Set(after)])
    chat.supportsAttachments = null
    chat.messagesBeforeRequest = null
  } else if (endpoint === 'message') {
    chat.lastMessageMs = endMs
    if (messageId !== null && typeof request.message === 'string') {
      chat.sent.set(messageId, markOf(request.message))
      if (chat.sent.size > MAX_SENT) chat.sent.delete([...chat.sent.keys()][0] ?? '')
    }
  } else if (endpoint === 'transcript') {
    if (isOnly(statuses, 'pending')) chat.messagesBeforeRequest = messages.length
  } else if (endpoint === 'chat' && call.record !== null) {
    const { language_code: language } = call.record
    if (typeof language === 'string') chat.language ??= language
    const texts = messages.filter(message => isByUser(chat, message)).map(({ message }) => String(message).trim())
    const sum = (lengthOf: (text: string) => number) => texts.reduce((total, text) => total + lengthOf(text), 0)
    chat.userTexts = { count: texts.length, points: sum(text => [...text].length), units: sum(text => text.length) }
  }
}

/** Whether a message of a transcript is by the user; those of agents may also have `from_bot` false. */
export const isByUser = ({ sent }: ChatKnowledge, { from_bot: fromBot, id }: Fields): boolean =>
  fromBot === false && !sent.has(String(id))

/** After a start or end whose outcome is unknown, the chat may be what it was, or what the call makes of it. */
export function learnFromLostCall(chat: ChatKnowledge, call: KnownCall): void {
  const { endpoint, statuses } = call
  const isPossible = (status: Status) => endpoint === 'end' || status === 'agent' || statuses.includes(status)
  changeStatus(chat, call, ALL_STATUSES.filter(isPossible))
  chat.supportsAttachments = null
  chat.typing = null
}

function changeStatus(chat: ChatKnowledge, { startMs, endMs, statuses: before }: KnownCall, after: readonly Status[]) {
  // Of two calls at the same time it is unknown which the platform did first.
  const isAlone = chat.change === null || startMs >= chat.change.endMs
  const sinceMs = chat.change?.endMs ?? Number.NEGATIVE_INFINITY
  chat.change = { startMs, endMs, before, sinceMs }
  chat.statuses = isAlone ? after : ALL_STATUSES
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
