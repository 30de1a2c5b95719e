/** Signing of webhook bodies (A4, `webhook.signature`). Pure: the same key, bytes and settings give the same headers. */
import type { Knobs } from '../contract/knobs.ts'
import { type HashName, hmac } from '../runtime/hmac.ts'

const ALGORITHM_NAMES: Record<HashName, string> = { sha256: 'HMAC-SHA-256', sha1: 'HMAC-SHA-1', sha512: 'HMAC-SHA-512' }

export type SignatureKnobs = Pick<
  Knobs,
  | 'webhook.signature'
  | 'webhook.signatureHeader'
  | 'webhook.algorithmHeader'
  | 'webhook.algorithm'
  | 'webhook.signedContent'
>

/** The two signature headers for exactly this body; none when signing is off. */
export function signatureHeaders(
  key: string,
  body: string,
  url: string,
  knobs: SignatureKnobs,
): Record<string, string> {
  const encoding = knobs['webhook.signature']
  if (encoding === 'off') return {}
  const algorithm = knobs['webhook.algorithm']
  const content = knobs['webhook.signedContent'] === 'body' ? body : url + body
  return {
    [knobs['webhook.signatureHeader']]: hmac(algorithm, key, content, encoding),
    [knobs['webhook.algorithmHeader']]: `${ALGORITHM_NAMES[algorithm]} (${encoding} encoded)`,
  }
}
