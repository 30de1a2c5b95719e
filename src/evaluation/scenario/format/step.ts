/**
 * Defines one step of a scenario: a strict map with every verb optional, and the rule that there is exactly one. A
 * union of verbs would report only that the input is invalid.
 */
import * as z from 'zod/mini'
import { isMap } from '../../../base/objects.ts'
import { knownKeys, typed } from '../../../base/schemas/definitions.ts'
import { WEBHOOK_EVENTS } from '../../../platform/contract/events.ts'
import { Fault, type FaultFields } from '../../../platform/faults/schema.ts'
import { described } from '../../../platform/simulator/setting-schemas.ts'
import { namesIn } from '../interpolation.ts'
import { Buttons, CheckSchema, ExpectSchema, NoneSchema } from './checks.ts'
import {
  ACK,
  AVAILABILITY_VALUE,
  atLeast,
  type BrokenRule,
  conflict,
  DURATION,
  DURATION_RANGE,
  FLAG,
  incomplete,
  LEVEL,
  lacking,
  optionalStatic,
  PLACEHOLDER_SHAPE,
  type Placeholder,
  present,
  REASON,
  ruled,
  SEEN_TIMES,
  SIGN,
  SIZE_KB,
  staticSchema,
  TARGET,
} from './fields.ts'
import { matcherSchema } from './matchers.ts'

const textSchema = (description: string, ...examples: unknown[]) =>
  z.string().check(described(description, ...examples))
const optionalTextSchema = (description: string, ...examples: unknown[]) =>
  z.optional(textSchema(description, ...examples))
const ack = optionalStatic(ACK, 'The answer the webhook has to give. Default: 200', 200, 'any', 'non-2xx')
const async = optionalStatic(FLAG, 'Goes on without waiting for the webhook to answer')

const Attachment = z
  .strictObject({
    file: optionalTextSchema('A file beside the scenario', 'kvittering.pdf'),
    name: optionalTextSchema('File name', 'kvittering.pdf'),
    type: optionalTextSchema('Media type', 'application/pdf'),
    size_kb: optionalStatic(SIZE_KB, 'Size in kilobytes, rounded up; the bytes are made up', 87, 86.4),
  })
  .check(
    ruled(value => {
      const { file, name, type, size_kb } = value
      if (file !== undefined)
        return size_kb === undefined ? undefined : conflict('has size_kb beside file: a file has its own size')
      const whole = name !== undefined && type !== undefined && size_kb !== undefined
      return whole ? undefined : incomplete('must be { file } or { name, type, size_kb }')
    }),
  )

/** The chat window sends no empty message. */
const filledText = (description: string, ...examples: unknown[]) =>
  z.string().check(z.minLength(1), described(description, ...examples))

const USER_WORDS = ['close', 'delete'] as const

const UserSchema = z.union([
  filledText('What the user writes', 'Hello'),
  z
    .strictObject({
      text: optionalTextSchema('What the user writes', 'Hello'),
      attach: z.optional(z.array(Attachment).check(z.minLength(1), described('Files the user sends'))),
      does: z.optional(
        z
          .enum(USER_WORDS)
          .check(
            described(
              'Leaves the chat: closes it, or deletes its log as well. A later message comes back',
              ...USER_WORDS,
            ),
          ),
      ),
      ack,
      async,
    })
    .check(ruled(writesOrLeaves)),
])

function writesOrLeaves(value: Readonly<Record<string, unknown>>): BrokenRule | undefined {
  if (value.does !== undefined) {
    const [other] = present(value, ['text', 'attach', 'ack', 'async'])
    return other === undefined ? undefined : conflict(`has ${other} beside does: a user who leaves sends nothing`)
  }
  if (value.text === '' && value.attach === undefined)
    return incomplete('must have a text that is not empty, or attach')
  return lacking(value, ['text', 'attach', 'does'])
}

const PressSchema = z.union([
  textSchema('A handover request button (`handover`), or the label of a button', 'handover'),
  z.strictObject({ button: textSchema('`handover`, or the label of a button', 'handover'), ack, async }),
])

const BotSchema = z.union([
  textSchema('What the bot says', 'Need help?'),
  z.strictObject({ text: textSchema('What the bot says'), buttons: z.optional(Buttons) }),
])

export const AGENT_WORDS = ['accept', 'leave', 'type', 'stop', 'away', 'back'] as const

