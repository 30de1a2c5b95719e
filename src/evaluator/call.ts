/** Describes a call of the intermediary, read from its entry in the journal. */

import { ENDPOINTS, type EndpointId } from '../contract/endpoints.ts'
import { isMap } from '../files/is-map.ts'
import type { EntryOf } from '../journal/entry.ts'
import type { CallRef } from './near-miss.ts'

export interface Call {
  readonly seq: number
  /** When the request was fully read, on `at_ms`. */
  readonly readAt: number
  /** When it was answered. */
  readonly atMs: number
  /** Null: no path of the platform. */
  readonly endpoint: EndpointId | null
  readonly chatId: string | null
  /** Parsed even where the platform refused the call before it read the body. */
  readonly body: unknown
  readonly entry: EntryOf<'api'>
}

/** Downloads of attachments are not calls of the protocol. */
const FILES = '/files/'

export const isCall = (entry: EntryOf<'api'>): boolean => !(entry.endpoint === null && entry.path.startsWith(FILES))

export function callOf(entry: EntryOf<'api'>): Call {
  const body = bodyOf(entry)
  const inBody = isMap(body) ? body.chat_id : undefined
  return {
    seq: entry.seq,
    readAt: entry.at_ms - entry.duration_ms,
    atMs: entry.at_ms,
    endpoint: entry.endpoint,
    chatId: entry.chat_id ?? (typeof inBody === 'string' ? inBody : null),
    body,
    entry,
  }
}

/** A body that the platform did not parse, because it refused the key first, is a text in the journal. */
function bodyOf({ request: { body } }: EntryOf<'api'>): unknown {
  if (typeof body !== 'string') return body ?? {}
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** Calls are ordered by when they were read, not by when they were answered. */
export const isLater = (one: Call, other: Call): boolean =>
  one.readAt === other.readAt ? one.seq > other.seq : one.readAt > other.readAt

/** Puts it where it belongs; nearly always last. */
export function insert(calls: Call[], call: Call): void {
  const before = calls.findLastIndex(one => !isLater(one, call))
  calls.splice(before + 1, 0, call)
}

export const callReference = ({ seq, endpoint, entry: { method, path } }: Call): CallRef => ({
  seq,
  endpoint,
  method,
  path,
})

export const ruleOf = (endpoint: EndpointId | null): string => (endpoint === null ? 'W7' : ENDPOINTS[endpoint].rule)

/** What `capture` reads. */
export const capturable = ({ body, endpoint, entry }: Call) => ({
  body,
  response: entry.response,
  status: entry.status,
  endpoint,
  alias: entry.alias,
  method: entry.method,
  path: entry.path,
  headers: entry.request.headers,
})
