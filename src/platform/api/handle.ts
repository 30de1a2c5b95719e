/** Handles one request, from plain data to plain data: match, authenticate, parse, call the platform, encode, journal. */
import { ENDPOINT_ROUTES, type EndpointId, type EndpointRoute } from '../contract/endpoint-routes.ts'
import type { AvailabilityRequest, ChatRequest, MessageRequest } from '../contract/endpoints.ts'
import { errorNote } from '../journal/internal-errors.ts'
import { updateAvailability } from '../rules/availability.ts'
import { botById, idMismatch, requireChat, unknownChat } from '../rules/chats.ts'
import { andThen, EngineError, type Maybe, summarized, summaryInput, toUser, translated } from '../rules/engines.ts'
import {
  checkMessage,
  endHandover,
  sendMessage,
  shownToUser,
  startHandover,
  startTyping,
  stopTyping,
} from '../rules/handover.ts'
import { REFUSAL_TEXTS, Refusal } from '../rules/refusal.ts'
import type { Chat, PlatformContext } from '../rules/state.ts'
import { MemoryLimitError } from '../rules/state-memory.ts'
import { assumed, type Transaction } from '../rules/transaction.ts'
import { chatOutline, handoverOutline } from '../rules/transcript.ts'
import { checkBodyForm, checkContentType, parseBody, parseJson } from './body.ts'
import { type ApiCall, type ApiPorts, type ApiRoute, createCall, findApiRoute, matchRoute, pathOf } from './call.ts'
import { createCallerCheck, type ForeignCaller, foreignCallerBody, preflightResponse, withCors } from './callers.ts'
import { apiFaultEntries, createFaultedApi } from './faulted.ts'
import { FILES_PREFIX, serveFile } from './files.ts'
import { type Grant, keyIn, RateLimited } from './keyring.ts'
import {
  type ApiRequest,
  type ApiResponse,
  engineErrorResponse,
  errorBodyOf,
  internalErrorResponse,
  redirectResponse,
  refusalResponse,
  resetResponse,
  simulatorResponse,
} from './messages.ts'
import { marked, successResponse } from './success-response.ts'
import { answerTranscript } from './transcripts.ts'

export type Api = (request: ApiRequest) => Maybe<ApiResponse>

export function createApi(ports: ApiPorts): Api {
  const faulted = createFaultedApi(ports, answerCall, finish)
  const findForeignCaller = createCallerCheck(ports)
  return request => {
    const call = createCall(ports, request)
    const caller = findForeignCaller(request)
    if (caller !== null) return refuseCaller(call, caller)
    return ports.faults.mayChangeCalls() ? faulted(call) : answerCall(call)
  }
}

/** Refuses before faults apply and before the key is checked, so that the request has no effect. */
function refuseCaller(call: ApiCall, caller: ForeignCaller): ApiResponse {
  const body = foreignCallerBody(caller)
  call.route = findApiRoute(pathOf(call.request.target), call.ports.platform.knobs)
  call.response = body
  return finish(call, simulatorResponse(403, body))
}

function answerCall(call: ApiCall): Maybe<ApiResponse> {
  try {
    const answer = serve(call)
    return answer instanceof Promise ? answerLater(call, answer) : finish(call, answer)
  } catch (thrown) {
    return finish(call, failureResponse(call, thrown))
  }
}

async function answerLater(call: ApiCall, pending: Promise<ApiResponse>): Promise<ApiResponse> {
  const ended = call.ports.inFlight()
  try {
    return finish(call, await pending)
  } catch (thrown) {
    return finish(call, failureResponse(call, thrown))
  } finally {
    ended()
  }
}

function serve(call: ApiCall): Maybe<ApiResponse> {
  const { request, ports } = call
  const path = pathOf(request.target)
  if (request.headers.origin !== undefined) assumed(call.transaction, 'api.cors')
  if (path.startsWith(FILES_PREFIX)) {
    return request.method === 'OPTIONS' ? preflightOf(call, READS) : serveFile(ports, request, path, call.transaction)
  }
  const route = matchRoute(path, ports.platform.knobs)
  call.route = route
  const endpoint = ENDPOINT_ROUTES[route.id]
  if (request.method === 'OPTIONS') return preflightOf(call, allowedMethods(endpoint))
  checkMethod(endpoint, request.method)
  return mustRedirect(call, route)
    ? marked(call, redirectResponse(route.canonical, call.request.target))
    : callOperation(call, endpoint, route)
}

