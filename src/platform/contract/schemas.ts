/**
 * Defines the objects that the platform sends and receives, one schema each; a schema and its type share a name.
 * Field names are those of the wire (snake_case).
 */
import * as z from 'zod/mini'
import { isMap } from '../../base/objects.ts'

type Init = (instance: unknown, def: z.core.$ZodObjectDef) => void
const initMini: Init = z.ZodMiniObject.init as never
const initCompiled: Init = z.core.$ZodObjectJIT.init as never

const CompiledObject = z.core.$constructor('CompiledObject', (instance, def: z.core.$ZodObjectDef) => {
  initMini(instance, def)
  initCompiled(instance, def)
})

/**
 * `z.object` with the compiled parser of zod, which `zod/mini` leaves out of its own objects. Every request and every
 * response is parsed by one; compiled they take about half the time.
 */
export function object<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodMiniObject<Shape> {
  return new CompiledObject({ type: 'object', shape }) as unknown as z.ZodMiniObject<Shape>
}

/** Sets the name and the description of a schema in OpenAPI documents. */
export const named = (id: string, description: string) => z.meta({ id, description })

/** Any fields, whose readers check names and values. `z.record` would drop a field `__proto__`, in silence. */
export const AnyFields = z
  .unknown()
  .check(
    z.refine(isMap, { error: 'an object' }),
    z.meta({ type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} }),
  ) as z.ZodMiniType<unknown> as z.ZodMiniType<Record<string, unknown>>

/** The bot of a chat in webhook payloads (R-BOT). */
export const Bot = object({ id: z.int(), name: z.string() }).check(
  named('Bot', 'The bot that owns the chat, as webhook payloads carry it (R-BOT)'),
)
export type Bot = z.infer<typeof Bot>

/** The chat of an event; `_links.self` is the URL of its transcript endpoint (R-CHAT). */
export const ChatReference = object({
  _links: object({ self: z.string() }),
  id: z.string(),
  language: z.string(),
  source: z.string(),
}).check(named('ChatReference', 'Which chat an event is about; `_links.self` is its transcript endpoint (R-CHAT)'))
export type ChatReference = z.infer<typeof ChatReference>

/** The end user of a chat; `id` is hexadecimal and opaque (R-USER). */
export const User = object({ id: z.string() }).check(
  named('User', 'The end user: an opaque hexadecimal identifier (R-USER)'),
)
export type User = z.infer<typeof User>

/** An agent or the system as the user sees it; `avatar` is the URL of an image (R-SENDER). */
export const Sender = object({
  name: z.optional(z.string()),
  avatar: z.optional(z.string()),
  language_codes: z.optional(z.array(z.string())),
}).check(named('Sender', 'Agent or system identity shown to the user; `language_codes` is used on start (R-SENDER)'))
export type Sender = z.infer<typeof Sender>

/** A file that the user sent; `type` is a media type, `size_kb` is in kilobytes (R-ATT). */
export const Attachment = object({ name: z.string(), url: z.string(), type: z.string(), size_kb: z.int() }).check(
  named('Attachment', 'A file the user sent: name, link, media type, size in kilobytes (R-ATT)'),
)
export type Attachment = z.infer<typeof Attachment>

/**
 * A button of a message. The description shows no field, so any object is valid (R-BTN, `buttons.schema`). Read are those of
 * the platform's own clients (`button_type`, `label`, `value`, `index`, `is_active`, `hide_outside_business_hours`), and `url`
 * and `handover` (`buttons.form`).
 */
export const Button = z
  .looseObject({
    label: z.optional(z.string()),
    url: z.optional(z.string()),
    handover: z.optional(z.boolean()),
  })
  .check(
    named(
      'Button',
      'The description shows no field: any object passes. Read are button_type, label, value, index, is_active and hide_outside_business_hours, as the platform’s own clients have them, and url and handover (R-BTN)',
    ),
  )
export type Button = z.infer<typeof Button>

/** Whether handover requests are accepted (R-AVL.1). */
export const AvailabilityValue = z
  .enum(['OPEN', 'CLOSED'])
  .check(named('AvailabilityValue', 'Whether handover requests are accepted (R-AVL)'))
export type AvailabilityValue = z.infer<typeof AvailabilityValue>

/** Why the availability changed (R-AVL.3). */
export const AvailabilityReason = z
  .enum(['AGENT_AVAILABILITY', 'BUSINESS_HOURS', 'OTHER'])
  .check(named('AvailabilityReason', 'Why availability changed (R-AVL)'))
export type AvailabilityReason = z.infer<typeof AvailabilityReason>

/** One message of a transcript; `created` is ISO 8601 with microseconds, the exchange fields are null on messages of the user (R-MSG). */
export const MessageRecord = object({
  id: z.string(),
  created: z.string(),
  from_bot: z.boolean(),
  name: z.string(),
  message: z.string(),
  buttons: z.array(Button),
  exchange_id: z.nullable(z.string()),
  exchange_type: z.nullable(z.string()),
}).check(named('MessageRecord', 'One message of a transcript (R-MSG)'))
export type MessageRecord = z.infer<typeof MessageRecord>

/** The transcript record of a chat; `created` and `updated` are ISO 8601 with microseconds (R-REC). Further fields may follow. */
export const ChatRecord = z
  .looseObject({
    active: z.boolean(),
    bot_id: z.int(),
    organization_id: z.int(),
    bot_name: z.string(),
    comments: z.array(z.unknown()),
    context: z.record(z.string(), z.unknown()),
    created: z.string(),
    first_name: z.nullable(z.string()),
    full_name: z.nullable(z.string()),
    gender: z.nullable(z.string()),
    id: z.string(),
    labels: z.array(z.string()),
    language_code: z.string(),
    last_name: z.nullable(z.string()),
    recipient_id: z.string(),
    source: z.string(),
    state: z.string(),
    taken_over: z.union([z.null(), z.string(), z.boolean()]),
    updated: z.string(),
    messages: z.array(MessageRecord),
  })
  .check(named('ChatRecord', 'The transcript record of one chat (R-REC)'))
export type ChatRecord = z.infer<typeof ChatRecord>

/** The body of an error response; `field` is null when no single field is the cause. Assumed (`errors.body`, ER4). */
export const ErrorBody = z
  .object({ error: z.object({ code: z.string(), message: z.string(), field: z.nullable(z.string()) }) })
  .check(z.meta({ id: 'ErrorBody', description: 'Code, reason and field of a refusal (assumption errors.body)' }))
export type ErrorBody = z.infer<typeof ErrorBody>
