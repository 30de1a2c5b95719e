/** Signs webhooks as the platform does, and verifies the signature of one. */
import {
  ALGORITHM,
  ALGORITHM_HEADER,
  bodyBytes,
  type Keys,
  keysOf,
  type RawBody,
  SIGNATURE_HEADER,
  type SignatureSource,
  valuesOf,
} from './arguments.ts'
import { type Bytes, computeHmac, fromSignature, importKey, isHmac, toBase64 } from './hmac.ts'

/** The value of the signature header for exactly this body. */
export async function sign(body: RawBody, key: string): Promise<string> {
  const bytes = bodyBytes(body)
  const [only] = keysOf(key)
  return toBase64(await computeHmac(await importKey(only!), bytes))
}

/** Both headers a signed webhook has. */
export async function signatureHeaders(body: RawBody, key: string): Promise<Record<string, string>> {
  return { [SIGNATURE_HEADER]: await sign(body, key), [ALGORITHM_HEADER]: ALGORITHM }
}

/**
 * True when the signature is that of this body with this key, or with one of several. Whatever a stranger sends is
 * true or false, never an error; a key or body no program should pass is a TypeError.
 *
 * The time it takes tells nothing about the right signature: only the given text is read here, whose form a stranger
 * knows anyway, and the right one never leaves WebCrypto, whose `verify` compares in constant time. No key ends the
 * work early, so neither does it tell which one fits.
 */
export async function verify(body: RawBody, signature: SignatureSource, key: Keys): Promise<boolean> {
  const bytes = bodyBytes(body)
  const keys = keysOf(key)
  return fitsAny(bytes, valuesOf(signature, SIGNATURE_HEADER), keys)
}

/** For arguments that are known to be right. A header given twice is no signature: which one would hold? */
export async function fitsAny(body: Bytes, values: readonly string[], keys: readonly string[]): Promise<boolean> {
  const mac = values.length === 1 ? fromSignature(values[0]!) : null
  if (mac === null) return false
  const fits = await Promise.all(keys.map(async key => isHmac(await importKey(key), mac, body)))
  return fits.includes(true)
}
