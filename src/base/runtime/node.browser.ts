/** Replaces `node.ts` in browsers. */
import { hmac as keyed } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { sha256 as hash256, sha512 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { HashName } from './node.ts'

/** Of noble, because the hashes of browsers are asynchronous while signing is synchronous. */
const HASHES = { sha256: hash256, sha1, sha512 }

/** `content` is hashed as UTF-8. */
export function hmac(hash: HashName, key: string, content: string, encoding: 'base64' | 'hex'): string {
  const bytes = keyed(HASHES[hash], utf8ToBytes(key), utf8ToBytes(content))
  return encoding === 'hex' ? bytesToHex(bytes) : btoa(String.fromCharCode(...bytes))
}

export const sha256 = (bytes: Uint8Array): string => bytesToHex(hash256(bytes))

/** A secret. */
export const randomToken = (): string => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(24))))

/** Loads a user's own module by its URL, relative to the page. */
export const loadModule = (path: string): Promise<Record<string, unknown>> =>
  import(/* @vite-ignore */ new URL(path, document.baseURI).href)

export const createAbort = (): AbortController => new AbortController()

/** A browser has no files of the package. */
export const packagePath = (_name: string): string | null => null

export function replaceFile(_path: string, _text: Iterable<string>, _mode?: number): void {
  throw new Error('A browser has no files.')
}