const preflightOf = ({ request, ports }: ApiCall, methods: string): ApiResponse =>
  preflightResponse(request, methods, ports.platform.knobs['api.cors'])

/** HEAD is GET without the body, as everywhere in HTTP. */
function checkMethod(endpoint: EndpointRoute, method: string): void {
  if (method === endpoint.method || (method === 'HEAD' && endpoint.method === 'GET')) return
  throw new Refusal('method_not_allowed', REFUSAL_TEXTS.methodNotAllowed(endpoint.path, endpoint.method, method))
}

/** Whether to redirect to the path with the trailing slash as written; throws when such paths are refused. */
function mustRedirect({ ports, transaction }: ApiCall, route: ApiRoute): boolean {
  if (route.slashAsWritten) return false
  assumed(transaction, 'api.trailingSlash')
  const policy = ports.platform.knobs['api.trailingSlash']
  if (policy === 'strict') throw new Refusal('path_not_found', REFUSAL_TEXTS.pathAsWritten(route.canonical))
  return policy === 'redirect'
}

function callOperation(call: ApiCall, endpoint: EndpointRoute, route: ApiRoute): Maybe<ApiResponse> {
  const grant = authorize(call, endpoint)
  const body = endpoint.method === 'GET' ? undefined : readBody(call, route.id)
  const value = OPERATIONS[route.id](call, grant, body)
  // For nearly every call, the value is there now, and a function that waits for it would be made in vain.
  return value instanceof Promise
    ? value.then(reply => successResponse(call, route.id, reply))
    : successResponse(call, route.id, value)
}

function authorize(call: ApiCall, endpoint: EndpointRoute): Grant {
  const { platform, keyring, rateLimit } = call.ports
  const { authorization } = call.request.headers
  const nowMs = platform.nowMs()
  const grant = keyring.authorize(authorization, endpoint.scope, nowMs, call)
  rateLimit.take(keyIn(authorization) ?? '', platform.knobs['limits.rate'], nowMs)
  return grant
}

function readBody(call: ApiCall, id: EndpointId): unknown {
  const { knobs } = call.ports.platform
  checkBodyForm(call.request, call.transaction)
  const { body, valueCount } = parseJson(call.request, knobs)
  call.body = body
  call.valueCount = valueCount
  checkContentType(call.request, knobs, call.transaction)
  return parseBody(id, call, knobs)
}

/** Adds the headers of CORS, and journals the call. */
function finish(call: ApiCall, answer: ApiResponse): ApiResponse {
  const { ports, request } = call
  const inTime = call.epoch === ports.epoch()
  const sent = withCors(inTime ? answer : resetResponse(), request, ports.platform.knobs['api.cors'])
  if (inTime && request.method !== 'OPTIONS') append(call, sent)
  return request.method === 'HEAD' ? { ...sent, body: '' } : sent
}

/** Appends the call and its effects to the journal; a refused call has no effects (ER1). */
function append(call: ApiCall, answer: ApiResponse): void {
  const { ports, faults, internalError } = call
  const effects = answer.status < 300 ? call.transaction.effects : []
  const record = ports.records.create(call, answer)
  const faultEntries = faults === null ? undefined : apiFaultEntries(call, faults)
  ports.commitCall(record, internalError === null ? effects : [internalError], faultEntries)
}

const READS = 'GET, HEAD, OPTIONS'
const allowedMethods = ({ method }: EndpointRoute): string => (method === 'GET' ? READS : `${method}, OPTIONS`)

/** The response to a refusal; every other error is an internal error. */
function failureResponse(call: ApiCall, thrown: unknown): ApiResponse {
  if (thrown instanceof MemoryLimitError) return simulatorResponse(507, { handover_sim: { message: thrown.message } })
  if (!(thrown instanceof Refusal)) return brokenResponse(call, thrown)
  assumed(call.transaction, ...thrown.assumed)
  call.response = errorBodyOf(thrown)
  return marked(call, refusalResponse(thrown, call.ports.platform.knobs, extraHeaders(call, thrown)))
}