const AgentSchema = z.union([
  z.enum(AGENT_WORDS).check(described('What the agent does', ...AGENT_WORDS)),
  z
    .strictObject({
      says: optionalTextSchema('What the agent writes', 'Hi!'),
      sees: z.optional(
        matcherSchema('What has to be in the agent inbox: a text, or { text, attachments, request }', [
          'Hello',
          { request: true },
        ]),
      ),
      times: optionalStatic(SEEN_TIMES, 'How often the agent sees it; 0 with for. Default: exactly once', 1, 0),
      within: optionalStatic(DURATION, 'How long it may take. Default: timeouts.expect', '2s'),
      for: optionalStatic(DURATION, 'Watches this long for more of them', '500ms'),
      does: optionalTextSchema("A verb of the driver's own", 'transfer'),
      with: z.optional(z.record(z.string(), z.unknown()).check(described('Its parameters', { team: 'billing' }))),
    })
    .check(ruled(oneAgentVerb)),
])

function oneAgentVerb(map: Readonly<Record<string, unknown>>): BrokenRule | undefined {
  const [verb, ...otherVerbs] = present(map, ['says', 'sees', 'does'])
  if (verb === undefined || otherVerbs.length > 0)
    return incomplete(`must have one of says, sees, does (or be one of ${AGENT_WORDS.join(', ')})`)
  const [foreign] = verb === 'sees' ? [] : present(map, ['times', 'within', 'for'])
  if (foreign !== undefined) return conflict(`has ${foreign}, which goes with sees`)
  if (map.for === undefined && SEEN_TIMES.parse(map.times)?.max === 0)
    return incomplete('has times: 0 without for: say how long the agent must not see it, such as for: 500ms')
  return map.with !== undefined && verb !== 'does' ? conflict('has with, which goes with does') : undefined
}

const AvailabilitySchema = z.union([
  staticSchema(AVAILABILITY_VALUE, 'Set in the workspace, not by the intermediary', 'CLOSED'),
  z.strictObject({
    availability: staticSchema(AVAILABILITY_VALUE, 'OPEN or CLOSED', 'CLOSED'),
    reason: optionalStatic(REASON, 'Why', 'BUSINESS_HOURS'),
  }),
])

const DeliverSchema = z
  .strictObject({
    event: optionalTextSchema('Name of the event', ...Object.keys(WEBHOOK_EVENTS), 'SOMETHING NEW'),
    replay: optionalTextSchema('The bytes of the event this step (by id) caused, again', 's1'),
    body: z.optional(z.record(z.string(), z.unknown()).check(described('Fields of the payload, over the usual ones'))),
    sign: optionalStatic(SIGN, 'How it is signed. Default: valid', 'wrong-key'),
    ack,
    async,
  })
  .check(
    ruled(value => {
      const { event, replay, body } = value
      if ((event === undefined) === (replay === undefined)) return incomplete('must have either event or replay')
      return replay !== undefined && body !== undefined
        ? conflict('has body beside replay: a replay sends the same bytes again')
        : undefined
    }),
  )

const having = (name: string, schema: object) => ({ required: [name], properties: { [name]: schema } })

/** Fields that are texts also after interpolation. */
const TEXT_FIELDS = ['name', 'chat_id']

/** A fault with `$(...)`, which the compiler checks after interpolation. */
const FaultTemplate = z.unknown().check(
  ctx => {
    if (isMap(ctx.value) && namesIn(ctx.value).length > 0) return
    ctx.issues.push({ code: 'invalid_type', expected: 'object', input: ctx.value, message: '' })
  },
  z.meta({
    type: 'object',
    anyOf: [
      ...knownKeys(Fault, [])
        .filter(name => !TEXT_FIELDS.includes(name))
        .map(name => having(name, PLACEHOLDER_SHAPE)),
      having('respond', having('status', PLACEHOLDER_SHAPE)),
    ],
  }),
)

const FaultSchema = typed<'clear' | { clear: string } | FaultFields>(
  z.union([
    z.literal('clear').check(described('Clears every fault')),
    z.strictObject({ clear: z.string().check(described('Name of the fault to clear', 'flaky')) }),
    Fault,
    FaultTemplate,
  ]),
)

const Include = z.union([
  textSchema('A file of steps (`kind: partial`), relative to this file', 'parts/accept.yaml'),
  z.strictObject({
    file: textSchema('A file of steps (`kind: partial`), relative to this file', 'parts/accept.yaml'),
    with: z.optional(z.record(z.string(), z.unknown()).check(described('Values of its params', { who: 'Anna' }))),
  }),
])

