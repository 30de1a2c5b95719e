/** Handles one request, from plain data to plain data: match, authenticate, parse, act, encode, journal. */
import { ENDPOINTS, type Endpoint } from '../contract/endpoints.ts'
import { andThen, type Maybe } from '../platform/engines.ts'
import { Refusal } from '../platform/refusal.ts'
import { assumed } from '../platform/transaction.ts'
import { errorBody, internal, json, preflight, redirect, refused, wasReset, withUnspecified } from './answers.ts'
import { checkContentType, parseBody, parseJson } from './body.ts'
import type { ApiPorts } from './call.ts'
import { type Call, entryOf, newCall } from './call.ts'
import type { Answer, Exchange } from './exchange.ts'
import { createFaultedApi, faultEntries } from './faulted.ts'
import { FILES_PREFIX, serveFile } from './files.ts'
import { type Grant, keyIn } from './keyring.ts'
import { OPERATIONS } from './operations.ts'
import { RateLimited } from './rate-limit.ts'
import { matchRoute, pathOf, type Route } from './routes.ts'

export type Api = (exchange: Exchange) => Maybe<Answer>

export function createApi(ports: ApiPorts): Api {
  const faulted = createFaultedApi(ports, answerCall, finish)
  return exchange => {
    const call = newCall(ports, exchange)
    return ports.faults.onApi ? faulted(call) : answerCall(call)
  }
}

function answerCall(call: Call): Maybe<Answer> {
  try {
    const answer = serve(call)
    return answer instanceof Promise ? answerLater(call, answer) : finish(call, answer)
  } catch (thrown) {
    return finish(call, refusedOrFailed(call, thrown))
  }
}

async function answerLater(call: Call, pending: Promise<Answer>): Promise<Answer> {
  const ended = call.ports.inFlight()
  try {
    return finish(call, await pending)
  } catch (thrown) {
    return finish(call, refusedOrFailed(call, thrown))
  } finally {
    ended()
  }
}

function serve(call: Call): Maybe<Answer> {
  const { exchange, ports } = call
  const path = pathOf(exchange.target)
  if (path.startsWith(FILES_PREFIX)) {
    return exchange.method === 'OPTIONS' ? preflight(READS) : serveFile(ports, exchange, path, call.transaction)
  }
  const route = matchRoute(path, ports.platform.knobs)
  call.route = route
  const endpoint = ENDPOINTS[route.id]
  if (exchange.method === 'OPTIONS') return preflight(allowedMethods(endpoint))
  checkMethod(endpoint, exchange.method)
  return mustRedirect(call, route) ? redirected(call, route) : act(call, endpoint, route)
}

/** HEAD is GET without the body, as everywhere in HTTP. */
function checkMethod(endpoint: Endpoint, method: string): void {
  if (method === endpoint.method || (method === 'HEAD' && endpoint.method === 'GET')) return
  throw new Refusal('method_not_allowed', `${endpoint.path} takes ${endpoint.method}, got ${method}.`)
}

/** Whether the call has to be made again with the trailing slash as written; throws where that is not offered. */
function mustRedirect({ ports, transaction }: Call, route: Route): boolean {
  if (route.slashAsWritten) return false
  assumed(transaction, 'api.trailingSlash')
  const policy = ports.platform.knobs['api.trailingSlash']
  if (policy === 'strict') throw new Refusal('path_not_found', `The path is written ${route.canonical}.`)
  return policy === 'redirect'
}

function act(call: Call, endpoint: Endpoint, route: Route): Maybe<Answer> {
  const grant = authorize(call, endpoint)
  const body = endpoint.body === null ? undefined : readBody(call, endpoint)
  const value = OPERATIONS[route.id]({ ports: call.ports, grant, route, body, transaction: call.transaction })
  return andThen(value, reply => succeeded(call, endpoint, reply))
}

function authorize(call: Call, endpoint: Endpoint): Grant {
  const { platform, keyring, rateLimit } = call.ports
  const { authorization } = call.exchange.headers
  const nowMs = platform.nowMs()
  const grant = keyring.authorize(authorization, endpoint.scope, nowMs, state => {
    call.auth = state
  })
  rateLimit.take(keyIn(authorization)!, platform.knobs['limits.rate'], nowMs)
  return grant
}

function readBody(call: Call, endpoint: Endpoint): unknown {
  const { knobs } = call.ports.platform
  call.body = parseJson(call.exchange, knobs)
  checkContentType(call.exchange, knobs, call.transaction)
  return parseBody(endpoint, call.body, knobs, call.transaction)
}

/** Records the call with what it caused; a refused call causes nothing (ER1). */
function finish(call: Call, answer: Answer): Answer {
  const { ports, exchange, faults } = call
  if (call.epoch !== ports.epoch()) return wasReset()
  if (exchange.method === 'OPTIONS') return answer
  const effects = answer.status < 300 ? call.transaction.effects : []
  const entry = entryOf(call, answer)
  if (faults === null) ports.commit(entry, effects)
  else ports.commit(entry, effects, faultEntries(entry, faults))
  return exchange.method === 'HEAD' ? { ...answer, body: '' } : answer
}

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
