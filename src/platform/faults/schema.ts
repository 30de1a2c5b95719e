/** Defines and checks faults as scenarios, the control API and the library write them. */
import * as z from 'zod/mini'
import { keysOf } from '../../base/objects.ts'
import { typed } from '../../base/schemas/definitions.ts'
import { type SchemaProblemCode, sentenceIssue } from '../../base/schemas/explain-issues.ts'
import { DURATION_PATTERN, type Duration, parseDuration } from '../../base/text/quantities.ts'
import { ENDPOINTS } from '../contract/endpoints.ts'
import { SIGN_MODES, type SignMode } from '../contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../contract/events.ts'
import { type Side, sideOf } from './sides.ts'

const says = (description: string) => z.describe(description)
const DURATION = { pattern: DURATION_PATTERN, examples: ['500ms', '2s'] }

const durationSchema = (description: string, shortestMs: 0 | 1) =>
  typed<Duration>(
    z.string().check(
      payload => {
        const ms = parseDuration(payload.value)
        if (ms !== null && ms >= shortestMs) return
        const got = JSON.stringify(payload.value)
        const message = ms === null ? 'must be a duration with a unit such as 500ms or 2s' : 'must be longer than 0'
        addIssue(payload, [], `${message}, got ${got}`)
      },
      z.meta({ ...DURATION, description }),
    ),
  )
const duration = (description: string) => z.optional(durationSchema(description, 1))
const flag = (description: string) => z.optional(z.literal(true).check(says(description)))
const count = (least: number, description: string) => z.optional(z.int().check(z.gte(least), says(description)))
const oneOrMore = <Item extends z.ZodMiniType>(item: Item) => z.union([item, z.array(item).check(z.minLength(1))])

/** `file`: an attachment link. It is no endpoint, and `any` does not include it. */
const Endpoint = z.enum([...keysOf(ENDPOINTS), 'file', 'any'])
const Event = z.enum([...keysOf(WEBHOOK_EVENTS), 'any'])

const OneSide = z.strictObject({
  api: z.optional(oneOrMore(Endpoint).check(says('The endpoints it applies to'))),
  webhook: z.optional(oneOrMore(Event).check(says('The events it applies to'))),
})
export type OneSide = z.infer<typeof OneSide>

const On = z
  .union([
    z.enum(['api', 'webhook']),
    OneSide.check(payload => {
      const { api, webhook } = payload.value
      if (api !== undefined && webhook !== undefined)
        addIssue(payload, ['webhook'], 'cannot be combined with api: write one fault for each')
      if (api === undefined && webhook === undefined)
        addIssue(payload, ['api'], 'is required: an endpoint, a list of them, or any (or webhook: an event)')
      for (const side of ['api', 'webhook'] as const) {
        const names = payload.value[side]
        if (Array.isArray(names) && names.includes('any'))
          addIssue(payload, [side], 'has any in a list: write any alone')
      }
    }),
  ])
  .check(says('What it applies to: calls of the platform, or the events it sends'))
export type FaultOn = z.infer<typeof On>

const Respond = z.strictObject({
  status: z.int().check(z.gte(200), z.lte(599)),
  headers: z.optional(
    z.record(z.string(), z.string()).check(payload => {
      for (const [name, value] of Object.entries(payload.value)) {
        if (COUNTED.test(name)) addIssue(payload, [name], 'is set by the server itself: remove it')
        else if (!TOKEN.test(name)) addIssue(payload, [name], 'is not a valid header name')
        else if (!PRINTABLE.test(value)) addIssue(payload, [name], 'must be printable ASCII on one line')
      }
    }),
  ),
  body: z.optional(z.unknown().check(says('A text as it is, anything else as JSON; without it the answer is empty'))),
})

const HttpStyle = z.enum(['header-case', 'chunked'])

/** Effects that manual events can have, too. */
export const sendingShape = {
  delay: duration('Sent this much later, outside of the queue of its chat: later events may pass it'),
  duplicate: z.optional(
    z.int().check(z.gte(2), z.lte(100), says('Sent this many times in all: the same bytes and headers')),
  ),
  gap: z.optional(durationSchema('Between the copies; 0s by default', 0)),
  truncate: flag('The body ends in the middle; the signature is that of the whole body'),
  drip: duration('The body takes this long, in pieces'),
  reset_after_answer: flag('The connection is reset as soon as the answer has come'),
  http: z.optional(oneOrMore(HttpStyle).check(says('Legal, but rarely seen'))),
} as const

const Sending = z.object(sendingShape)
export type SendingSpec = z.infer<typeof Sending>

const INVALID_MODES = SIGN_MODES.filter((mode): mode is Exclude<SignMode, 'valid'> => mode !== 'valid')

/** Printable in a header, because answers name their faults. */
export const FaultName = z.string().check(z.regex(/^[\w.-]{1,60}$/))

const Fields = z.strictObject({
  name: z.optional(FaultName.check(says('Its name in journal, log and reports; fault-1 by default'))),
  on: On,
  chat_id: z.optional(z.string().check(z.minLength(1), says('Only for this chat'))),
  times: count(1, 'How many hits before it is used up; without it, until it is cleared'),
  skip: count(0, 'Skips this many first'),
  every: count(1, 'Only every n-th of those it applies to'),
  while_new: duration('Only links of files that the user sent less than this long ago, on the clock of the simulator'),

  respond: z.optional(Respond.check(says('This answer is sent; the platform does not process the call'))),
  latency: duration('The call waits this long before the platform processes it'),
  drop: z.optional(
    z
      .enum(['before', 'after'])
      .check(says('The connection is closed before the call is processed, or after it, without the answer')),
  ),
  reset: flag('The connection is reset before anything is processed'),
  slow_body: duration("The answer's body takes this long, in pieces"),
  malformed: flag("The answer's body is cut in the middle of its JSON"),

  ...sendingShape,
  slow: duration('Sent this much later; later events of the chat wait as well'),
  swap: flag('Sent right after the next event of the chat'),
  hold: count(1, 'Held until this many later events of the chat have passed it, or the fault is cleared'),
  sign: z.optional(z.enum(INVALID_MODES).check(says('The signature is wrong in this way'))),
})

