/**
 * Defines one step of a scenario: a strict map with every verb optional, and the rule that there is exactly one. A
 * union of verbs would report only that the input is invalid.
 */
import * as z from 'zod/mini'
import { typed } from '../../../base/schemas/definitions.ts'
import { described } from '../../../platform/simulator/setting-schemas.ts'
import { CheckSchema, ExpectSchema, NoneSchema } from './checks.ts'
import {
  atLeast,
  type BrokenRule,
  conflict,
  DURATION,
  FLAG,
  incomplete,
  optionalStatic,
  type Placeholder,
  present,
  RULE_TEXTS,
  ruled,
  staticSchema,
  TARGET,
} from './fields.ts'
import {
  AgentSchema,
  AvailabilitySchema,
  BotSchema,
  DeliverSchema,
  FaultSchema,
  optionalTextSchema,
  PressSchema,
  textSchema,
  UserSchema,
} from './stimuli.ts'

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
  user: optional(UserSchema, 'The user writes', 'Hello', { text: 'Hello', async: true }),
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
  if (named.length > 1) return conflict(RULE_TEXTS.severalVerbs(named))
  const unknown = Object.keys(map).some(key => !(key in flat) && !(key in nested))
  return unknown ? undefined : incomplete(RULE_TEXTS.noVerb(VERBS))
}

export const Step: z.ZodMiniType<Step> = typed(
  z
    .strictObject({ ...flat, ...nested })
    .check(
      ruled(oneVerb),
      z.meta({ id: 'Step', description: 'One step: one verb, with id, name, chat and soft beside it' }),
    ),
)
