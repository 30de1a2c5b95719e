/** Calls the help desk over HTTP for one verb. Does not repeat the call, and follows no redirect. */

import { type Agent, request } from 'undici'
import { isSuccess } from '../../base/http-status.ts'
import { connectionFailure } from '../../base/runtime/connection-failure.ts'
import { isError, systemCodeOf } from '../../base/text/error-text.ts'
import {
  asText,
  type InterpolationScope,
  interpolate,
  lookUp,
  PLACEHOLDER,
} from '../../evaluation/scenario/interpolation.ts'
import { CallError, type CallOutcome, failed, MAX_CHARS, startOf, unreachable, withTimeLimit } from './call-outcome.ts'
import type { HttpVerb } from './driver.ts'

/**
 * The connections of a driver: a new one for each call, because a call is not repeated and the help desk may close a kept
 * one at that moment. The time limit of the verb is the only one.
 */
export const CONNECTIONS: Agent.Options = { pipelining: 0, headersTimeout: 0, bodyTimeout: 0 }

/** Fails after the time limit of the verb, and when `signal` aborts. */
export async function callHttp(
  verb: HttpVerb,
  scope: InterpolationScope,
  agent: Agent,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const { method, json, timeoutMs } = verb
  const address = fillAddress(verb, scope)
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return failed({ code: 'not_an_address', address })
  const headers: Record<string, string> = json === undefined ? {} : { 'content-type': 'application/json' }
  for (const [name, text] of Object.entries(verb.headers)) headers[name] = String(interpolate(text, scope))
  const body = json === undefined ? null : JSON.stringify(interpolate(json, scope))
  return withTimeLimit({ timeoutMs, call: 'http', signal }, async inner => {
    try {
      const response = await request(address, { dispatcher: agent, method, headers, body, signal: inner })
      const status = response.statusCode
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of response.body) {
        chunks.push(chunk)
        size += chunk.length
        if (size > MAX_CHARS) return { ...failed({ code: 'too_long', status }), status }
      }
      const text = Buffer.concat(chunks).toString('utf8')
      if (isSuccess(status)) return { outcome: 'ok', status, text }
      const { location } = response.headers
      const redirect = location === undefined ? {} : { location: String(location) }
      return { ...failed({ code: 'status', status, ...redirect, body: startOf(text) }), status, text }
    } catch (error) {
      if (isError(error) && systemCodeOf(error) === 'UND_ERR_INVALID_ARG')
        return failed({ code: 'not_sendable', detail: error.message })
      const failure = connectionFailure(error, new URL(address).host)
      // An answer that is not HTTP comes from a program, so the help desk is reachable.
      return failure.code === 'not_http' ? failed(failure) : unreachable(failure)
    }
  })
}

/** Interpolates `base` as it is. Percent-encodes what stands in `path`, so that an id cannot lead to another address. */
export function fillAddress({ base, path }: { base: string; path: string }, scope: InterpolationScope): string {
  const encoded = path.replace(PLACEHOLDER, (_, name: string | undefined) => {
    if (name === undefined) return '$('
    const value = asText(lookUp(name, scope))
    // Clients resolve a segment of dots as a step in the path, also when it is percent-encoded.
    if (/^\.\.?$/.test(value)) throw new CallError({ code: 'unsafe_path_value', name, value })
    return encodeURIComponent(value.toWellFormed())
  })
  return asText(interpolate(base, scope)).replace(/\/+$/, '') + encoded
}
