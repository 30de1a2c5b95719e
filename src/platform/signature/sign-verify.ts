/** Signs webhooks as the platform does, and verifies the signature of one. */
import {
  ALGORITHM,
  ALGORITHM_HEADER,
  bodyBytes,
  type HeadersLike,
  headerValues,
  type Keys,
  keyList,
  type RawBody,
  SIGNATURE_HEADER,
  type SignatureSource,
} from './arguments.ts'
import { type Bytes, computeHmac, concatBytes, fromSignature, importKey, isHmac, toBase64 } from './hmac.ts'

/**
 * Returns the value of the signature header for exactly these bytes: the base64 HMAC-SHA-256 (A4).
 *
 * @throws TypeError for a body or key of another type.
 * @example
 * import { sign } from 'handover-sim/signature'
 *
 * const value = await sign('{"event":"MESSAGE FROM USER"}', 'sim-handover-key')
 */
export async function sign(body: RawBody, key: string): Promise<string> {
  const bytes = bodyBytes(body)
  const [only] = keyList(key)
  return toBase64(await computeHmac(await importKey(only), bytes))
}

/**
 * Returns the two headers of a signed webhook: the signature, and the name of its algorithm (A4).
 *
 * @throws TypeError for a body or key of another type.
 * @example
 * import { signatureHeaders } from 'handover-sim/signature'
 *
 * const body = JSON.stringify({ event: 'AGENT TYPING START', chat_id: 'c1' })
 * const headers = await signatureHeaders(body, 'sim-handover-key')
 * await fetch('http://127.0.0.1:3000/webhook', { method: 'POST', headers, body })
 */
export async function signatureHeaders(body: RawBody, key: string): Promise<Record<string, string>> {
  return { [SIGNATURE_HEADER]: await sign(body, key), [ALGORITHM_HEADER]: ALGORITHM }
}

/**
 * Resolves with true if the signature is that of this body, with the key or with one of several keys (A4). `body` must
 * be the raw bytes or text of the request, before any parsing. An invalid signature is false, never an error.
 *
 * The time does not depend on the signature: WebCrypto compares in constant time, and all keys are always tried.
 *
 * @throws TypeError for a body or key of another type.
 * @example
 * import { verify } from 'handover-sim/signature'
 *
 * const body = '{"event":"AGENT TYPING START","chat_id":"c1"}'
 * if (!(await verify(body, { 'kindly-hmac': 'c2lnbmF0dXJl' }, ['old-key', 'new-key']))) console.log('forged')
 */
export async function verify(body: RawBody, signature: SignatureSource, key: Keys): Promise<boolean> {
  const bytes = bodyBytes(body)
  const keys = keyList(key)
  return fitsAny(bytes, headerValues(signature, SIGNATURE_HEADER), keys)
}

/** Verifies checked arguments. A header that is given twice is invalid, because it is unclear which value counts. */
async function fitsAny(body: Bytes, values: readonly string[], keys: readonly string[]): Promise<boolean> {
  const [value] = values
  const mac = value !== undefined && values.length === 1 ? fromSignature(value) : null
  if (mac === null) return false
  const fits = await Promise.all(keys.map(async key => isHmac(await importKey(key), mac, body)))
  return fits.includes(true)
}

/** The parts of a `Request` that are used; requests of every runtime have them. */
export interface RequestLike {
  readonly headers: HeadersLike
  readonly bodyUsed: boolean
  readonly body: BodyStream | null
}

export interface BodyStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
    cancel(): Promise<unknown>
  }
}

export type VerifiedRequest =
  | { readonly ok: true; readonly body: string }
  | { readonly ok: false; readonly body: string; readonly reason: string }

export interface RequestLimits {
  /** The largest body in bytes, by default 1 MiB. A longer body is refused and not read to its end. */
  readonly maxBytes?: number
}

const MAX_BYTES = 1_048_576

/**
 * Reads the body of a webhook request and verifies its signature (A4). The result contains the body as text, also when
 * the signature is wrong, because a body can be read only once. `maxBytes` limits the body; default 1 MiB.
 *
 * @throws TypeError for a request without a readable body, such as one of Express: use `verify` there.
 * @example
 * import { verifyRequest } from 'handover-sim/signature'
 *
 * export async function webhook(request: Request): Promise<Response> {
 *   const verified = await verifyRequest(request, 'sim-handover-key')
 *   if (!verified.ok) return new Response(verified.reason, { status: 401 })
 *   const event = JSON.parse(verified.body)
 *   return new Response(event.event)
 * }
 */
export async function verifyRequest(
  request: RequestLike,
  key: Keys,
  { maxBytes = MAX_BYTES }: RequestLimits = {},
): Promise<VerifiedRequest> {
  const keys = keyList(key)
  checkRequest(request)
  const bytes = await readAll(request.body, maxBytes)
  if (typeof bytes === 'string') return { ok: false, body: '', reason: bytes }
  const body = new TextDecoder().decode(bytes)
  const values = headerValues(request.headers, SIGNATURE_HEADER)
  return (await fitsAny(bytes, values, keys)) ? { ok: true, body } : { ok: false, body, reason: reasonFor(values) }
}

/** Refuses requests of Express or node:http, whose body would be read as an empty one. */
function checkRequest({ body, bodyUsed }: RequestLike): void {
  if (body !== null && typeof body?.getReader !== 'function') throw new TypeError(NO_REQUEST)
  if (bodyUsed)
    throw new TypeError('request: its body was read already. Verify first, or pass request.clone() before reading it.')
}

const NO_REQUEST =
  'request: must be a Request as fetch handlers get it. For one of Express, Fastify or node:http: verify(rawBody, request.headers, key).'

/** The bytes of the body, or why it cannot be read. */
async function readAll(stream: BodyStream | null, maxBytes: number): Promise<Bytes | string> {
  const reader = stream?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  while (reader !== undefined) {
    const read = await reader.read().catch(() => null)
    if (read === null) return 'The connection ended before the body was complete.'
    if (read.done || read.value === undefined) break
    chunks.push(read.value)
    length += read.value.length
    if (length <= maxBytes) continue
    await reader.cancel().catch(() => {})
    return `The body is longer than ${maxBytes} bytes.`
  }
  return concatBytes(...chunks)
}

/** A short reason that costs little, because any sender can cause it. `explain` gives details. */
function reasonFor([value]: readonly string[]): string {
  if (value === undefined) return `The header ${SIGNATURE_HEADER} is missing.`
  if (fromSignature(value) === null) return `The header ${SIGNATURE_HEADER} is not the base64 of 32 bytes.`
  return 'The signature is not of this body with this key.'
}
