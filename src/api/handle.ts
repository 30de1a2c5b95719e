/**
 * One request, from plain data to plain data: match, authenticate, parse, act, encode, journal.
 * Whatever is turned down is a Refusal; anything else thrown is a fault of ours and says so.
 */
import { ENDPOINTS, type Endpoint } from '../contract/endpoints.ts'
import { andThen, type Maybe } from '../engines/engines.ts'
import type { ApiContent } from '../journal/entry.ts'
import { Refusal } from '../platform/refusal.ts'
import { createTx, lean, type Tx } from '../platform/tx.ts'
import { elapsedMs } from '../runtime/clock.ts'
import { errorBody, internal, json, preflight, redirect, refused, withMarker } from './answers.ts'
import { checkContentType, parseBody, parseJson } from './body.ts'
import type { Answer, Exchange } from './exchange.ts'
import { FILES_PREFIX, serveFile } from './files.ts'
import type { AuthState, Grant } from './keyring.ts'
import { OPERATIONS } from './operations.ts'
import type { ApiPorts } from './ports.ts'
import { createRateLimit, RateLimited } from './rate-limit.ts'
import { matchRoute, pathOf, type Route } from './routes.ts'

/** One request on its way, and what the journal will say about it. */
interface Call {
  readonly exchange: Exchange
  readonly started: number
  readonly tx: Tx
  readonly epoch: number
  route: Route | null
  auth: AuthState | 'not_checked'
  body: unknown
  response: unknown
}

export type Api = (exchange: Exchange) => Maybe<Answer>

export function createApi(ports: ApiPorts): Api {
  const rateLimit = createRateLimit(ports.epoch)

  return function handle(exchange) {
    const call: Call = {
      exchange,
      started: elapsedMs(),
      tx: createTx(),
      epoch: ports.epoch(),
      route: null,
      auth: 'not_checked',
      body: undefined,
      response: undefined,
    }
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
    rateLimit.take(authorization!, ports.room.knobs['limits.rate'], nowMs)
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
    if (call.epoch !== ports.epoch())
      return internal(new Error('The simulator was reset while this request was in flight.'))
    if (call.exchange.method === 'OPTIONS') return answer
    ports.commit(entryOf(call, answer), answer.status < 300 ? call.tx.effects : [])
    return call.exchange.method === 'HEAD' ? { ...answer, body: '' } : answer
  }

  function entryOf(call: Call, answer: Answer): ApiContent {
    const { exchange, route, tx } = call
    const chatId = chatIdOf(call)
    return {
      kind: 'api',
      ...(chatId === undefined ? {} : { chat_id: chatId }),
      endpoint: route?.id ?? null,
      method: exchange.method,
      path: exchange.target,
      alias: route?.alias ?? null,
      auth: call.auth,
      request: { headers: exchange.headers, body: bodyForJournal(call), bytes: exchange.body.length },
      status: answer.status,
      response: call.response ?? null,
      findings: tx.findings,
      unspecified: tx.rows,
      duration_ms: elapsedMs() - call.started,
      follows: chatId === undefined ? null : ports.lastEvent(chatId),
    }
  }
}

const READS = 'GET, HEAD, OPTIONS'
const allowed = ({ method }: Endpoint): string => (method === 'GET' ? READS : `${method}, OPTIONS`)

/** HEAD is GET without the body, as everywhere in HTTP. */
function checkMethod(endpoint: Endpoint, method: string): void {
  if (method === endpoint.method || (method === 'HEAD' && endpoint.method === 'GET')) return
  throw new Refusal('method_not_allowed', `${endpoint.path} takes ${endpoint.method}, got ${method}.`)
}

function chatIdOf(call: Call): string | undefined {
  if (call.route?.chatId !== undefined) return call.route.chatId
  const id = (call.body as { chat_id?: unknown } | null | undefined)?.chat_id
  return typeof id === 'string' && id !== '' ? id : undefined
}

const BROKEN_BODY_CHARS = 2000

function bodyForJournal({ body, exchange }: Call): unknown {
  if (body !== undefined || exchange.body.length === 0) return body ?? null
  return new TextDecoder().decode(exchange.body.subarray(0, BROKEN_BODY_CHARS))
}