/** The note about an internal error follows the call in the journal. */
function brokenResponse(call: ApiCall, error: unknown): ApiResponse {
  if (error instanceof EngineError) return engineErrorResponse(error)
  call.internalError = errorNote('call', error)
  return internalErrorResponse(error)
}

function extraHeaders({ route }: ApiCall, refusal: Refusal): Record<string, string> {
  if (refusal instanceof RateLimited) return { 'retry-after': String(refusal.retryAfter) }
  if (refusal.code === 'method_not_allowed') return { allow: route ? allowedMethods(ENDPOINT_ROUTES[route.id]) : READS }
  return refusal.code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}
}

/** Makes one call into the platform; key and body are valid at this point. */
type Operation = (call: ApiCall, grant: Grant, body: unknown) => Maybe<unknown>

const chatOf = ({ ports }: ApiCall, grant: Grant, { bot_id, chat_id }: ChatRequest): Chat =>
  requireChat(ports.platform, grant.botId, bot_id, chat_id)

/** An operation on the chat its body names. */
const onChat =
  <Body extends ChatRequest>(
    run: (platform: PlatformContext, chat: Chat, body: Body, transaction: Transaction, call: ApiCall) => unknown,
  ): Operation =>
  (call, grant, body) =>
    run(call.ports.platform, chatOf(call, grant, body as Body), body as Body, call.transaction, call)

const OPERATIONS: Record<EndpointId, Operation> = {
  transcript: onChat((platform, chat, body: ChatRequest, transaction, call) =>
    answerTranscript(call, 'transcript', chat, handoverOutline(platform, chat, body, transaction)),
  ),
  summarize,
  availability: ({ ports: { platform }, transaction }, { botId }, body) =>
    updateAvailability(platform, botById(platform, botId), body as AvailabilityRequest, transaction),
  start: onChat(startHandover),
  end: onChat(endHandover),
  message,
  typing_start: onChat(startTyping),
  typing_stop: onChat(stopTyping),
  chat: readChat,
}

/** Sends the messages of a chat one after the other. A message that a reset interrupts never reaches a chat created after the reset. */
function message(call: ApiCall, grant: Grant, value: unknown): Maybe<unknown> {
  const body = value as MessageRequest
  return call.ports.inOrder(body.chat_id, () => translateAndSend(call, grant, body))
}

function translateAndSend(call: ApiCall, grant: Grant, body: MessageRequest): Maybe<unknown> {
  const { platform, engines } = call.ports
  checkEpoch(call)
  const chat = chatOf(call, grant, body)
  checkMessage(platform, chat, body, call.transaction)
  const shown = translated(engines, toUser(chat, body.message), body.message)
  return shown instanceof Promise ? shown.then(text => send(call, chat, body, text)) : send(call, chat, body, shown)
}

function send(call: ApiCall, chat: Chat, body: MessageRequest, shown: string): unknown {
  checkEpoch(call)
  call.shownToUser = shownToUser(chat, body, shown)
  return sendMessage(call.ports.platform, chat, body, shown, call.transaction)
}

function checkEpoch({ ports, epoch }: ApiCall): void {
  if (ports.epoch() !== epoch) throw new Error('The simulator was reset while this message was in flight.')
}

function summarize(call: ApiCall, grant: Grant, body: unknown): Maybe<unknown> {
  const { ports, transaction } = call
  const chat = chatOf(call, grant, body as ChatRequest)
  const input = summaryInput(ports.platform, chat, transaction)
  const latency = ports.platform.knobs['summarize.latency']
  const waited = latency === 0 ? undefined : ports.delay(latency)
  const summary = andThen(waited, () => summarized(ports.engines, input))
  return andThen(summary, text => ({ event: 'SUMMARIZED', chat_id: chat.id, summary: text }))
}

function readChat(call: ApiCall, grant: Grant): unknown {
  const { route, transaction } = call
  const { platform } = call.ports
  const id = route?.chatId ?? ''
  const chat = platform.state.chats.get(id)
  if (chat === undefined) throw unknownChat(platform, id, JSON.stringify(id), 'chatId')
  if (chat.botId !== grant.botId) throw idMismatch(platform, REFUSAL_TEXTS.chatOfOtherKey, 'chatId')
  return answerTranscript(call, 'chat', chat, chatOutline(platform, chat, transaction))
}
