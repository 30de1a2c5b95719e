/** Calls the nine endpoints with types and checks every answer against the contract. */

import { expect } from 'vitest'
import type * as z from 'zod/mini'
import type { Alias, EndpointId } from '../../src/platform/contract/endpoint-routes.ts'
import { ENDPOINTS, ErrorBody } from '../../src/platform/contract/index.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { responseProblems, schemaProblems } from './contract-checks.ts'

type BodyOf<Id extends EndpointId> = z.infer<(typeof ENDPOINTS)[Id]['response']>

/** `body` is the documented body on success; otherwise it has `error`. */
export interface Reply<Body = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body & Partial<ErrorBody>
}

export interface CallOptions {
  /** Replaces the right key of the endpoint; null sends no Authorization header. */
  readonly key?: string | null
  readonly alias?: Alias
  /** Replaces the whole path of the endpoint. */
  readonly path?: string
  readonly headers?: Record<string, string>
}

type Fields = Readonly<Record<string, unknown>>

export interface Api {
  /** Adds the simulator's `bot_id` unless the body has one. */
  call<Id extends EndpointId>(id: Id, body: Fields, options?: CallOptions): Promise<Reply<BodyOf<Id>>>
  transcript(body: Fields, options?: CallOptions): Promise<Reply<BodyOf<'transcript'>>>
  summarize(body: Fields, options?: CallOptions): Promise<Reply<BodyOf<'summarize'>>>
  availability(body: Fields, options?: CallOptions): Promise<Reply<BodyOf<'availability'>>>
  start(body: Fields, options?: CallOptions): Promise<Reply<BodyOf<'start'>>>
  end(body: Fields, options?: CallOptions): Promise<Reply<BodyOf<'end'>>>
  message(body: Fields, options?: CallOptions): Promise<Reply<BodyOf<'message'>>>
  typingStart(body: Fields, options?: CallOptions): Promise<Reply<BodyOf<'typing_start'>>>
  typingStop(body: Fields, options?: CallOptions): Promise<Reply<BodyOf<'typing_stop'>>>
  chat(chatId: string, options?: CallOptions): Promise<Reply<BodyOf<'chat'>>>
}

export const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

export function pathFor(id: EndpointId, alias: Alias = 'handover'): string {
  return ENDPOINTS[id].path.replace('/handover/', `/${alias}/`)
}

export type Send = (path: string, init?: RequestInit) => Promise<Response>

export function api(sim: PlatformSimulator, send: Send): Api {
  const call = async <Id extends EndpointId>(id: Id, fields: Fields, options: CallOptions = {}) => {
    const body = id === 'availability' ? fields : { bot_id: sim.botId, ...fields }
    const init = { method: 'POST', headers: headersFor(sim.apiKey, options), body: encode(JSON.stringify(body)) }
    const response = await send(options.path ?? pathFor(id, options.alias), init)
    return checked(id, response)
  }
  const read = async (chatId: string, options: CallOptions = {}) => {
    const { authorization } = headersFor(sim.botApiKey, options)
    const headers = { ...(authorization === undefined ? {} : { authorization }), ...options.headers }
    const path = options.path ?? `/api/v1/chats/${encodeURIComponent(chatId)}`
    return checked('chat', await send(path, { headers }))
  }
  const post =
    <Id extends EndpointId>(id: Id) =>
    (body: Fields, options?: CallOptions) =>
      call(id, body, options)
  return {
    call,
    transcript: post('transcript'),
    summarize: post('summarize'),
    availability: post('availability'),
    start: post('start'),
    end: post('end'),
    message: post('message'),
    typingStart: post('typing_start'),
    typingStop: post('typing_stop'),
    chat: read,
  }
}

function headersFor(usualKey: string, { key = usualKey, headers }: CallOptions): Record<string, string> {
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  return { 'content-type': 'application/json', ...authorization, ...headers }
}

/** Reads an answer and fails the test when it differs from the contract. */
export async function checked<Id extends EndpointId>(id: Id, response: Response): Promise<Reply<BodyOf<Id>>> {
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('application/json')) {
    expect(response.ok, `${id} confirmed without JSON: ${text}`).toBe(false)
    return { status: response.status, headers: response.headers, body: { text } as never }
  }
  const body = JSON.parse(text) as BodyOf<Id> & Partial<ErrorBody>
  const schema = (response.ok ? ENDPOINTS[id].response : ErrorBody) as z.ZodMiniType
  expect(schemaProblems(schema, body), `the answer ${response.status} of ${id}: ${text}`).toEqual([])
  expect(responseProblems(id, response.status, body), text).toEqual([])
  return { status: response.status, headers: response.headers, body }
}
