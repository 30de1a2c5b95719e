/** Handles one request, from plain data to plain data: match, authenticate, parse, call the platform, encode, journal. */

import { type Awaitable, andThen } from '../../base/runtime/activity.ts'
import { elapsedMs, roundMs } from '../../base/runtime/clock.ts'
import { ENDPOINT_ROUTES, type EndpointId, type EndpointRoute } from '../contract/endpoint-routes.ts'
import type { AvailabilityRequest, ChatRequest, MessageRequest } from '../contract/endpoints.ts'
import { formatKnob, isKnob } from '../contract/knobs.ts'
import type { ApiContent } from '../journal/entry.ts'
import { ENTRY_BYTES, errorNote, sizeOf, VALUE_BYTES } from '../journal/journal.ts'
import { maskSetting } from '../journal/mask.ts'
import { updateAvailability } from '../rules/availability.ts'
import { botById, idMismatch, requireChat, unknownChat } from '../rules/chats.ts'
import { EngineError, summarized, summaryInput, toUser, translated } from '../rules/engines.ts'
import {
  checkMessage,
  endHandover,
  sendMessage,
  shownToUser,
  startHandover,
  startTyping,
  stopTyping,
} from '../rules/handover.ts'
import { Refusal } from '../rules/refusal.ts'
import { assumed, type Chat, MemoryLimitError, type PlatformContext, type Transaction } from '../rules/state.ts'
import { chatTranscript, handoverTranscript } from '../rules/transcript.ts'
import { requirePresence } from '../rules/user-leaves.ts'
import {
  findForeignCaller,
  foreignCallerBody,
  type Grant,
  keyIn,
  platformPolicy,
  preflightResponse,
  RateLimited,
  withCors,
} from './access.ts'
import { checkBodyForm, checkContentType, parseBySchema, parseJson } from './body.ts'
import { type ApiCall, type ApiPorts, chatIdOf, createCall, findApiRoute, matchRoute, pathOf } from './call.ts'
import { apiFaultEntries, createFaultedApi } from './faulted.ts'
import { FILES_PREFIX, serveFile } from './files.ts'
import {
  type ApiRequest,
  type ApiResponse,
  createErrorBody,
  engineErrorResponse,
  internalErrorResponse,
  JSON_TYPE,
  redirectResponse,
  refusalResponse,
  resetResponse,
  simulatorResponse,
  varyResponse,
  withUnspecified,
} from './messages.ts'

export type Api = (request: ApiRequest) => Awaitable<ApiResponse>

export function createApi(ports: ApiPorts): Api {
  const faulted = createFaultedApi(ports, handleCall, finish)
  const policy = platformPolicy(ports)
  return request => {
    const call = createCall(ports, request)
    const caller = findForeignCaller(request, policy)
    if (caller !== null) {
      // Refused before faults apply and before the key is checked, so that the request has no effect.
      call.route = findApiRoute(pathOf(request.target), ports.platform.knobs)
      call.response = foreignCallerBody(caller)
      return finish(call, simulatorResponse(403, foreignCallerBody(caller)))
    }
    return ports.faults.active.api ? faulted(call) : handleCall(call)
  }
}

function handleCall(call: ApiCall): Awaitable<ApiResponse> {
  try {
    const response = serve(call)
    return response instanceof Promise ? handleLater(call, response) : finish(call, response)
  } catch (thrown) {
    return finish(call, failureResponse(call, thrown))
  }
}

async function handleLater(call: ApiCall, pending: Promise<ApiResponse>): Promise<ApiResponse> {
  const ended = call.ports.inFlight()
  try {
    return finish(call, await pending)
  } catch (thrown) {
    return finish(call, failureResponse(call, thrown))
  } finally {
    ended()
  }
}

const READS = 'GET, HEAD, OPTIONS'
const allowedMethods = ({ method }: EndpointRoute): string => (method === 'GET' ? READS : `${method}, OPTIONS`)

