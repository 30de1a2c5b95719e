/** Calls while faults are set: kept waiting, answered by the fault, lost, or played and their answer spoilt. */
import { ENDPOINTS } from '../contract/endpoints.ts'
import { type AnswerEffect, isUnprocessed } from '../faults/effects.ts'
import type { ApiStrike } from '../faults/registry.ts'
import type { ApiContent, FaultContent } from '../journal/entry.ts'
import { andThen, type Maybe } from '../platform/engines.ts'
import { wasReset, withFault } from './answers.ts'
import { parseJson } from './body.ts'
import { type Call, chatIdOf } from './call.ts'
import type { Answer } from './exchange.ts'
import type { ApiPorts } from './ports.ts'
import { matchRoute, pathOf, type Route } from './routes.ts'

/** `play` does what the platform would do; `finish` writes the call down as answered. */
export function createStruck(
  ports: ApiPorts,
  play: (call: Call) => Maybe<Answer>,
  finish: (call: Call, answer: Answer) => Answer,
): (call: Call) => Maybe<Answer> {
  function struck(call: Call): Maybe<Answer> {
    call.strike = strikeOn(ports, call)
    if (call.strike === null) return play(call)
    return call.strike.latencyMs > 0 ? late(call, call.strike) : suffer(call, call.strike)
  }

  async function late(call: Call, strike: ApiStrike): Promise<Answer> {
    const ended = ports.inFlight()
    try {
      await ports.delay(strike.latencyMs)
      return call.epoch === ports.epoch() ? await suffer(call, strike) : wasReset()
    } finally {
      ended()
    }
  }

  function suffer(call: Call, strike: ApiStrike): Maybe<Answer> {
    if (isUnprocessed(strike.answer)) return finish(lookedAt(ports, call), instead(call, strike))
    const spoil = (answer: Answer) => (call.epoch === ports.epoch() ? spoilt(ports, answer, strike) : answer)
    return andThen(play(call), spoil)
  }

  return struck
}

/** A preflight is the browser's, and a path of no endpoint is no call. */
function strikeOn({ faults, room }: ApiPorts, { exchange }: Call): ApiStrike | null {
  const route = exchange.method === 'OPTIONS' ? null : routeOf(exchange.target, room.knobs)
  if (route === null) return null
  const body = ENDPOINTS[route.id].body === null ? undefined : orNothing(() => parseJson(exchange, room.knobs))
  return faults.takeApi({ endpoint: route.id, chatId: chatIdOf({ route, body }) })
}

const routeOf = (target: string, knobs: ApiPorts['room']['knobs']): Route | null =>
  orNothing(() => matchRoute(pathOf(target), knobs)) ?? null

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Who called with what, for the journal; nothing is done and nothing is found. */
function lookedAt({ keyring, room }: ApiPorts, call: Call): Call {
  const { exchange } = call
  const route = routeOf(exchange.target, room.knobs)!
  const { scope, body } = ENDPOINTS[route.id]
  call.route = route
  call.body = body === null ? undefined : orNothing(() => parseJson(exchange, room.knobs))
  orNothing(() =>
    keyring.authorize(exchange.headers.authorization, scope, room.nowMs(), state => {
      call.auth = state
    }),
  )
  return call
}

const NO_ANSWER: Answer = { status: 0, headers: {}, body: '' }

/** What goes out in the platform's place. */
function instead(call: Call, { answer, names }: ApiStrike): Answer {
  if (answer?.kind !== 'respond') return { ...NO_ANSWER, ...lost(answer) }
  call.response = answer.body ?? null
  return withFault(written(answer), names)
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

function spoilt(ports: ApiPorts, answer: Answer, { answer: effect, names }: ApiStrike): Answer {
  if (effect?.kind === 'lost') return { ...NO_ANSWER, ...lost(effect) }
  const marked = withFault(answer, names)
  if (effect?.kind === 'cut') return { ...marked, body: cut(answer.body) }
  if (effect?.kind !== 'slow') return marked
  return { ...marked, wire: { kind: 'slow', overMs: effect.overMs, stop: ports.resetSignal() } }
}

/** The first half of an object is never JSON. */
const cut = (body: string | Uint8Array) => body.slice(0, Math.floor(body.length / 2))

/** One entry for each fault that struck. */
export function faultEntries({ chat_id, endpoint }: ApiContent, { hits }: ApiStrike): FaultContent[] {
  return hits.map(({ needsWire: _, ...hit }) => ({
    kind: 'fault',
    ...(chat_id === undefined ? {} : { chat_id }),
    ...hit,
    ...(endpoint === null ? {} : { endpoint }),
  }))
}
