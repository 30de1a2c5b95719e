/** Executes a verb as one HTTP call. Does not retry it, and follows no redirect. */
import { Agent, type Dispatcher, request } from 'undici'
import { connectionFailure } from '../runtime/connection-failure.ts'
import { type InterpolationScope, interpolate, lookUp, PLACEHOLDER } from '../scenario/interpolation.ts'
import { isError, systemCodeOf } from '../text/error-text.ts'
import { CallError, type CallOutcome, failed, MAX_CHARS, startOf, unreachable, withTimeLimit } from './call-outcome.ts'
import type { HttpVerb } from './driver.ts'

/** A call is not repeated, so idle connections are closed before the help desk may close them. */
const IDLE_MS = 1_000

export const createAgent = (): Agent => new Agent({ connections: null, pipelining: 1, keepAliveTimeout: IDLE_MS })

/** `POST http://127.0.0.1:3100/desk/c1/accept` */
export const describeHttp = (verb: HttpVerb, scope: InterpolationScope): string =>
  `${verb.method} ${addressOf(verb, scope)}`

export async function callHttp(
  verb: HttpVerb,
  scope: InterpolationScope,
  agent: Agent,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const url = addressOf(verb, scope)
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return failed({ code: 'not_an_address', address: url })
  const { headers, body } = bodyOf(verb, scope)
  const options = { method: verb.method, headers, body, dispatcher: agent, headersTimeout: 0, bodyTimeout: 0 }
  try {
    return await withTimeLimit({ timeoutMs: verb.timeoutMs, call: 'http', signal }, async inner =>
      outcomeOf(await request(url, { ...options, signal: inner })),
    )
  } catch (error) {
    return failedRequest(error, new URL(url).host)
  }
}

function bodyOf({ json, headers }: HttpVerb, scope: InterpolationScope) {
  const filled = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, String(interpolate(text, scope))]),
  )
  if (json === undefined) return { headers: filled, body: null }
  return { headers: { 'content-type': 'application/json', ...filled }, body: JSON.stringify(interpolate(json, scope)) }
}

async function outcomeOf({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<CallOutcome> {
  const text = await textOf(body)
  if (text === null) return { ...failed({ code: 'too_long', status }), status }
  if (status >= 200 && status < 300) return { outcome: 'ok', status, text }
  const location = headers.location === undefined ? {} : { location: String(headers.location) }
  return { ...failed({ code: 'status', status, ...location, body: startOf(text) }), status, text }
}

/** Null when the answer is longer than `MAX_CHARS`. */
async function textOf(body: AsyncIterable<Buffer>): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_CHARS) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** An answer that is not HTTP comes from a program, so the help desk is reachable. */
function failedRequest(error: unknown, host: string): CallOutcome {
  if (isError(error) && systemCodeOf(error) === 'UND_ERR_INVALID_ARG')
    return failed({ code: 'not_sendable', detail: error.message })
  const failure = connectionFailure(error, host)
  return failure.code === 'not_http' ? failed(failure) : unreachable(failure)
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** Interpolates `base` as it is. Percent-encodes what stands in `path`, so that an id cannot lead to another address. */
export function addressOf({ base, path }: { base: string; path: string }, scope: InterpolationScope): string {
  const start = asText(interpolate(base, scope)).replace(/\/+$/, '')
  const rest = path.replace(PLACEHOLDER, (_, name: string | undefined) =>
    name === undefined ? '$(' : encoded(name, asText(lookUp(name, scope))),
  )
  return start + rest
}

/** Refuses a segment of dots: clients resolve it as a step in the path, also when it is percent-encoded. */
function encoded(name: string, value: string): string {
  if (/^\.\.?$/.test(value)) throw new CallError({ code: 'unsafe_path_value', name, value })
  return encodeURIComponent(value.toWellFormed())
}
