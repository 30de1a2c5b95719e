/** Describes a simulator to people: every knob with its value, the endpoints, the events, and what can be chosen. */

import { isMap, keysOf } from '../../base/objects.ts'
import { DURATION_PATTERN } from '../../base/text/quantities.ts'
import { ASSUMPTIONS, assumptionOf } from '../../platform/contract/assumptions.ts'
import { BOT_LANGUAGES, botTexts, TRANSCRIPT_NAMES } from '../../platform/contract/bot-texts.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import { SIGN_MODES } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import { ENDPOINT_EXAMPLES, EVENT_EXAMPLES } from '../../platform/contract/examples.ts'
import type { JsonShape } from '../../platform/contract/knobs.ts'
import {
  allowedFor,
  defaultKnobs,
  formatKnob,
  KNOB_NAMES,
  type Knobs,
  schemaFor,
} from '../../platform/contract/knobs.ts'
import { jsonSchemaOf } from '../../platform/contract/openapi.ts'
import { VERSION } from '../../platform/contract/version.ts'
import { EFFECTS_BY_SIDE, Fault } from '../../platform/faults/schema.ts'
import { maskSetting } from '../../platform/journal/mask.ts'

export const describeSimulator = (knobs: Knobs) => ({
  version: VERSION,
  knobs: describeKnobs(knobs),
  assumptions: ASSUMPTIONS,
  endpoints: Object.values(ENDPOINTS).map(({ id, method, path, scope, rule, summary, body }) => ({
    ...{ id, method, path, scope, rule, summary },
    body: body && jsonSchemaOf(body),
    example: body && ENDPOINT_EXAMPLES[id].request,
  })),
  events: keysOf(WEBHOOK_EVENTS).map(name => ({
    name,
    needs_200: WEBHOOK_EVENTS[name].demands200,
    body: jsonSchemaOf(WEBHOOK_EVENTS[name].schema),
    example: EVENT_EXAMPLES[name],
  })),
  sign_modes: SIGN_MODES,
  fault: jsonSchemaOf(Fault),
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
  if (Array.isArray(anyOf)) return formOfOptional(anyOf.find(one => isMap(one) && one.enum === undefined))
  if (Array.isArray(words)) return { type: 'choice', values: words.filter(word => typeof word === 'string') }
  if (type === 'integer') return { type: 'count' }
  return { type: pattern === DURATION_PATTERN ? 'duration' : 'text' }
}

function formOfOptional(schema: JsonShape): KnobForm {
  if (schema.type !== 'array') return { ...formOf(schema), can_be_off: true }
  const { values } = isMap(schema.items) ? formOf(schema.items) : {}
  return { type: 'list', ...(values && { values }), can_be_off: true }
}
