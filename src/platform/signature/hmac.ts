/** Computes HMACs and hashes with WebCrypto, and writes bytes as base64 and hexadecimal. Imports nothing of Node. */

/** Taken from functions, because older versions of TypeScript and programs without types of the DOM have no other name for them. */
export type Bytes = ReturnType<InstanceType<typeof TextEncoder>['encode']>
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>
export type HashAlgorithm = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512'

const encoder = new TextEncoder()
export const utf8 = (text: string): Bytes => encoder.encode(text)

/** The same key as an empty one, because HMAC pads keys with zeros; WebCrypto does not import empty keys. */
const NO_KEY: Bytes = new Uint8Array(1)

export function importKey(key: string | Bytes, hash: HashAlgorithm = 'SHA-256'): Promise<Key> {
  const bytes = typeof key === 'string' ? utf8(key) : key
  const usable = bytes.length === 0 ? NO_KEY : bytes
  return subtle().importKey('raw', usable, { name: 'HMAC', hash }, false, ['sign', 'verify'])
}

export const computeHmac = async (key: Key, content: Bytes): Promise<Bytes> =>
  new Uint8Array(await subtle().sign('HMAC', key, content))

/** Whether `mac` is the HMAC of the content. WebCrypto compares in constant time. */
export const isHmac = (key: Key, mac: Bytes, content: Bytes): Promise<boolean> =>
  subtle().verify('HMAC', key, mac, content)

export const digest = async (hash: HashAlgorithm, content: Bytes): Promise<Bytes> =>
  new Uint8Array(await subtle().digest(hash, content))

export function concatBytes(...parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function subtle(): SubtleCrypto {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined
  if (subtle !== undefined) return subtle
  throw new Error(
    'crypto.subtle is not available. It needs Node 20 or newer, another current runtime, or a page served over https.',
  )
}

/** One character per byte; in pieces, because the number of arguments of a call is limited. */
export function binaryText(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE))
  return text
}
const PIECE = 8192

/** The low byte of each UTF-16 unit, like `latin1` in Node. */
export function fromBinaryText(text: string): Bytes {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}

export const toBase64 = (bytes: Uint8Array): string => btoa(binaryText(bytes))

export const toHex = (bytes: Bytes): string => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')

/** 32 bytes as base64. The last letter holds only four bits, so no other text encodes the same bytes. */
const SIGNATURE = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

/** The bytes of a signature; null for any other text. `atob` alone would accept white space and unused bits. */
export const fromSignature = (text: string): Bytes | null => (SIGNATURE.test(text) ? fromBinaryText(atob(text)) : null)
