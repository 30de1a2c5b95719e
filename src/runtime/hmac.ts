/** Computes keyed hashes with Node's crypto. */
import { createHmac } from 'node:crypto'

export type HashName = 'sha256' | 'sha1' | 'sha512'

/** `content` is hashed as UTF-8. */
export const hmac = (hash: HashName, key: string, content: string, encoding: 'base64' | 'hex'): string =>
  createHmac(hash, key).update(content, 'utf8').digest(encoding)
