/** A verb as one HTTP call: not retried, redirects not followed. */
import { Agent, type Dispatcher, request } from 'undici'
import { connectionFailure } from '../runtime/connection-failure.ts'
import { interpolate, lookUp, type Scope } from '../scenario/interpolation.ts'
import { failureText } from '../wording/delivery.ts'
import {
  type CallOutcome,
  failed,
  MOST_CHARS,
  messageOf,
  STOPPED,
  startOf,
  TOO_LONG,
  timedOut,
  unreachable,
  withTimeLimit,
} from './call-outcome.ts'
import type { HttpVerb } from './driver.ts'

/**
 * A call is not repeated, so none may go out on a connection the desk is about to close: idle ones are dropped early.
 */
const IDLE_MS = 1_000

export const createAgent = (): Agent => new Agent({ connections: null, pipelining: 1, keepAliveTimeout: IDLE_MS })

export const showHttp = (verb: HttpVerb, scope: Scope): string => `${verb.method} ${addressOf(verb, scope)}`

export async function callHttp(verb: HttpVerb, scope: Scope, agent: Agent, signal: AbortSignal): Promise<CallOutcome> {
  const url = addressOf(verb, scope)
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return failed(`${JSON.stringify(url)} is not an http address`)
  const { headers, body } = bodyOf(verb, scope)
  const options = { method: verb.method, headers, body, dispatcher: agent, headersTimeout: 0, bodyTimeout: 0 }
  try {
    const done = await withTimeLimit(verb.timeoutMs, signal, async inner =>
      answer(await request(url, { ...options, signal: inner })),
    )
    if (done === 'timeout') return timedOut(verb.timeoutMs, 'no answer')
    return done === 'stopped' ? STOPPED : done
  } catch (error) {
    return failedRequest(error, new URL(url).host)
  }
}

function bodyOf({ json, headers }: HttpVerb, scope: Scope) {
  const filled = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, String(interpolate(text, scope))]),
  )
  if (json === undefined) return { headers: filled, body: null }
  return { headers: { 'content-type': 'application/json', ...filled }, body: JSON.stringify(interpolate(json, scope)) }
}

async function answer({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<CallOutcome> {
  const text = await textOf(body)
  if (text === null) return { ...failed(`answered ${status} with ${TOO_LONG}`), status }
  if (status >= 200 && status < 300) return { outcome: 'ok', status, text }
  const place = headers.location === undefined ? '' : ` (a redirect to ${headers.location}, which is not followed)`
  const said = startOf(text)
  return { ...failed(`answered ${status}${place}${said === '' ? '' : `: ${said}`}`), status, text }
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MOST_CHARS) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Mostly no answer at all. Something that is not HTTP is an answer of a kind; what cannot be sent was never asked. */
function failedRequest(error: unknown, host: string): CallOutcome {
  if ((error as { code?: string }).code === 'UND_ERR_INVALID_ARG') return failed(`cannot be sent: ${messageOf(error)}`)
  const failure = connectionFailure(error, host)
  const text = failureText(failure)
  return { ...(failure.code === 'not_http' ? failed(text) : unreachable(text)), failure }
}

const PLACE = /\$\$\(|\$\(([^()]*)\)/g

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** `base` as it is; in `path` what is filled in is encoded, so that an id cannot lead elsewhere. */
export function addressOf({ base, path }: { base: string; path: string }, scope: Scope): string {
  const start = asText(interpolate(base, scope)).replace(/\/+$/, '')
  const rest = path.replace(PLACE, (_, name: string | undefined) =>
    name === undefined ? '$(' : encoded(name, asText(lookUp(name, scope))),
  )
  return start + rest
}

/** A segment of dots would be taken for a step in the path, however it is written. */
function encoded(name: string, text: string): string {
  if (/^\.\.?$/.test(text)) throw new Error(`$(${name}) is ${JSON.stringify(text)}, which cannot stand in an address`)
  return encodeURIComponent(text.toWellFormed())
}