/** A fault as it is stored. */
export type FaultFields = z.infer<typeof Fields>

export const Fault = Fields.check(
  payload => effectProblems(payload),
  payload => gapProblems(payload),
  z.meta({
    id: 'Fault',
    description: 'A failure that is injected on purpose: named, counted, and the same every time',
  }),
)

type Payload<T> = z.core.ParsePayload<T>

/** Adds an issue. The message follows the name of the field; other checks continue. */
function addIssue(
  payload: Payload<unknown>,
  path: PropertyKey[],
  message: string,
  code: SchemaProblemCode = 'conflict',
): void {
  payload.issues.push({ ...sentenceIssue(code, payload.value, message, path), continue: true })
}

/** A fault has at most one of these. */
const RESPONSE_EFFECTS = ['respond', 'drop', 'reset', 'slow_body', 'malformed'] as const
const API_EFFECTS = [...RESPONSE_EFFECTS, 'latency'] as const
/** A fault has at most one of these. */
const ORDER_EFFECTS = ['delay', 'slow', 'swap', 'hold'] as const
const FORM_EFFECTS = ['duplicate', 'sign', 'truncate', 'drip', 'reset_after_answer', 'http'] as const
const WEBHOOK_EFFECTS = [...ORDER_EFFECTS, ...FORM_EFFECTS] as const

type ApiEffect = (typeof API_EFFECTS)[number]
type WebhookEffect = (typeof WEBHOOK_EFFECTS)[number]

type AtLeastOne<Name extends keyof FaultFields> = Partial<Pick<FaultFields, Name>> &
  { [One in Name]: Required<Pick<FaultFields, One>> }[Name]

/** A fault of calls or of webhook events. It has at least one effect. */
export type FaultSpec = Omit<FaultFields, 'on' | 'gap' | ApiEffect | WebhookEffect> &
  (
    | ({ on: 'api' | (OneSide & { api: unknown; webhook?: undefined }) } & AtLeastOne<ApiEffect>)
    | ({ on: 'webhook' | (OneSide & { api?: undefined; webhook: unknown }) } & Pick<FaultFields, 'gap'> &
        AtLeastOne<WebhookEffect>)
  )

export const EFFECTS_BY_SIDE: Readonly<Record<Side, readonly (keyof FaultFields)[]>> = {
  api: API_EFFECTS,
  webhook: WEBHOOK_EFFECTS,
}

function effectProblems(payload: Payload<FaultFields>): void {
  const { on, chat_id, respond } = payload.value
  if (on === undefined || on === null) return
  const side = sideOf(on)
  const otherSide = side === 'api' ? 'webhook' : 'api'
  const effects = EFFECTS_BY_SIDE[side]
  const has = (name: keyof FaultFields) => payload.value[name] !== undefined

  const foreign = EFFECTS_BY_SIDE[otherSide].filter(has)
  const facts = `is an effect on: ${otherSide}, and this fault is on: ${side}; there are ${effects.join(', ')}`
  for (const name of foreign) addIssue(payload, [name], facts)
  if (foreign.length === 0 && !effects.some(has))
    addIssue(payload, [], `has no effect: add one of ${effects.join(', ')}`, 'incomplete')

  const [effect, ...moreEffects] = RESPONSE_EFFECTS.filter(has)
  for (const name of moreEffects) {
    const why = 'a fault changes an answer in one way, beside latency; remove one of them'
    addIssue(payload, [name], `cannot be combined with ${effect}: ${why}`)
  }
  const [order, ...moreOrders] = ORDER_EFFECTS.filter(has)
  for (const name of moreOrders) {
    const why = 'a fault changes the time of an event in one way; remove one of them'
    addIssue(payload, [name], `cannot be combined with ${order}: ${why}`)
  }

  const endpoints = typeof on === 'object' && on.api !== undefined ? [on.api].flat() : []
  if (chat_id !== undefined && endpoints.length > 0 && endpoints.every(name => name === 'availability'))
    addIssue(payload, ['chat_id'], 'never matches: a call of availability is about no chat; remove it')

  if (payload.value.while_new !== undefined && !(endpoints.length > 0 && endpoints.every(name => name === 'file')))
    addIssue(payload, ['while_new'], 'is about the links of files: write on: { api: file }, or remove it')

  // HTTP allows no body with these.
  if (respond?.body !== undefined && [204, 205, 304].includes(respond.status))
    addIssue(payload, ['respond', 'body'], `cannot be sent with status ${respond.status}, which has no body: remove it`)
}

export function gapProblems(payload: Payload<SendingSpec>): void {
  const { gap, duplicate } = payload.value
  if (gap === undefined || duplicate !== undefined) return
  addIssue(payload, ['gap'], 'is the time between copies: add duplicate, how many times the event is sent in all')
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const PRINTABLE = /^[\t\x20-\x7e]*$/
const COUNTED = /^(content-length|transfer-encoding|connection|keep-alive|upgrade)$/i
