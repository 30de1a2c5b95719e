/** Replaces `hmac.ts` in browsers, whose own hashes are asynchronous while signing is synchronous. */
import { hmac as keyed } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { HashName } from './hmac.ts'

const HASHES = { sha256, sha1, sha512 }

/** `content` is hashed as UTF-8. */
export function hmac(hash: HashName, key: string, content: string, encoding: 'base64' | 'hex'): string {
  const bytes = keyed(HASHES[hash], utf8ToBytes(key), utf8ToBytes(content))
  return encoding === 'hex' ? bytesToHex(bytes) : btoa(String.fromCharCode(...bytes))
}
