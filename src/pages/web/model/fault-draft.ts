/** Holds a fault while the user makes it: what it applies to, its effects and its limits; and examples to begin with. */

import { isMap } from '../../../base/objects.ts'
import type { FaultSpec } from '../../../platform/faults/schema.ts'
import type { Side } from '../../../platform/faults/sides.ts'
import { alternativeFields, type Draft, draftFrom, fieldsOf, type SchemaField, valuesFrom } from './schema-fields.ts'

/** The form of a fault, as its JSON Schema and the list of effects define it. */
export interface FaultFormFields {
  /** The names of endpoints and of events. */
  readonly names: Readonly<Record<Side, readonly string[]>>
  readonly effects: Readonly<Record<Side, readonly SchemaField[]>>
  /** How often and in which chat it applies. */
  readonly limits: readonly SchemaField[]
}

export interface FaultDraft {
  readonly side: Side
  /** Endpoints or events; none: all of them. */
  readonly names: readonly string[]
  readonly effects: Draft
  readonly limits: Draft
}

/** `ANY` stands for all names, as no name does in the draft. */
const ANY = 'any'

export function faultFormOf(
  schema: Readonly<Record<string, unknown>>,
  effects: Readonly<Record<Side, readonly string[]>>,
): FaultFormFields {
  const fields = fieldsOf(schema)
  const on = alternativeFields(schema, 'on')
  const namesOf = (side: Side) => on.find(({ name }) => name === side)?.values.filter(name => name !== ANY) ?? []
  const effectsOf = (side: Side) => fields.filter(({ name }) => effects[side].includes(name) || isPartOf(name, side))
  const [api, webhook] = [effectsOf('api'), effectsOf('webhook')]
  return {
    names: { api: namesOf('api'), webhook: namesOf('webhook') },
    effects: { api, webhook },
    limits: fields.filter(field => field.name !== 'on' && !api.includes(field) && !webhook.includes(field)),
  }
}

/** `gap` says more about the effect `duplicate`. */
const isPartOf = (name: string, side: Side) => name === 'gap' && side === 'webhook'

export const EMPTY_FAULT: FaultDraft = { side: 'api', names: [], effects: {}, limits: {} }

/** The body of `POST /faults`. */
export function faultBody({ limits, effects }: FaultFormFields, draft: FaultDraft): Record<string, unknown> {
  const { side, names } = draft
  const on = names.length === 0 ? side : { [side]: names.length === 1 ? names[0] : names }
  return { ...valuesFrom(limits, draft.limits), on, ...valuesFrom(effects[side], draft.effects) }
}

export function draftOfFault({ limits, effects }: FaultFormFields, fault: FaultSpec): FaultDraft {
  const { on } = fault
  const side = on === 'webhook' || (isMap(on) && on.webhook !== undefined) ? 'webhook' : 'api'
  const names = isMap(on) ? [on[side] ?? []].flat().map(String) : []
  return { side, names, effects: draftFrom(effects[side], fault), limits: draftFrom(limits, fault) }
}

interface FaultExample {
  readonly title: string
  readonly fault: FaultSpec
}

export const FAULT_EXAMPLES: readonly FaultExample[] = [
  { title: 'Answer start with 503, twice', fault: { on: { api: 'start' }, respond: { status: 503 }, times: 2 } },
  { title: 'Lose the answer of start', fault: { on: { api: 'start' }, drop: 'after', times: 1 } },
  {
    title: 'Limit the rate of messages',
    fault: { on: { api: 'message' }, respond: { status: 429, headers: { 'Retry-After': '2' } }, times: 1 },
  },
  { title: 'Answer every call slowly', fault: { on: 'api', latency: '2s' } },
  { title: 'Deliver every event twice', fault: { on: 'webhook', duplicate: 2 } },
  { title: 'Swap two messages', fault: { on: { webhook: 'MESSAGE FROM USER' }, swap: true, times: 1 } },
  { title: 'Sign one event with a wrong key', fault: { on: 'webhook', sign: 'wrong-key', times: 1 } },
]
