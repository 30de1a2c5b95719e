/** Makes the JSON Schema of scenario files, for completion and checks in editors. */
import * as z from 'zod/mini'
import { knownKeys } from '../../../base/schemas/definitions.ts'
import { ENDPOINTS } from '../../../platform/contract/endpoints.ts'
import { removeIntegerBounds } from '../../../platform/contract/openapi.ts'
import { bodyShape } from './checks.ts'
import { CALL_NAMES } from './fields.ts'
import { matcherShape } from './matchers.ts'
import { PartFile, ScenarioFile } from './scenario.ts'
import { VERBS } from './step.ts'

type Json = Record<string, unknown>

export function scenarioJsonSchema(): Json {
  const both = z.union([ScenarioFile, PartFile])
  const {
    $schema,
    anyOf = [],
    $defs = {},
  } = z.toJSONSchema(both, { reused: 'inline', io: 'input', override: removeIntegerBounds })
  const [scenario, part] = anyOf
  // The matcher of any value, and the matcher of each body with its fields.
  const bodies = CALL_NAMES.map(name => [bodyShape(name), matcherShape(fieldsOf(name))] as const)
  return {
    $schema,
    title: 'Scenario file of handover-sim',
    if: { properties: { kind: { const: 'partial' } }, required: ['kind'] },
    // An editor completes from the branch that applies, and names what is wrong in it.
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: part,
    else: scenario,
    $defs: {
      ...$defs,
      Step: { ...$defs.Step, oneOf: ONE_VERB },
      ...{ Matcher: matcherShape(), ...Object.fromEntries(bodies) },
    },
  }
}

/** The rule of one verb for each step, which zod holds as code. */
const ONE_VERB = VERBS.map(verb => ({ required: [verb] }))

function fieldsOf(call: (typeof CALL_NAMES)[number]): string[] {
  const body = call === 'any' ? null : ENDPOINTS[call].body
  return body === null ? [] : knownKeys(body, []).filter(key => key !== 'bot_id' && key !== 'chat_id')
}
