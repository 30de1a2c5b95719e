/** Gives people and pages what they need to act: the keys, and a description of everything that can be set. */
import * as z from 'zod/mini'
import { isMap, keysOf } from '../../../base/objects.ts'
import { DURATION_PATTERN } from '../../../base/text/quantities.ts'
import { withoutCredentials } from '../../../base/text/redactor.ts'
import { moreKeys } from '../../../platform/api/access.ts'
import { ASSUMPTIONS, assumptionOf } from '../../../platform/contract/assumptions.ts'
import { BOT_LANGUAGES, botTexts, TRANSCRIPT_NAMES } from '../../../platform/contract/bot-texts.ts'
import { ENDPOINTS } from '../../../platform/contract/endpoints.ts'
import { SIGN_MODES } from '../../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../../platform/contract/events.ts'
import { ENDPOINT_EXAMPLES, EVENT_EXAMPLES } from '../../../platform/contract/examples.ts'
import type { JsonShape } from '../../../platform/contract/knobs.ts'
import {
  allowedFor,
  defaultKnobs,
  formatKnob,
  KNOB_NAMES,
  type Knobs,
  schemaFor,
} from '../../../platform/contract/knobs.ts'
import { toJsonSchema } from '../../../platform/contract/openapi.ts'
import { named } from '../../../platform/contract/schemas.ts'
import { VERSION } from '../../../platform/contract/version.ts'
import { EFFECTS_BY_SIDE, Fault } from '../../../platform/faults/schema.ts'
import { maskSetting } from '../../../platform/journal/mask.ts'
import type { Core } from '../../../platform/simulator/core.ts'
import { type ControlRoute, ok, routesOf } from '../route.ts'

const KeysResponse = z
  .object({
    api_key: z.string().check(z.describe('The key of the handover endpoints')),
    bot_api_key: z.string().check(z.describe('The key of the transcript endpoint')),
    webhook_secret: z.string().check(z.describe('The key that signs webhooks: the same as `api_key`')),
    bot_id: z.int(),
    more: z
      .array(z.object({ api_key: z.string(), bot_id: z.int() }))
      .check(z.describe('The keys of further bots (`keys.more`); each also signs the webhooks of its bot')),
    url: z.string().check(z.describe('The base URL of the platform')),
    webhook_url: z.nullable(z.string()).check(z.describe('Without the credentials it may have')),
  })
  .check(named('Keys', 'What an intermediary needs, unmasked'))

export type PlatformKeys = z.infer<typeof KeysResponse>

const JsonSchemaObject = z.record(z.string(), z.unknown()).check(z.describe('JSON Schema'))

const KnobDescription = z.object({
  name: z.enum(KNOB_NAMES),
  type: z.enum(['choice', 'duration', 'count', 'text', 'list']),
  values: z.optional(z.array(z.string()).check(z.describe('Of a choice, or of the items of a list'))),
  can_be_off: z.optional(z.boolean()),
  allowed: z.string().check(z.describe('The allowed values in words')),
  default: z.unknown(),
  value: z.unknown(),
  changed: z.boolean().check(z.describe('Whether the value is another one than the default')),
  assumption: z.string().check(z.describe('The name of the assumption that it changes')),
})

const AssumptionDescription = z.object({
  name: z.string(),
  rule: z.string(),
  open: z.string().check(z.describe('What the platform does not say')),
  behaviour: z.string().check(z.describe('What the simulator does by default')),
  class: z.enum(['ordinary', 'provoked', 'never']),
  tier: z.enum(['described', 'documented', 'seen', 'assumed']),
  knobs: z.array(z.enum(KNOB_NAMES)),
})

const EndpointDescription = z.object({
  id: z.string(),
  method: z.enum(['GET', 'POST']),
  path: z.string(),
  scope: z.enum(['handover', 'read_chats']).check(z.describe('`read_chats` needs the bot API key')),
  rule: z.string(),
  summary: z.string(),
  body: z.nullable(JsonSchemaObject),
  example: z.nullable(z.unknown()),
})

const EventDescription = z.object({
  name: z.string(),
  needs_200: z.boolean().check(z.describe('Whether only status 200 acknowledges it')),
  body: JsonSchemaObject,
  example: z.unknown(),
})

