/** A fault as scenarios and the control API write it: the one schema both read. */
import * as z from 'zod/mini'
import { ENDPOINTS, type EndpointId } from '../contract/endpoints.ts'
import { WEBHOOK_EVENTS, type WebhookEventName } from '../contract/events.ts'
import { SIGN_MODES, type SignMode } from '../contract/sign-modes.ts'
import { parseDuration } from '../text/duration.ts'
import { complain, gapProblems, headerProblems, senseProblems, sideProblems } from './sense.ts'

const says = (description: string) => z.describe(description)
const DURATION = { pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)$', examples: ['500ms', '2s'] }

const durationOf = (description: string, shortestMs: 0 | 1) =>
  z.string().check(
    payload => {
      const ms = parseDuration(payload.value)
      if (ms !== null && ms >= shortestMs) return
      const wanted = ms === null ? 'a duration with a unit such as 500ms or 2s' : 'longer than 0'
      complain(payload, [], `must be ${wanted}, got ${JSON.stringify(payload.value)}`)
    },
    z.meta({ ...DURATION, description }),
  )
const duration = (description: string) => z.optional(durationOf(description, 1))
const flag = (description: string) => z.optional(z.literal(true).check(says(description)))
const count = (least: number, description: string) => z.optional(z.int().check(z.gte(least), says(description)))
const oneOrMore = <One extends z.ZodMiniType>(one: One) => z.union([one, z.array(one).check(z.minLength(1))])

const Endpoint = z.enum([...(Object.keys(ENDPOINTS) as EndpointId[]), 'any'])
const Event = z.enum([...(Object.keys(WEBHOOK_EVENTS) as WebhookEventName[]), 'any'])

const OneSide = z.strictObject({
  api: z.optional(oneOrMore(Endpoint).check(says('The endpoints it strikes'))),
  webhook: z.optional(oneOrMore(Event).check(says('The events it strikes'))),
})
export type OneSide = z.infer<typeof OneSide>

const On = z
  .union([z.enum(['api', 'webhook']), OneSide.check(payload => sideProblems(payload))])
  .check(says('What it strikes: calls of the platform, or the events it sends'))
export type FaultOn = z.infer<typeof On>

const Respond = z.strictObject({
  status: z.int().check(z.gte(200), z.lte(599)),
  headers: z.optional(z.record(z.string(), z.string()).check(payload => headerProblems(payload))),
  body: z.optional(z.unknown().check(says('A text as it is, anything else as JSON; without it the answer is empty'))),
})

const HttpOddity = z.enum(['header-case', 'chunked'])

/** How a request to the webhook is sent; events by hand take the same. */
export const sendingShape = {
  delay: duration('Sent this much later, out of its lane: later events may pass it'),
  duplicate: z.optional(
    z.int().check(z.gte(2), z.lte(100), says('Sent this many times in all: the same bytes and headers')),
  ),
  gap: z.optional(durationOf('Between the copies; 0s by default', 0)),
  truncate: flag('The body ends in the middle; the signature is that of the whole'),
  drip: duration('The body takes this long, in pieces'),
  reset_after_answer: flag('The connection is reset as soon as the answer has come'),
  http: z.optional(oneOrMore(HttpOddity).check(says('Legal, but rarely seen'))),
} as const

const Sending = z.object(sendingShape)
export type SendingSpec = z.infer<typeof Sending>

const SPOILT = SIGN_MODES.filter((mode): mode is Exclude<SignMode, 'valid'> => mode !== 'valid')

const Fields = z.strictObject({
  name: z.optional(
    z.string().check(z.regex(/^[\w.-]{1,60}$/), says('What journal, log and reports call it; fault-1 by default')),
  ),
  on: On,
  chat_id: z.optional(z.string().check(z.minLength(1), says('Only for this chat'))),
  times: count(1, 'How many hits before it is used up; without it, until it is cleared'),
  skip: count(0, 'Lets this many pass first'),
  every: count(1, 'Only every n-th of those it strikes'),

  respond: z.optional(Respond.check(says('Answered instead of the platform, which never sees the call'))),
  latency: duration('The call waits this long before the platform sees it'),
  drop: z.optional(
    z.enum(['before', 'after']).check(says('before: lost unprocessed. after: processed, the answer lost')),
  ),
  reset: flag('The connection is reset before anything is processed'),
  slow_body: duration("The answer's body takes this long, in pieces"),
  malformed: flag("The answer's body is cut in the middle of its JSON"),

  ...sendingShape,
  slow: duration('Holds its lane: later events of the chat wait as well'),
  swap: flag('Sent right after the next event of the chat'),
  hold: count(1, 'Kept back until this many later events of the chat have passed it, or the fault is cleared'),
  sign: z.optional(z.enum(SPOILT).check(says('Signed wrong in one way'))),
})

/** One effect on the API side, `latency` beside it where wanted; on the webhook side as many as can go together. */
export type FaultSpec = z.infer<typeof Fields>

export const Fault = Fields.check(
  payload => senseProblems(payload),
  payload => gapProblems(payload),
  z.meta({ id: 'Fault', description: 'Something that goes wrong on purpose: named, counted, the same every time' }),
)
