/** Bytes as base64 and hexadecimal, and the one text of a signature that is read back. */
import type { Bytes } from './hmac.ts'

/** One character per byte. In pieces, because a call takes only so many arguments. */
export function binaryText(bytes: Bytes): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE))
  return text
}
const PIECE = 8192

/** The low byte of each UTF-16 unit, as Node's `latin1`. */
export function fromBinaryText(text: string): Bytes {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}

export const toBase64 = (bytes: Bytes): string => btoa(binaryText(bytes))

export const toHex = (bytes: Bytes): string => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')

/** 32 bytes as base64. The last letter holds only four bits, so that no other text stands for the same bytes. */
const SIGNATURE = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

/** The bytes of a signature; null for any other text. `atob` alone would let white space and stray bits pass. */
export const fromSignature = (text: string): Bytes | null => (SIGNATURE.test(text) ? fromBinaryText(atob(text)) : null)
