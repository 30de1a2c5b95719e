/**
 * Measures entries, and stores long request bodies as bytes: a parsed body of many small values takes twenty times
 * their memory.
 */
import { decodeUtf8 } from '../../base/runtime/encoding.ts'
import type { ApiContent, EntryContent } from './entry.ts'

/** A longer body is stored as bytes, and shown as its beginning. */
export const SHOWN_BODY_BYTES = 65_536

/** The memory of an entry beside its bodies and texts, of a value in a parsed body, and of a character. */
const ENTRY_BYTES = 1024
const VALUE_BYTES = 64

/** The estimated memory of a parsed body with so many values. */
export const sizeOfParsed = (bytes: number, values: number): number => bytes + values * VALUE_BYTES

/** The estimated memory of an entry in bytes. */
export const sizeOfEntry = (content: EntryContent): number => ENTRY_BYTES + sizeOf(content)

/** As `sizeOfEntry`, for an entry with so many values, and so many characters in its texts. */
export const sizeOfValues = (values: number, characters: number): number =>
  ENTRY_BYTES + values * VALUE_BYTES + characters

/** As `sizeOfEntry`, for a call whose bodies have a known size. */
export const sizeOfCall = (
  path: string,
  headers: Request['headers'],
  findings: ApiContent['findings'],
  bodySize: number,
): number => ENTRY_BYTES + bodySize + path.length + sizeOfHeaders(headers) + (findings.length && sizeOf(findings))

let latestHeaders: Request['headers'] = {}
let latestSize = 0

/** Calls in a row often have the same headers. */
function sizeOfHeaders(headers: Request['headers']): number {
  if (headers !== latestHeaders) {
    latestSize = sizeOfTexts(headers)
    latestHeaders = headers
  }
  return latestSize
}

/** As `sizeOf`, for every call and delivery. */
export function sizeOfTexts(texts: Readonly<Record<string, string>>): number {
  let size = 0
  for (const name in texts) size += VALUE_BYTES + (texts[name]?.length ?? 0)
  return size
}

const DEEPEST = 64

/** The estimated memory of plain data in bytes. */
export function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return 0
  let size = 0
  for (const key in value) size += VALUE_BYTES + sizeOf(Reflect.get(value, key), depth + 1)
  return size
}

type Request = ApiContent['request']

const bytesOf = new WeakMap<() => unknown, Uint8Array>()

/** A request whose body is parsed when it is read, because its bytes take less memory. */
export function longRequest(headers: Request['headers'], bytes: Uint8Array): Request {
  let parsed: WeakRef<object> | null = null
  const read = (): unknown => {
    const known = parsed?.deref()
    if (known !== undefined) return known
    const body: object = JSON.parse(decodeUtf8(bytes))
    parsed = new WeakRef(body)
    return body
  }
  bytesOf.set(read, bytes)
  return Object.defineProperty({ headers, body: null, bytes: bytes.length }, 'body', { get: read, enumerable: true })
}

/** The bytes of a body that is parsed when it is read. */
export function bytesOfBody(request: Request): Uint8Array | undefined {
  const get = readerOf(request)
  return get && bytesOf.get(get)
}

const readerOf = (request: Request) => Object.getOwnPropertyDescriptor(request, 'body')?.get

/** The same request with other headers. A body that is parsed when it is read stays so. */
export function withHeaders(request: Request, headers: Request['headers']): Request {
  const get = readerOf(request)
  if (get === undefined) return { ...request, headers }
  const { bytes } = request
  return Object.defineProperty({ headers, body: null, bytes }, 'body', { get, enumerable: true })
}