function serve(call: ApiCall): Awaitable<ApiResponse> {
  const { request, ports, transaction } = call
  const { knobs } = ports.platform
  const path = pathOf(request.target)
  if (request.headers.origin !== undefined) assumed(transaction, 'api.cors')
  if (path.startsWith(FILES_PREFIX)) {
    return request.method === 'OPTIONS'
      ? preflightResponse(request, READS, knobs['api.cors'])
      : serveFile(ports, request, path, transaction)
  }

  const route = matchRoute(path, knobs)
  call.route = route
  const endpoint = ENDPOINT_ROUTES[route.id]
  if (request.method === 'OPTIONS') return preflightResponse(request, allowedMethods(endpoint), knobs['api.cors'])
  // HEAD is GET without the body, as everywhere in HTTP.
  if (request.method !== endpoint.method && !(request.method === 'HEAD' && endpoint.method === 'GET'))
    throw new Refusal('method_not_allowed', `${endpoint.path} takes ${endpoint.method}, got ${request.method}.`)
  if (!route.hasCanonicalSlash) {
    assumed(transaction, 'api.trailingSlash')
    const policy = knobs['api.trailingSlash']
    if (policy === 'strict') throw new Refusal('path_not_found', `The path is written ${route.canonical}.`)
    if (policy === 'redirect') {
      const redirect = redirectResponse(route.canonical, request.target)
      return { ...redirect, headers: withUnspecified(redirect.headers, transaction, ports.marked) }
    }
  }

  const grant = authorize(call, endpoint)
  const body = endpoint.method === 'GET' ? undefined : readBody(call, route.id)
  const reply = OPERATIONS[route.id](call, grant, body)
  return reply instanceof Promise ? reply.then(value => successResponse(call, value)) : successResponse(call, reply)
}

function authorize(call: ApiCall, endpoint: EndpointRoute): Grant {
  const { platform, keyring, rateLimit } = call.ports
  const { authorization } = call.request.headers
  const nowMs = platform.nowMs()
  const grant = keyring.authorize(authorization, endpoint.scope, nowMs, call)
  const rate = platform.knobs['limits.rate']
  if (rate !== null) rateLimit.take(keyIn(authorization) ?? '', rate, nowMs)
  return grant
}

function readBody(call: ApiCall, id: EndpointId): unknown {
  const { knobs } = call.ports.platform
  checkBodyForm(call.request, call.transaction)
  const { body, valueCount } = parseJson(call.request, knobs)
  call.body = body
  call.valueCount = valueCount
  checkContentType(call.request, knobs, call.transaction)
  return parseBySchema(id, call, knobs)
}

function successResponse(call: ApiCall, described: unknown): ApiResponse {
  const form = call.ports.platform.knobs['api.answers']
  if (form !== 'as-is') assumed(call.transaction, 'api.answers')
  const reply = varyResponse(described, form)
  call.response = reply
  const headers: Record<string, string> = { 'content-type': JSON_TYPE }
  if (call.transaction.assumed.length > 0) withUnspecified(headers, call.transaction, call.ports.marked)
  return { status: 200, headers, body: JSON.stringify(reply) }
}

/** The response to a refusal; every other error is an internal error. */
function failureResponse(call: ApiCall, thrown: unknown): ApiResponse {
  const { ports, transaction, route } = call
  if (thrown instanceof MemoryLimitError) return simulatorResponse(507, { handover_sim: { message: thrown.message } })
  if (thrown instanceof EngineError) return engineErrorResponse(thrown)
  if (!(thrown instanceof Refusal)) {
    // The note about an internal error follows the call in the journal.
    call.internalError = errorNote('call', thrown)
    return internalErrorResponse(thrown)
  }
  assumed(transaction, ...thrown.assumed)
  if (ports.platform.knobs['api.answers'] !== 'as-is') assumed(transaction, 'api.answers')
  call.response = createErrorBody(thrown)
  const extra: Record<string, string> = {}
  if (thrown instanceof RateLimited) extra['retry-after'] = String(thrown.retryAfter)
  else if (thrown.code === 'method_not_allowed') extra.allow = route ? allowedMethods(ENDPOINT_ROUTES[route.id]) : READS
  else if (thrown.code === 'unauthorized') extra['www-authenticate'] = 'Bearer'
  const response = refusalResponse(thrown, ports.platform.knobs, extra)
  withUnspecified(response.headers, transaction, ports.marked)
  return response
}

/** Adds the headers of CORS, and journals the call with its effects; a refused call has none (ER1). */
function finish(call: ApiCall, response: ApiResponse): ApiResponse {
  const { ports, request, faults, internalError, transaction } = call
  const inTime = call.epoch === ports.epoch.count
  const sent = withCors(inTime ? response : resetResponse(), request, ports.platform.knobs['api.cors'])
  if (inTime && request.method !== 'OPTIONS') {
    const effects = sent.status < 300 ? transaction.effects : []
    ports.commitCall(
      createEntry(call, sent),
      sizeOfCall(call, sent),
      internalError === null ? effects : [internalError],
      faults === null ? [] : apiFaultEntries(call, faults),
    )
  }
  return request.method === 'HEAD' ? { ...sent, body: '' } : sent
}

const BROKEN_BODY_BYTES = 2000

/**
 * Keeps what was parsed: its texts are mostly those that the chat keeps too. The body and the response as two texts would be
 * kept beside them, and made a message slower by a fifth.
 */
