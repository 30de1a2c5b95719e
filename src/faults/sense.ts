/** What makes no sense in a fault, or could never match: each problem with its field and the way out. Pure. */
import type * as z from 'zod/mini'
import { type FindingCode, sentenceIssue } from '../contract/explain-issues.ts'
import type { FaultOn, FaultSpec, OneSide, SendingSpec } from './schema.ts'

type Payload<T> = z.core.ParsePayload<T>

/** Adds an issue whose message is a whole sentence behind the name of the field; the other checks go on. */
export function complain(
  payload: Payload<unknown>,
  path: PropertyKey[],
  message: string,
  code: FindingCode = 'conflict',
): void {
  payload.issues.push({ ...sentenceIssue(code, payload.value, message, path), continue: true })
}

/** How an answer goes wrong: one way at a time. */
const ANSWER_EFFECTS = ['respond', 'drop', 'reset', 'slow_body', 'malformed'] as const
const API_EFFECTS = [...ANSWER_EFFECTS, 'latency'] as const
/** When an event leaves: one way at a time. */
const ORDER_EFFECTS = ['delay', 'slow', 'swap', 'hold'] as const
const FORM_EFFECTS = ['duplicate', 'sign', 'truncate', 'drip', 'reset_after_answer', 'http'] as const
const WEBHOOK_EFFECTS = [...ORDER_EFFECTS, ...FORM_EFFECTS] as const

export type Side = 'api' | 'webhook'
export const sideOf = (on: FaultOn): Side =>
  on === 'api' || (typeof on === 'object' && on.api !== undefined) ? 'api' : 'webhook'

const EFFECTS: Record<Side, readonly (keyof FaultSpec)[]> = { api: API_EFFECTS, webhook: WEBHOOK_EFFECTS }
const other = (side: Side): Side => (side === 'api' ? 'webhook' : 'api')

export function sideProblems(payload: Payload<OneSide>): void {
  const { api, webhook } = payload.value
  if (api !== undefined && webhook !== undefined) {
    complain(payload, ['webhook'], 'cannot stand beside api: write one fault for each side')
  }
  if (api === undefined && webhook === undefined) {
    complain(payload, ['api'], 'is required: an endpoint, a list of them, or any (or webhook: an event)')
  }
  for (const side of ['api', 'webhook'] as const) {
    const names = payload.value[side]
    if (Array.isArray(names) && names.includes('any')) complain(payload, [side], 'has any in a list: write any alone')
  }
}

export function senseProblems(payload: Payload<FaultSpec>): void {
  const { on } = payload.value
  if (on === undefined || on === null) return
  const side = sideOf(on)
  const has = (name: keyof FaultSpec) => payload.value[name] !== undefined
  const foreign = EFFECTS[other(side)].filter(has)
  for (const name of foreign) {
    const own = EFFECTS[side].join(', ')
    complain(payload, [name], `is an effect on: ${other(side)}, and this fault is on: ${side}; there are ${own}`)
  }
  if (foreign.length === 0 && !EFFECTS[side].some(has)) {
    complain(payload, [], `has no effect: add one of ${EFFECTS[side].join(', ')}`, 'incomplete')
  }
  alone(payload, ANSWER_EFFECTS.filter(has), 'an answer goes wrong in one way (latency may stand beside it)')
  alone(payload, ORDER_EFFECTS.filter(has), 'an event leaves its place in one way')
  neverMatches(payload)
  emptyStatus(payload)
}

function alone(payload: Payload<FaultSpec>, [first, ...more]: readonly string[], why: string): void {
  for (const name of more) complain(payload, [name], `cannot stand beside ${first}: ${why}; leave one out`)
}

function neverMatches(payload: Payload<FaultSpec>): void {
  const { on, chat_id } = payload.value
  const endpoints = typeof on === 'object' && on.api !== undefined ? [on.api].flat() : []
  if (chat_id === undefined || endpoints.length === 0 || endpoints.some(name => name !== 'availability')) return
  complain(payload, ['chat_id'], 'never matches: a call of availability is about no chat; leave it out')
}

/** HTTP gives these no body. */
const BODILESS = [204, 205, 304]

function emptyStatus(payload: Payload<FaultSpec>): void {
  const { respond } = payload.value
  if (respond?.body === undefined || !BODILESS.includes(respond.status)) return
  complain(payload, ['respond', 'body'], `cannot be sent with status ${respond.status}, which has none: leave it out`)
}

export function gapProblems(payload: Payload<SendingSpec>): void {
  const { gap, duplicate } = payload.value
  if (gap === undefined || duplicate !== undefined) return
  complain(payload, ['gap'], 'stands between copies: add duplicate, how many times it is sent in all')
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const PRINTABLE = /^[\t\x20-\x7e]*$/
const COUNTED = /^(content-length|transfer-encoding|connection|keep-alive|upgrade)$/i

export function headerProblems(payload: Payload<Record<string, string>>): void {
  for (const [name, value] of Object.entries(payload.value)) {
    if (COUNTED.test(name)) complain(payload, [name], 'is written by the server itself: leave it out')
    else if (!TOKEN.test(name)) complain(payload, [name], 'is no name a header can have')
    else if (!PRINTABLE.test(value)) complain(payload, [name], 'must be printable ASCII on one line')
  }
}
