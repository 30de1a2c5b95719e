/** Verifies a whole `Request`, for fetch handlers. */
import { type HeadersLike, type Keys, keyList, SIGNATURE_HEADER, valuesOf } from './arguments.ts'
import { type Bytes, concatBytes, fromSignature } from './hmac.ts'
import { fitsAny } from './sign-verify.ts'

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
  const values = valuesOf(request.headers, SIGNATURE_HEADER)
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