function createEntry(call: ApiCall, response: ApiResponse): ApiContent {
  const { request, route, transaction, faults, shownToUser } = call
  const { platform, lastEvent } = call.ports
  const chatId = chatIdOf(call)
  const body = call.body === undefined ? brokenBody(request.body) : call.body
  const unspecified: Record<string, unknown> = {}
  for (const name of transaction.assumed)
    unspecified[name] = isKnob(name) ? maskSetting(name, formatKnob(name, platform.knobs[name])) : null
  // Fields that some entries have are assigned, because spreads of objects cost as much as all other work on an entry.
  const entry: ApiContent & { -readonly [Key in keyof ApiContent]: ApiContent[Key] } = {
    kind: 'api',
    endpoint: route === null ? null : route.id,
    method: request.method,
    path: request.target,
    alias: route === null ? null : route.alias,
    auth: call.auth,
    request: { headers: request.headers, body, bytes: request.body.length },
    status: response.status,
    response: call.response ?? null,
    findings: transaction.findings,
    unspecified,
    duration_ms: roundMs(elapsedMs() - call.started),
    follows: chatId === undefined ? null : lastEvent(chatId),
  }
  if (chatId !== undefined) entry.chat_id = chatId
  if (shownToUser !== null) entry.shown_to_user = shownToUser
  if (faults !== null) entry.faults = [...faults.faults]
  if (faults?.responseEffect?.kind === 'drop') entry.answer_lost = faults.responseEffect.processed ? 'after' : 'before'
  return entry
}

/** The beginning of a body that was not parsed, as text; null for none. */
function brokenBody(bytes: Uint8Array): string | null {
  if (bytes.length === 0) return null
  if (bytes.length <= BROKEN_BODY_BYTES) return new TextDecoder().decode(bytes)
  // A stream leaves out a character that is not complete.
  return `${new TextDecoder().decode(bytes.subarray(0, BROKEN_BODY_BYTES), { stream: true })}…`
}

/** The estimated memory of the entry of a call, in bytes. */
function sizeOfCall({ body, valueCount, request, response, transaction }: ApiCall, apiResponse: ApiResponse): number {
  const stored = body === undefined ? Math.min(request.body.length, BROKEN_BODY_BYTES) : request.body.length
  const responseChars = response === undefined ? 0 : apiResponse.body.length
  return (
    ENTRY_BYTES +
    stored +
    valueCount * VALUE_BYTES +
    responseChars +
    request.target.length +
    sizeOf(request.headers) +
    (transaction.findings.length > 0 ? sizeOf(transaction.findings) : 0)
  )
}

/** Makes one call into the platform; key and body are valid at this point. */
type Operation = (call: ApiCall, grant: Grant, body: unknown) => Awaitable<unknown>

function findChat({ ports, route, transaction }: ApiCall, grant: Grant, { bot_id, chat_id }: ChatRequest): Chat {
  const chat = requireChat(ports.platform, grant.botId, bot_id, chat_id)
  if (chat.userLeft !== null)
    requirePresence(ports.platform, chat, route?.id === 'transcript' || route?.id === 'summarize', transaction)
  return chat
}

/** An operation on the chat its body names. */
const onChat =
  <Body extends ChatRequest>(
    run: (platform: PlatformContext, chat: Chat, body: Body, transaction: Transaction) => unknown,
  ): Operation =>
  (call, grant, body) =>
    run(call.ports.platform, findChat(call, grant, body as Body), body as Body, call.transaction)

const OPERATIONS: Record<EndpointId, Operation> = {
  transcript: onChat(handoverTranscript),
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
function message(call: ApiCall, grant: Grant, value: unknown): Awaitable<unknown> {
  const body = value as MessageRequest
  const { ports, transaction } = call
  const { platform, engines } = ports
  const checkEpoch = () => {
    if (ports.epoch.count !== call.epoch) throw new Error('The simulator was reset while this message was in flight.')
  }
  return ports.inOrder(body.chat_id, () => {
    checkEpoch()
    const chat = findChat(call, grant, body)
    checkMessage(platform, chat, body, transaction)
    const isTranslated = (chat.takeover?.agentLanguage ?? null) !== null
    const text = isTranslated ? translated(engines, toUser(chat, body.message), body.message) : body.message
    return andThen(text, shown => {
      checkEpoch()
      call.shownToUser = shownToUser(chat, body, shown)
      return sendMessage(platform, chat, body, shown, transaction)
    })
  })
}

function summarize(call: ApiCall, grant: Grant, body: unknown): Awaitable<unknown> {
  const { ports, transaction } = call
  const chat = findChat(call, grant, body as ChatRequest)
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
  if (chat.botId !== grant.botId) throw idMismatch(platform, 'The chat belongs to another bot than this key.', 'chatId')
  if (chat.userLeft !== null) requirePresence(platform, chat, true, transaction, 'chatId')
  return chatTranscript(platform, chat, transaction)
}