const optional = <Schema extends z.ZodMiniType>(schema: Schema, description: string, ...examples: unknown[]) =>
  z.optional(schema.check(described(description, ...examples)))

const verbs = {
  user: optional(
    UserSchema,
    'The user writes, or leaves the chat',
    'Hello',
    { text: 'Hello', async: true },
    { does: 'close' },
  ),
  press: optional(PressSchema, 'The user presses a button', 'handover'),
  bot: optional(BotSchema, 'The bot says something', 'Need help?'),
  agent: optional(
    AgentSchema,
    'The human agent does or sees something, by the agent driver',
    'accept',
    { says: 'Hi!' },
    { sees: 'Hello' },
  ),
  wait: optionalStatic(DURATION, "Moves the scenario's clock; the only sleep", '5s'),
  think: optionalStatic(
    DURATION_RANGE,
    'Waits as a person does, for a time between two that the seed decides',
    '3s..20s',
  ),
  availability: optional(AvailabilitySchema, 'Opens or closes handover, as if set in the workspace', 'CLOSED'),
  fault: optional(FaultSchema, 'Something goes wrong on purpose', {
    on: { api: 'message' },
    respond: { status: 503 },
    times: 2,
  }),
  deliver: optional(DeliverSchema, 'Sends a manual event', { event: 'SOMETHING NEW', ack: 'any' }, { replay: 's1' }),
  target: optionalStatic(TARGET, "Starts, stops or kills the intermediary, by the driver's `target`", 'restart'),
  expect: z.optional(ExpectSchema),
  none: z.optional(NoneSchema),
  check: optional(CheckSchema, 'The chat as it should be; waits until it is', { status: 'agent' }),
  log: optionalTextSchema('A line in the log', 'now the agent is back'),
}

const common = {
  id: z.optional(
    z.string().check(z.regex(/^[A-Za-z_][\w-]*$/), described('So that `since` and `replay` can name it', 's1')),
  ),
  name: optionalTextSchema('What it is for; shown in reports'),
  chat: optionalTextSchema('The chat it is about, when there are several', 'ada'),
  soft: optionalStatic(FLAG, 'A failure does not stop the chat'),
  level: optionalStatic(LEVEL, 'should: a failure is a warning. Default: that of the scenario', 'should'),
}

const flat = { ...verbs, ...common, include: optional(Include, 'The steps of another file', 'parts/accept.yaml') }

export type Step = z.infer<z.ZodMiniObject<typeof flat, z.core.$strict>> & {
  repeat?: { times: number | Placeholder; steps: Step[] } | undefined
  parallel?: { users: number | Placeholder; steps: Step[] } | Step[][] | undefined
}

export const Steps: z.ZodMiniType<Step[]> = z.lazy(() => z.array(Step))

const nested = {
  repeat: optional(
    z.strictObject({ times: staticSchema(atLeast(1), 'How often', 3), steps: Steps }),
    'Steps several times; $(i) is 1, 2, 3 ...',
    { times: 3, steps: [{ user: 'msg $(i)' }] },
  ),
  parallel: optional(
    z.union([
      z.array(Steps).check(z.minLength(1)),
      z.strictObject({
        users: staticSchema(atLeast(1), 'How many users; each has a new chat', 20),
        steps: Steps,
      }),
    ]),
    'Steps beside each other: of many new users, $(user) is 1, 2, 3 ..., or lists of steps',
    { users: 20, steps: [{ press: 'handover' }] },
  ),
}

export const VERBS = [...Object.keys(verbs), 'include', ...Object.keys(nested)]

function oneVerb(map: Readonly<Record<string, unknown>>): BrokenRule | undefined {
  const named = present(map, VERBS)
  if (named.length === 1) return undefined
  if (named.length > 1)
    return conflict(`has ${named.join(' and ')}: one verb per step, so make it ${named.length} steps`)
  const unknown = Object.keys(map).some(key => !(key in flat) && !(key in nested))
  return unknown ? undefined : incomplete(`has no verb: one of ${VERBS.join(', ')}`)
}

export const Step: z.ZodMiniType<Step> = typed(
  z
    .strictObject({ ...flat, ...nested })
    .check(
      ruled(oneVerb),
      z.meta({ id: 'Step', description: 'One step: one verb, with id, name, chat, soft and level beside it' }),
    ),
)
