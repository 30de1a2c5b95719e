/** Defines requests and responses as plain data, for every adapter, and builds the responses of the API. */

import { messageOf } from '../../base/text/error-text.ts'
import type { AssumptionName } from '../contract/assumptions.ts'
import { FAULT_HEADER, INTERNAL_HEADER, UNSPECIFIED_HEADER } from '../contract/errors.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { ErrorBody } from '../contract/schemas.ts'
import type { EngineError } from '../rules/engines.ts'
import type { Refusal } from '../rules/refusal.ts'
import type { Transaction } from '../rules/state.ts'

/** A request as an adapter received it. */
export interface ApiRequest {
  readonly method: string
  /** Path and query as received. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The adapter stopped reading because the body is larger than `limits.body`. */
  readonly tooLarge?: boolean
}

export interface ApiResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
  /** How an adapter sends the response when a fault changes that. Status 0 means no response. */
  readonly wire?: ResponseWire
}

export type ResponseWire =
  /** No response: the connection is closed, or reset. */
  | { readonly kind: 'lost'; readonly how: 'closed' | 'reset' }
  /** The body is sent in pieces over `overMs` milliseconds of wall time; `stop` is aborted by the next reset and closes the connection. */
  | { readonly kind: 'slow'; readonly overMs: number; readonly stop: AbortSignal }

/** Chooses the assumptions that an answer names. */
export type Marker = (assumed: readonly AssumptionName[]) => readonly AssumptionName[]

/** Adds the header that names what `transaction` assumed. */
export function withUnspecified(
  headers: Record<string, string>,
  { assumed }: Pick<Transaction, 'assumed'>,
  marked: Marker,
): Record<string, string> {
  const names = assumed.length > 0 ? marked(assumed.length > 1 ? assumed.sort() : assumed) : assumed
  if (names.length > 0) headers[UNSPECIFIED_HEADER] = names.join(', ')
  return headers
}

export const JSON_TYPE = 'application/json; charset=utf-8'

const jsonResponse = (status: number, value: unknown): ApiResponse => ({
  status,
  headers: { 'content-type': JSON_TYPE },
  body: JSON.stringify(value),
})

/** Redirects with a relative location, which is valid behind any base path, and keeps the query. */
export function redirectResponse(canonical: string, target: string): ApiResponse {
  const name = canonical.replace(/\/$/, '').split('/').at(-1)
  const path = canonical.endsWith('/') ? `${name}/` : `../${name}`
  const query = /\?[^#]*/.exec(target)?.[0] ?? ''
  return { status: 308, headers: { location: path + query }, body: '' }
}

export const createErrorBody = (refusal: Refusal): ErrorBody => ({
  error: { code: refusal.code, message: refusal.message, field: refusal.field },
})

const NEW_FIELD = 'added_later'

/** The value as `api.answers` sends it: with a further field in each object, or with the fields in the reverse order. */
export function varyResponse(value: unknown, form: Knobs['api.answers']): unknown {
  if (form === 'as-is' || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => varyResponse(item, form))
  const fields = Object.entries(value).map(([name, inner]) => [name, varyResponse(inner, form)] as const)
  return Object.fromEntries(form === 'extra' ? [...fields, [NEW_FIELD, true]] : fields.reverse())
}

/** Writes a refusal in one of the four forms of `errors.body`. */
export function refusalResponse(refusal: Refusal, knobs: Knobs, extra: Record<string, string>): ApiResponse {
  const form = knobs['errors.body']
  if (form === 'json') {
    const form = knobs['api.answers']
    const { error } = createErrorBody(refusal)
    const message = form === 'as-is' ? error.message : `Error ${refusal.status}`
    const response = jsonResponse(refusal.status, varyResponse({ error: { ...error, message } }, form))
    Object.assign(response.headers, extra)
    return response
  }
  if (form === 'empty') return { status: refusal.status, headers: { ...extra }, body: '' }
  const type = form === 'html' ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8'
  const body =
    form === 'html' ? `<!doctype html><title>${refusal.status}</title><h1>${refusal.status}</h1>` : refusal.code
  return { status: refusal.status, headers: { 'content-type': type, ...extra }, body }
}

/** Adds the header that names the faults applied to this answer. */
export const withFaults = (response: ApiResponse, faults: readonly string[]): ApiResponse => ({
  ...response,
  headers: { ...response.headers, [FAULT_HEADER]: faults.join(', ') },
})

export const resetResponse = (): ApiResponse =>
  errorResponse(
    new Error('The simulator was reset while this request was in flight.'),
    'This is no mistake of your service: reset the simulator when no request is in flight.',
  )

/** An internal error of the simulator. */
export const internalErrorResponse = (error: unknown): ApiResponse =>
  errorResponse(
    error,
    'This is an internal error of handover-sim, not of your service. Please report it with this text.',
  )

export const engineErrorResponse = (error: EngineError): ApiResponse =>
  errorResponse(error, `The ${error.engine} engine failed, a function or module of yours. Make it return a text.`)

const errorResponse = (error: unknown, hint: string): ApiResponse =>
  simulatorResponse(500, { handover_sim: { internal_error: messageOf(error), hint } })

/** An answer of the simulator itself: never in the platform's shape. */
export function simulatorResponse(status: number, body: { readonly handover_sim: object }): ApiResponse {
  const response = jsonResponse(status, body)
  response.headers[INTERNAL_HEADER] = '1'
  return response
}
