/**
 * One request, from plain data to plain data: match, authenticate, parse, act, encode, journal.
 * Whatever is turned down is a Refusal; anything else thrown is a fault of ours and says so.
 */
import { ENDPOINTS, type Endpoint } from '../contract/endpoints.ts'
import { andThen, type Maybe } from '../engines/engines.ts'
import { Refusal } from '../platform/refusal.ts'
import { lean } from '../platform/tx.ts'
import { errorBody, internal, json, preflight, redirect, refused, wasReset, withMarker } from './answers.ts'
import { checkContentType, parseBody, parseJson } from './body.ts'
import { type Call, entryOf, newCall } from './call.ts'
import type { Answer, Exchange } from './exchange.ts'
import { createStruck, faultEntries } from './faulted.ts'
import { FILES_PREFIX, serveFile } from './files.ts'
import { type Grant, keyIn } from './keyring.ts'
import { OPERATIONS } from './operations.ts'
import type { ApiPorts } from './ports.ts'
import { RateLimited } from './rate-limit.ts'
import { matchRoute, pathOf, type Route } from './routes.ts'

export type Api = (exchange: Exchange) => Maybe<Answer>

export function createApi(ports: ApiPorts): Api {
  function play(call: Call): Maybe<Answer> {
    try {
      const answer = serve(call)
      return answer instanceof Promise ? later(call, answer) : finish(call, answer)
    } catch (thrown) {
      return finish(call, refusalAnswer(call, thrown))
    }
  }

  async function later(call: Call, pending: Promise<Answer>): Promise<Answer> {
    const ended = ports.inFlight()
    try {
      return finish(call, await pending)
    } catch (thrown) {
      return finish(call, refusalAnswer(call, thrown))
    } finally {
      ended()
    }
  }

  function serve(call: Call): Maybe<Answer> {
    const { exchange } = call
    const path = pathOf(exchange.target)
    if (path.startsWith(FILES_PREFIX)) {
      return exchange.method === 'OPTIONS' ? preflight(READS) : serveFile(ports, exchange, path, call.tx)
    }
    const route = matchRoute(path, ports.room.knobs)
    call.route = route
    const endpoint = ENDPOINTS[route.id]
    if (exchange.method === 'OPTIONS') return preflight(allowed(endpoint))
    checkMethod(endpoint, exchange.method)
    const moved = checkSlash(call, route)
    if (moved !== null) return moved
    return act(call, endpoint, route)
  }

  function act(call: Call, endpoint: Endpoint, route: Route): Maybe<Answer> {
    const grant = authorize(call, endpoint)
    const body = endpoint.body === null ? undefined : readBody(call, endpoint)
    const value = OPERATIONS[route.id]({ ports, grant, route, body, tx: call.tx })
    return andThen(value, reply => success(call, endpoint, reply))
  }

  function authorize(call: Call, endpoint: Endpoint): Grant {
    const { authorization } = call.exchange.headers
    const nowMs = ports.room.nowMs()
    const grant = ports.keyring.authorize(authorization, endpoint.scope, nowMs, state => {
      call.auth = state
    })
    ports.rateLimit.take(keyIn(authorization)!, ports.room.knobs['limits.rate'], nowMs)
    return grant
  }

  function readBody(call: Call, endpoint: Endpoint): unknown {
    const { knobs } = ports.room
    call.body = parseJson(call.exchange, knobs)
    checkContentType(call.exchange, knobs, call.tx)
    return parseBody(endpoint, call.body, knobs, call.tx)
  }

  /** The reply is held against the contract: a mismatch is our bug, and loud. */
  function success(call: Call, endpoint: Endpoint, reply: unknown): Answer {
    const checked = endpoint.response.safeParse(reply)
    if (!checked.success) throw new Error(`The answer of ${endpoint.id} breaks its contract: ${checked.error.message}`)
    call.response = reply
    const answer = json(200, reply)
    withMarker(answer.headers, call.tx.rows, ports.markers)
    return answer
  }

  function checkSlash(call: Call, route: Route): Answer | null {
    const policy = ports.room.knobs['api.trailingSlash']
    if (route.slashAsWritten) return null
    lean(call.tx, 43)
    if (policy === 'accept') return null
    if (policy === 'redirect') return moved(call, route)
    throw new Refusal('path_not_found', `The path is written ${route.canonical}.`, { row: 43 })
  }

  function moved(call: Call, { canonical }: Route): Answer {
    const answer = redirect(canonical, call.exchange.target)
    withMarker(answer.headers, call.tx.rows, ports.markers)
    return answer
  }

  function refusalAnswer(call: Call, thrown: unknown): Answer {
    if (!(thrown instanceof Refusal)) return internal(thrown)
    lean(call.tx, ...thrown.rows)
    call.response = errorBody(thrown)
    const extra = withMarker({}, call.tx.rows, ports.markers)
    if (thrown instanceof RateLimited) extra['retry-after'] = String(thrown.retryAfter)
    if (thrown.code === 'method_not_allowed') extra.allow = call.route ? allowed(ENDPOINTS[call.route.id]) : READS
    if (thrown.code === 'unauthorized') extra['www-authenticate'] = 'Bearer'
    return refused(thrown, ports.room.knobs, extra)
  }

  /** Refused calls confirm nothing: whatever the operation wanted to cause is dropped with it (ER1). */
  function finish(call: Call, answer: Answer): Answer {
    if (call.epoch !== ports.epoch()) return wasReset()
    if (call.exchange.method === 'OPTIONS') return answer
    const effects = answer.status < 300 ? call.tx.effects : []
    const entry = entryOf(call, answer, ports.lastEvent)
    if (call.strike === null) ports.commit(entry, effects)
    else ports.commit(entry, effects, faultEntries(entry, call.strike))
    return call.exchange.method === 'HEAD' ? { ...answer, body: '' } : answer
  }

  const struck = createStruck(ports, play, finish)
  return exchange => {
    const call = newCall(exchange, ports.epoch())
    return ports.faults.onApi ? struck(call) : play(call)
  }
}

const READS = 'GET, HEAD, OPTIONS'
const allowed = ({ method }: Endpoint): string => (method === 'GET' ? READS : `${method}, OPTIONS`)

/** HEAD is GET without the body, as everywhere in HTTP. */
function checkMethod(endpoint: Endpoint, method: string): void {
  if (method === endpoint.method || (method === 'HEAD' && endpoint.method === 'GET')) return
  throw new Refusal('method_not_allowed', `${endpoint.path} takes ${endpoint.method}, got ${method}.`)
}
