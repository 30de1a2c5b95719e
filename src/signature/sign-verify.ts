/** Signs webhooks as the platform does, and verifies the signature of one. */
import {
  ALGORITHM,
  ALGORITHM_HEADER,
  bodyBytes,
  type Keys,
  keyList,
  type RawBody,
  SIGNATURE_HEADER,
  type SignatureSource,
  valuesOf,
} from './arguments.ts'
import { type Bytes, computeHmac, fromSignature, importKey, isHmac, toBase64 } from './hmac.ts'

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
  return fitsAny(bytes, valuesOf(signature, SIGNATURE_HEADER), keys)
}

/** Verifies checked arguments. A header that is given twice is invalid, because it is unclear which value counts. */
export async function fitsAny(body: Bytes, values: readonly string[], keys: readonly string[]): Promise<boolean> {
  const [value] = values
  const mac = value !== undefined && values.length === 1 ? fromSignature(value) : null
  if (mac === null) return false
  const fits = await Promise.all(keys.map(async key => isHmac(await importKey(key), mac, body)))
  return fits.includes(true)
}
