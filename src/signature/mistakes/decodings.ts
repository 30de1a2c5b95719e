/** What becomes of a body that is read or written in the wrong character set. */
import { binaryText, fromBinaryText } from '../encoding.ts'
import { type Bytes, utf8 } from '../hmac.ts'
import { type Variant, variant } from './row.ts'

export interface BodyInput {
  readonly bytes: Bytes
  /** With its byte order mark; null when the bytes are not UTF-8. */
  readonly text: string | null
}
type Body = string | Bytes

export function bodyInput(bytes: Bytes): BodyInput {
  try {
    return { bytes, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { bytes, text: null }
  }
}

const BEYOND_ASCII = /[^\0-\x7f]/

export function* asLatin1({ bytes, text }: BodyInput): Iterable<Variant<Body>> {
  yield variant(binaryText(bytes), 'its bytes were read as Latin-1')
  if (text !== null && BEYOND_ASCII.test(text)) {
    yield variant(fromBinaryText(text), 'its text was written as Latin-1')
    yield variant(fromBinaryText(text.replace(/[^\0-\xff]/gu, '?')), 'its text was written as Latin-1')
  }
  yield variant(new TextDecoder('windows-1252').decode(bytes), 'its bytes were read as Windows-1252')
}

export function* asAscii({ bytes, text }: BodyInput): Iterable<Variant<Body>> {
  const binary = binaryText(bytes)
  if (!BEYOND_ASCII.test(binary)) return
  yield variant(binary.replace(/[\x80-\xff]/g, dropHighBit), 'the highest bit of each byte was dropped')
  yield variant(binary.replace(/[\x80-\xff]/g, '\ufffd'), 'each byte of other letters became U+FFFD')
  if (text === null) return
  yield variant(text.replace(/[^\0-\x7f]/g, '?'), 'each other letter became a question mark')
  yield variant(text.replace(/[^\0-\x7f]/gu, '?'), 'each other letter became a question mark')
  yield variant(text.replace(/[^\0-\x7f]/g, ''), 'other letters were left out')
}

const dropHighBit = (char: string) => String.fromCharCode(char.charCodeAt(0) & 0x7f)

export function* asUtf16({ text }: BodyInput): Iterable<Variant<Body>> {
  if (text === null) return
  const little = Uint8Array.from({ length: text.length * 2 }, (_, at) => text.charCodeAt(at >> 1) >> (at % 2 ? 8 : 0))
  yield variant(little, 'little endian')
  yield variant(
    little.map((_, at) => little[at ^ 1]!),
    'big endian',
  )
}

/** Bytes that are not UTF-8 do not survive being a string. */
export function* asReplaced({ bytes, text }: BodyInput): Iterable<Variant<Body>> {
  if (text === null) yield variant(utf8(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)))
}
