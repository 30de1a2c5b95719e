/** Applies API faults to a call and its answer. */

import { type Awaitable, andThen } from '../../base/runtime/activity.ts'
import { ENDPOINT_ROUTES } from '../contract/endpoint-routes.ts'
import { isUnprocessed, type ResponseEffect } from '../faults/effects.ts'
import type { AppliedApiFaults } from '../faults/registry.ts'
import type { FaultContent } from '../journal/entry.ts'
import { findFile } from '../rules/files.ts'
import type { Message } from '../rules/state.ts'
import { parseJson } from './body.ts'
import { type ApiCall, type ApiPorts, type ApiRoute, chatIdOf, findApiRoute, pathOf } from './call.ts'
import { FILES_PREFIX } from './files.ts'
import { type ApiResponse, resetResponse, withFaults } from './messages.ts'

/** `answerCall` answers as the platform does; `finish` records the answered call in the journal. */
export function createFaultedApi(
  ports: ApiPorts,
  handleCall: (call: ApiCall) => Awaitable<ApiResponse>,
  finish: (call: ApiCall, response: ApiResponse) => ApiResponse,
): (call: ApiCall) => Awaitable<ApiResponse> {
  async function delayed(call: ApiCall, applied: AppliedApiFaults): Promise<ApiResponse> {
    const ended = ports.inFlight()
    try {
      await ports.delay(applied.latencyMs)
      return call.epoch === ports.epoch.count ? await applyFaults(call, applied) : finish(call, resetResponse())
    } finally {
      ended()
    }
  }

  function applyFaults(call: ApiCall, applied: AppliedApiFaults): Awaitable<ApiResponse> {
    if (isUnprocessed(applied.responseEffect)) return finish(identified(ports, call), insteadOfPlatform(call, applied))
    return andThen(handleCall(call), response =>
      call.epoch === ports.epoch.count ? faultyResponse(ports, response, applied) : response,
    )
  }

  return call => {
    const target = findTarget(ports, call)
    const matched =
      target === null ? findFileLink(ports, call) : { endpoint: target.route.id, chatId: chatIdOf(target) }
    call.faults = matched && ports.faults.takeApi(matched)
    if (call.faults === null) return handleCall(call)
    return call.faults.latencyMs > 0 ? delayed(call, call.faults) : applyFaults(call, call.faults)
  }
}

interface Target {
  readonly route: ApiRoute
  readonly body: unknown
  readonly valueCount: number
}

/** The link of a file, as faults match it; null for other paths, and for a file that does not exist. */
function findFileLink({ platform }: ApiPorts, { request }: ApiCall) {
  const path = pathOf(request.target)
  if (request.method === 'OPTIONS' || !path.startsWith(FILES_PREFIX)) return null
  const [segment = ''] = path.slice(FILES_PREFIX.length).split('/')
  const file = findFile(platform, segment)
  if (file === undefined) return null
  const hasFile = ({ attachments }: Message) => attachments.some(({ id }) => id === file.id)
  const chat = [...platform.state.chats.values()].find(({ messages }) => messages.some(hasFile))
  return { endpoint: 'file', chatId: chat?.id, fileAgeMs: platform.nowMs() - file.createdMs }
}

/** Null for preflight requests, files and unknown paths. */
function findTarget({ platform: { knobs } }: ApiPorts, { request }: ApiCall): Target | null {
  if (request.method === 'OPTIONS') return null
  const route = findApiRoute(pathOf(request.target), knobs)
  if (route === null) return null
  const parsed = ENDPOINT_ROUTES[route.id].method === 'GET' ? undefined : tryTo(() => parseJson(request, knobs))
  return { route, body: parsed?.body, valueCount: parsed?.valueCount ?? 0 }
}

function tryTo<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Reads endpoint, key and body for the journal; the platform does not process the call. */
function identified(ports: ApiPorts, call: ApiCall): ApiCall {
  const target = findTarget(ports, call)
  if (target === null) return call
  const { keyring, platform } = ports
  Object.assign(call, target)
  const { authorization } = call.request.headers
  tryTo(() => keyring.authorize(authorization, ENDPOINT_ROUTES[target.route.id].scope, platform.nowMs(), call))
  return call
}

const noResponse = (): ApiResponse => ({ status: 0, headers: {}, body: '' })

/** The answer to a call that the platform does not process. */
function insteadOfPlatform(call: ApiCall, { responseEffect, faults }: AppliedApiFaults): ApiResponse {
  if (responseEffect?.kind !== 'respond') return dropped(responseEffect)
  call.response = responseEffect.body ?? null
  return withFaults(createResponse(responseEffect), faults)
}

const dropped = (effect: ResponseEffect | null): ApiResponse =>
  effect?.kind === 'drop' ? { ...noResponse(), wire: { kind: 'lost', how: effect.how } } : noResponse()

function createResponse({ status, headers, body }: Extract<ResponseEffect, { kind: 'respond' }>): ApiResponse {
  const lowerCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  if (body === undefined) return { status, headers: lowerCase, body: '' }
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status, headers: { 'content-type': type, ...lowerCase }, body: text }
}

function faultyResponse(
  ports: ApiPorts,
  response: ApiResponse,
  { responseEffect: effect, faults }: AppliedApiFaults,
): ApiResponse {
  if (effect?.kind === 'drop') return dropped(effect)
  const marked = withFaults(response, faults)
  // Half of a JSON object is never valid JSON.
  if (effect?.kind === 'malformed')
    return { ...marked, body: response.body.slice(0, Math.floor(response.body.length / 2)) }
  if (effect?.kind !== 'slow_body') return marked
  return { ...marked, wire: { kind: 'slow', overMs: effect.overMs, stop: ports.resetSignal() } }
}

/** One journal entry for each applied fault. */
export function apiFaultEntries(call: ApiCall, { hits }: AppliedApiFaults): FaultContent[] {
  const chatId = chatIdOf(call)
  return hits.map(hit => ({
    kind: 'fault',
    ...(chatId === undefined ? {} : { chat_id: chatId }),
    ...hit,
    ...(call.route === null ? {} : { endpoint: call.route.id }),
  }))
}
