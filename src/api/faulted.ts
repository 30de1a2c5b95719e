/** Applies API faults to a call and its answer. */
import { ENDPOINTS } from '../contract/endpoints.ts'
import { type AnswerEffect, isUnprocessed } from '../faults/effects.ts'
import type { AppliedApiFaults } from '../faults/registry.ts'
import type { ApiContent, FaultContent } from '../journal/entry.ts'
import { andThen, type Maybe } from '../platform/engines.ts'
import { wasReset, withFaults } from './answers.ts'
import { parseJson } from './body.ts'
import { type Call, chatIdOf } from './call.ts'
import type { Answer } from './exchange.ts'
import type { ApiPorts } from './ports.ts'
import { matchRoute, pathOf, type Route } from './routes.ts'

/** `play` answers as the platform does; `finish` records the answered call in the journal. */
export function createFaultedApi(
  ports: ApiPorts,
  play: (call: Call) => Maybe<Answer>,
  finish: (call: Call, answer: Answer) => Answer,
): (call: Call) => Maybe<Answer> {
  function handle(call: Call): Maybe<Answer> {
    call.faults = faultsFor(ports, call)
    if (call.faults === null) return play(call)
    return call.faults.latencyMs > 0 ? late(call, call.faults) : applyFaults(call, call.faults)
  }

  async function late(call: Call, applied: AppliedApiFaults): Promise<Answer> {
    const ended = ports.inFlight()
    try {
      await ports.delay(applied.latencyMs)
      return call.epoch === ports.epoch() ? await applyFaults(call, applied) : wasReset()
    } finally {
      ended()
    }
  }

  function applyFaults(call: Call, applied: AppliedApiFaults): Maybe<Answer> {
    if (isUnprocessed(applied.answer)) return finish(identified(ports, call), insteadOfPlatform(call, applied))
    const fault = (answer: Answer) => (call.epoch === ports.epoch() ? faultyAnswer(ports, answer, applied) : answer)
    return andThen(play(call), fault)
  }

  return handle
}

/** Faults apply to calls of endpoints: not to preflight requests or unknown paths. */
function faultsFor({ faults, platform }: ApiPorts, { exchange }: Call): AppliedApiFaults | null {
  const route = exchange.method === 'OPTIONS' ? null : routeOf(exchange.target, platform.knobs)
  if (route === null) return null
  const body = ENDPOINTS[route.id].body === null ? undefined : orNothing(() => parseJson(exchange, platform.knobs))
  return faults.takeApi({ endpoint: route.id, chatId: chatIdOf({ route, body }) })
}

const routeOf = (target: string, knobs: ApiPorts['platform']['knobs']): Route | null =>
  orNothing(() => matchRoute(pathOf(target), knobs)) ?? null

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Reads endpoint, key and body for the journal; the platform does not process the call. */
function identified({ keyring, platform }: ApiPorts, call: Call): Call {
  const { exchange } = call
  const route = routeOf(exchange.target, platform.knobs)!
  const { scope, body } = ENDPOINTS[route.id]
  call.route = route
  call.body = body === null ? undefined : orNothing(() => parseJson(exchange, platform.knobs))
  orNothing(() =>
    keyring.authorize(exchange.headers.authorization, scope, platform.nowMs(), state => {
      call.auth = state
    }),
  )
  return call
}

const NO_ANSWER: Answer = { status: 0, headers: {}, body: '' }

/** The answer of a fault that keeps the call from the platform. */
function insteadOfPlatform(call: Call, { answer, faults }: AppliedApiFaults): Answer {
  if (answer?.kind !== 'respond') return { ...NO_ANSWER, ...lost(answer) }
  call.response = answer.body ?? null
  return withFaults(written(answer), faults)
}

const lost = (effect: AnswerEffect | null): Pick<Answer, 'wire'> =>
  effect?.kind === 'lost' ? { wire: { kind: 'lost', how: effect.how } } : {}

function written({ status, headers, body }: Extract<AnswerEffect, { kind: 'respond' }>): Answer {
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  if (body === undefined) return { status, headers: own, body: '' }
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status, headers: { 'content-type': type, ...own }, body: text }
}

function faultyAnswer(ports: ApiPorts, answer: Answer, { answer: effect, faults }: AppliedApiFaults): Answer {
  if (effect?.kind === 'lost') return { ...NO_ANSWER, ...lost(effect) }
  const marked = withFaults(answer, faults)
  if (effect?.kind === 'cut') return { ...marked, body: cut(answer.body) }
  if (effect?.kind !== 'slow') return marked
  return { ...marked, wire: { kind: 'slow', overMs: effect.overMs, stop: ports.resetSignal() } }
}

/** The first half of an object is never JSON. */
const cut = (body: string | Uint8Array) => body.slice(0, Math.floor(body.length / 2))

/** One journal entry for each applied fault. */
export function faultEntries({ chat_id, endpoint }: ApiContent, { hits }: AppliedApiFaults): FaultContent[] {
  return hits.map(hit => ({
    kind: 'fault',
    ...(chat_id === undefined ? {} : { chat_id }),
    ...hit,
    ...(endpoint === null ? {} : { endpoint }),
  }))
}
