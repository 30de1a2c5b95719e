/** Answers a call: its reply, a redirect, a refusal, or an internal error; each with the names of what was assumed. */
import { ENDPOINTS, type Endpoint } from '../contract/endpoints.ts'
import { Refusal } from '../platform/refusal.ts'
import { assumed } from '../platform/transaction.ts'
import { errorBody, internal, json, redirect, refused, withUnspecified } from './answers.ts'
import type { Call } from './call.ts'
import type { Answer } from './exchange.ts'
import { RateLimited } from './rate-limit.ts'
import type { Route } from './routes.ts'

export const READS = 'GET, HEAD, OPTIONS'
export const allowedMethods = ({ method }: Endpoint): string => (method === 'GET' ? READS : `${method}, OPTIONS`)

/** Throws when the reply does not match the contract: that is a bug of the simulator. */
export function succeeded(call: Call, endpoint: Endpoint, reply: unknown): Answer {
  const checked = endpoint.response.safeParse(reply)
  if (!checked.success) throw new Error(`The answer of ${endpoint.id} breaks its contract: ${checked.error.message}`)
  call.response = reply
  return marked(call, json(200, reply))
}

export const redirected = (call: Call, { canonical }: Route): Answer =>
  marked(call, redirect(canonical, call.exchange.target))

/** Whatever is thrown and is no Refusal is an internal error. */
export function refusedOrFailed(call: Call, thrown: unknown): Answer {
  if (!(thrown instanceof Refusal)) return internal(thrown)
  assumed(call.transaction, ...thrown.assumed)
  call.response = errorBody(thrown)
  return marked(call, refused(thrown, call.ports.platform.knobs, extraHeaders(call, thrown)))
}

function extraHeaders({ route }: Call, refusal: Refusal): Record<string, string> {
  if (refusal instanceof RateLimited) return { 'retry-after': String(refusal.retryAfter) }
  if (refusal.code === 'method_not_allowed') return { allow: route ? allowedMethods(ENDPOINTS[route.id]) : READS }
  return refusal.code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}
}

function marked(call: Call, answer: Answer): Answer {
  withUnspecified(answer.headers, call.transaction, call.ports.markers)
  return answer
}
