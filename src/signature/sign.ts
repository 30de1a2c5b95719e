/** Signing as the platform does, for tests that send webhooks. */
import { bytesOf, keysOf, type RawBody } from './arguments.ts'
import { toBase64 } from './encoding.ts'
import { ALGORITHM, ALGORITHM_HEADER, SIGNATURE_HEADER } from './headers.ts'
import { hmac, importKey } from './hmac.ts'

/** The value of the signature header for exactly this body. */
export async function sign(body: RawBody, key: string): Promise<string> {
  const bytes = bytesOf(body)
  const [only] = keysOf(key)
  return toBase64(await hmac(await importKey(only!), bytes))
}

/** Both headers a signed webhook has. */
export async function signatureHeaders(body: RawBody, key: string): Promise<Record<string, string>> {
  return { [SIGNATURE_HEADER]: await sign(body, key), [ALGORITHM_HEADER]: ALGORITHM }
}
