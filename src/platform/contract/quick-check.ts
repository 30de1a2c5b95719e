/**
 * Recognizes bodies and answers that a parse by their schema would return unchanged. It makes no copy and collects no issues,
 * and it needs no schema: nearly every request and answer passes it, so that most simulators never create the schemas.
 */

import { isMap } from '../../base/objects.ts'
import type { EndpointId } from './endpoint-routes.ts'
import type {
  AvailabilityRequest,
  AvailabilityResponse,
  CallBodies,
  CallResponses,
  ChatRequest,
  ChatResponse,
  EndRequest,
  MessageRequest,
  StartRequest,
  SummaryResponse,
  TranscriptResponse,
  TypingResponse,
  TypingStartRequest,
} from './endpoints.ts'
import type { AvailabilityReason, AvailabilityValue, Button, ChatRecord, MessageRecord, Sender } from './schemas.ts'

/** True when a parse would return an equal value. False when only a parse can tell. */
type Check<T> = (value: unknown) => value is T

const anything = (_value: unknown): _value is unknown => true
const nothing = (_value: unknown): _value is never => false
const text = (value: unknown): value is string => typeof value === 'string'
const filledText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const flag = (value: unknown): value is boolean => typeof value === 'boolean'
const integer = (value: unknown): value is number => Number.isSafeInteger(value)
const positiveInteger = (value: unknown): value is number => integer(value) && value > 0

const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || check(value)

const nullable =
  <T>(check: Check<T>): Check<T | null> =>
  (value): value is T | null =>
    value === null || check(value)

const oneOf =
  <const T extends string>(...words: readonly T[]): Check<T> =>
  (value): value is T =>
    words.some(word => word === value)

const listOf =
  <T>(check: Check<T>): Check<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(check)

const fieldsOfAnyName = (value: unknown): value is Record<string, unknown> =>
  isMap(value) && !Object.hasOwn(value, '__proto__')

/** The checks of the fields, by name: for each field that the type has. */
type FieldChecks<T> = { readonly [Name in keyof T]-?: Check<T[Name]> }

/** Another field is allowed only where the parse keeps it. */
function object<T extends object>(checks: FieldChecks<T>, others: 'dropped' | 'kept' = 'dropped'): Check<T> {
  const fields = Object.entries<Check<unknown>>(checks).map(([name, check]) => ({ name, check }))
  return (value): value is T => {
    if (!isMap(value)) return false
    let known = 0
    for (const { name, check } of fields) {
      const field = value[name]
      if (!check(field)) return false
      if (field !== undefined) known++
    }
    for (const name in value) if (name === '__proto__' || (--known < 0 && others === 'dropped')) return false
    return true
  }
}

const about = { bot_id: integer, chat_id: filledText }
const availability = oneOf<AvailabilityValue>('OPEN', 'CLOSED')
const sender = object<Sender>({
  name: optional(text),
  avatar: optional(text),
  language_codes: optional(listOf(text)),
})
const buttons = listOf(object<Button>({ label: optional(text), url: optional(text), handover: optional(flag) }, 'kept'))
const messages = listOf(
  object<MessageRecord>({
    id: text,
    created: text,
    from_bot: flag,
    name: text,
    message: text,
    buttons,
    exchange_id: nullable(text),
    exchange_type: nullable(text),
  }),
)

const chatRequest = object<ChatRequest>(about)
const confirmation = <Event extends string>(event: Event) =>
  object<{ event: Event; chat_id: string; chatmessage_id: string }>({
    event: oneOf(event),
    chat_id: text,
    chatmessage_id: text,
  })
const typingResponse = object<TypingResponse>({ event: optional(text), chat_id: optional(text) })

const chatRecord = object<ChatRecord>(
  {
    active: flag,
    bot_id: integer,
    organization_id: integer,
    bot_name: text,
    comments: listOf(anything),
    context: fieldsOfAnyName,
    created: text,
    first_name: nullable(text),
    full_name: nullable(text),
    gender: nullable(text),
    id: text,
    labels: listOf(text),
    language_code: text,
    last_name: nullable(text),
    recipient_id: text,
    source: text,
    state: text,
    taken_over: (value): value is ChatRecord['taken_over'] => value === null || text(value) || flag(value),
    updated: text,
    messages,
  },
  'kept',
)

type QuickChecks = {
  readonly [Id in EndpointId]: { readonly body: Check<CallBodies[Id]>; readonly response: Check<CallResponses[Id]> }
}

export const QUICK_CHECKS: QuickChecks = {
  transcript: {
    body: chatRequest,
    response: object<TranscriptResponse>({
      event: oneOf('TRANSCRIPT'),
      chat: object<TranscriptResponse['chat']>({ id: text, bot_id: integer, messages }, 'kept'),
    }),
  },
  summarize: {
    body: chatRequest,
    response: object<SummaryResponse>({ event: oneOf('SUMMARIZED'), chat_id: text, summary: text }),
  },
  availability: {
    body: object<AvailabilityRequest>({
      availability,
      queue: optional(text),
      reason: optional(oneOf<AvailabilityReason>('AGENT_AVAILABILITY', 'BUSINESS_HOURS', 'OTHER')),
    }),
    response: object<AvailabilityResponse>({
      event: oneOf('HANDOVER AVAILABILITY UPDATED'),
      bot_id: text,
      queue: text,
      availability,
      updated_at: text,
    }),
  },
  start: {
    body: object<StartRequest>({ ...about, sender: optional(sender), supports_attachment: optional(flag) }),
    response: confirmation('TAKEOVER STARTED'),
  },
  end: {
    body: object<EndRequest>({ ...about, sender: optional(sender) }),
    response: confirmation('TAKEOVER ENDED'),
  },
  message: {
    body: object<MessageRequest>({ ...about, message: text, sender: optional(sender), buttons: optional(buttons) }),
    response: confirmation('MESSAGE SENT TO USER'),
  },
  typing_start: {
    body: object<TypingStartRequest>({ ...about, timeout: optional(positiveInteger) }),
    response: typingResponse,
  },
  typing_stop: { body: chatRequest, response: typingResponse },
  chat: { body: nothing, response: object<ChatResponse>({ chat: chatRecord }) },
}
