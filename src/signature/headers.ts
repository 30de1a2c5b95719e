/** The two headers of a signed webhook, and where a caller may keep them. */

/** Its value is the base64 of HMAC-SHA256 over the raw body, keyed with the API key. */
export const SIGNATURE_HEADER = 'Kindly-HMAC'
/** Names the algorithm. Never choose the algorithm by it: whoever may choose one may choose a weak one. */
export const ALGORITHM_HEADER = 'Kindly-HMAC-algorithm'
export const ALGORITHM = 'HMAC-SHA-256 (base64 encoded)'

/** `Headers` of any runtime, and everything that is asked the same way. */
export interface HeadersLike {
  get(name: string): string | null | undefined
}

/** `request.headers` of node:http, Express, Fastify and others. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>

/** The value of the signature header, or what has it: headers, or a request with `headers`. */
export type SignatureSource =
  | string
  | readonly string[]
  | null
  | undefined
  | HeadersLike
  | HeaderRecord
  | { readonly headers: HeadersLike | HeaderRecord }

/** Each value given for a header. A value that is no text, which a stranger might arrange, is none. */
export function valuesOf(source: unknown, name: string): readonly string[] {
  if (!isObject(source)) return textsIn(source)
  const headers = !isAskable(source) && isObject(source.headers) ? source.headers : source
  if (isAskable(headers)) return textsIn(headers.get(name))
  const wanted = name.toLowerCase()
  return Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === wanted ? textsIn(value) : []))
}

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter(one => typeof one === 'string')

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A header called `get` is a text, so that no stranger can pass for this. */
const isAskable = (value: object): value is HeadersLike => 'get' in value && typeof value.get === 'function'
