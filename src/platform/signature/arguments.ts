/** Reads the arguments of callers: raw bodies, keys and headers. */
import { type Bytes, utf8 } from './hmac.ts'

/** The body as it arrived, before anything parsed it. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** One key, or several while keys are being changed. */
export type Keys = string | readonly string[]

/** The bytes of a body, copied at once: a server may reuse its buffer while the key is imported. Throws a TypeError for a parsed body. */
export function bodyBytes(body: RawBody): Bytes {
  if (typeof body === 'string') return utf8(body)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice()
  // Checks the tag, not the class: a test runner or a frame may have an `ArrayBuffer` of its own.
  const tag = Object.prototype.toString.call(body)
  if (tag === '[object ArrayBuffer]' || tag === '[object SharedArrayBuffer]') return new Uint8Array(body).slice()

  const given: unknown = body
  const hasMethod = (method: string) => typeof Reflect.get(Object(given), method) === 'function'
  let hint = `A parsed body has lost its bytes: JSON that is written again has other bytes. How to get the raw body: ${RAW_BODY}.`
  if (given === undefined || given === null) hint = `No code has read it. How to get it: ${RAW_BODY}.`
  else if (hasMethod('then')) hint = 'Await it first.'
  else if (hasMethod('arrayBuffer')) hint = 'Pass what its arrayBuffer() resolves with.'
  throw new TypeError(`body: must be the raw body as it arrived, got ${describeType(given)}. ${hint}`)
}

const RAW_BODY = [
  "Express: express.raw({ type: '*/*' }) on this route, then request.body",
  "Fastify: addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body)), then request.body",
  'Next.js: await request.arrayBuffer() in the route handler',
  'Hono: await c.req.arrayBuffer()',
  'node:http: Buffer.concat of the chunks of the request',
].join('; ')

export function keyList(key: Keys): readonly [string, ...string[]] {
  const keys: readonly unknown[] = Array.isArray(key) ? key : [key]
  if (keys.length === 0) throw new TypeError('key: must be a key or a list of keys, got an empty list.')
  for (const key of keys)
    if (typeof key !== 'string' || key === '')
      throw new TypeError(
        `key: must be the API key as a text that is not empty, got ${describeType(key)}. Is the variable it comes from set?`,
      )
  return keys as readonly [string, ...string[]]
}

/** Describes the type of a value, never the value, because it may be the key. */
function describeType(value: unknown): string {
  if (value === '') return 'an empty text'
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'object') return `a ${typeof value}`
  const name = Object.getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `an object (${name})` : 'an object'
}

/** Its value is the base64 of HMAC-SHA256 over the raw body, keyed with the API key. */
export const SIGNATURE_HEADER = 'Kindly-HMAC'
/** Names the algorithm. Never select the algorithm by it, because an attacker could select a weak one. */
export const ALGORITHM_HEADER = 'Kindly-HMAC-algorithm'
export const ALGORITHM = 'HMAC-SHA-256 (base64 encoded)'

/** `Headers` of any runtime, and objects with the same `get` method. */
export interface HeadersLike {
  get(name: string): string | null | undefined
}

/** `request.headers` of node:http, Express, Fastify and others. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>

/** The value of the signature header, or an object that contains it: headers, or a request with `headers`. */
export type SignatureSource =
  | string
  | readonly string[]
  | null
  | undefined
  | HeadersLike
  | HeaderRecord
  | { readonly headers: HeadersLike | HeaderRecord }

/** All values of a header. Values that are not strings, which an attacker may cause, are ignored. */
export function headerValues(source: unknown, name: string): readonly string[] {
  let headers = source
  if (isObject(headers) && !hasGet(headers) && isObject(headers.headers)) headers = headers.headers
  const values: unknown[] = []
  if (!isObject(headers)) values.push(headers)
  else if (hasGet(headers)) values.push(headers.get(name))
  else
    for (const [key, value] of Object.entries(headers)) if (key.toLowerCase() === name.toLowerCase()) values.push(value)
  return values.flat().filter(value => typeof value === 'string')
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A header with the name `get` is a string, so an attacker cannot imitate this. */
const hasGet = (value: object): value is HeadersLike => 'get' in value && typeof value.get === 'function'