const DescriptionResponse = z
  .object({
    version: z.string(),
    knobs: z.array(KnobDescription),
    assumptions: z.array(AssumptionDescription),
    endpoints: z.array(EndpointDescription),
    events: z.array(EventDescription),
    sign_modes: z.array(z.string()),
    fault: JsonSchemaObject.check(z.describe('JSON Schema of the body of `POST /_sim/faults`')),
    fault_effects: z
      .object({ api: z.array(z.string()), webhook: z.array(z.string()) })
      .check(z.describe('The fields of a fault that are effects: on calls, and on events')),
    transcripts: z.array(z.object({ name: z.string(), language: z.string() })),
    languages: z.array(z.object({ code: z.string(), texts: z.record(z.string(), z.string()) })),
  })
  .check(named('Description', 'What can be set, called and sent; no secret is in it'))

export type DescriptionResponse = z.infer<typeof DescriptionResponse>

const route = routesOf('workspace')

const platformKeys = ({ platform: { knobs }, identity, address }: Core): z.infer<typeof KeysResponse> => ({
  api_key: knobs['keys.handover'],
  bot_api_key: knobs['keys.bot'],
  webhook_secret: knobs['keys.handover'],
  bot_id: identity.bot.id,
  more: moreKeys(knobs).map(([api_key, bot_id]) => ({ api_key, bot_id })),
  url: address.base,
  webhook_url: address.webhookUrl && withoutCredentials(address.webhookUrl),
})

const describeSimulator = (knobs: Knobs) => ({
  version: VERSION,
  knobs: describeKnobs(knobs),
  assumptions: ASSUMPTIONS,
  endpoints: Object.values(ENDPOINTS).map(({ id, method, path, scope, rule, summary, body }) => ({
    ...{ id, method, path, scope, rule, summary },
    body: body && toJsonSchema(body),
    example: body && ENDPOINT_EXAMPLES[id].request,
  })),
  events: keysOf(WEBHOOK_EVENTS).map(name => ({
    name,
    needs_200: WEBHOOK_EVENTS[name].demands200,
    body: toJsonSchema(WEBHOOK_EVENTS[name].schema),
    example: EVENT_EXAMPLES[name],
  })),
  sign_modes: SIGN_MODES,
  fault: toJsonSchema(Fault),
  fault_effects: EFFECTS_BY_SIDE,
  transcripts: TRANSCRIPT_NAMES.map(name => ({ name, language: name.slice(0, name.indexOf('-')) })),
  languages: BOT_LANGUAGES.map(code => ({ code, texts: { ...botTexts(code) } })),
})

function describeKnobs(knobs: Knobs) {
  const defaults = defaultKnobs()
  return KNOB_NAMES.map(name => {
    const [value, initial] = [formatKnob(name, knobs[name]), formatKnob(name, defaults[name])]
    return {
      name,
      ...formOf(schemaFor(name, 'data')),
      allowed: allowedFor(name, 'data'),
      default: initial,
      value: maskSetting(name, value),
      changed: JSON.stringify(value) !== JSON.stringify(initial),
      assumption: assumptionOf(name).name,
    }
  })
}

/** How a form asks for a value. */
interface KnobForm {
  readonly type: 'choice' | 'duration' | 'count' | 'text' | 'list'
  /** Of a choice, or of the items of a list. */
  readonly values?: readonly string[]
  /** Whether `off` is a value as well. */
  readonly can_be_off?: boolean
}

function formOf(schema: JsonShape): KnobForm {
  const { anyOf, enum: words, type, pattern } = schema
  if (Array.isArray(anyOf)) return formOfOptional(anyOf.find(option => isMap(option) && option.enum === undefined))
  if (Array.isArray(words)) return { type: 'choice', values: words.filter(word => typeof word === 'string') }
  if (type === 'integer') return { type: 'count' }
  return { type: pattern === DURATION_PATTERN ? 'duration' : 'text' }
}

function formOfOptional(schema: JsonShape): KnobForm {
  if (schema.type !== 'array') return { ...formOf(schema), can_be_off: true }
  const { values } = isMap(schema.items) ? formOf(schema.items) : {}
  return { type: 'list', ...(values && { values }), can_be_off: true }
}

export const DESCRIPTION_ROUTES: readonly ControlRoute[] = [
  route('GET /keys', {
    id: 'getKeys',
    summary: 'Shows the API keys, unmasked',
    responses: { 200: { description: 'The keys and addresses of an intermediary', schema: KeysResponse } },
    run: ({ core }) => ok(platformKeys(core), true),
  }),
  route('GET /description', {
    id: 'getDescription',
    summary: 'Describes everything that can be set, called and sent, with the effective values',
    responses: { 200: { description: 'Knobs, assumptions, endpoints, events', schema: DescriptionResponse } },
    run: ({ core }) => ok(describeSimulator(core.platform.knobs)),
  }),
]
