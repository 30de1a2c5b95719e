/** Reproduces mistakes with the body: the right key over other bytes than those that were sent. */
import { type Bytes, binaryText, concatBytes, fromBinaryText, toBase64, utf8 } from '../hmac.ts'
import { type Variant, type Variants, variant } from './catalogue.ts'
import { jsonForms } from './json-forms.ts'

export interface SentBody {
  readonly bytes: Bytes
  /** With its byte order mark; null when the bytes are not UTF-8. */
  readonly text: string | null
  /** Null when unknown. */
  readonly url: string | null
}
type Body = string | Bytes

export function sentBody(bytes: Bytes, url: string | null): SentBody {
  try {
    return { bytes, url, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { bytes, url, text: null }
  }
}

export const BODIES = {
  'empty-body': () => [variant(''), variant('{}', 'of an empty object, as a body parser leaves it')],
  'stringified-object': () =>
    ['[object Object]', 'undefined', 'null', '[object Promise]'].map(text => variant(text, text)),
  newline: otherEnds,
  'byte-order-mark': ({ text }) =>
    text === null ? [] : [variant(`\ufeff${text}`, 'with'), variant(text.replace(/^\ufeff/, ''), 'without')],
  'line-endings': ({ text }) =>
    text === null
      ? []
      : [
          variant(text.replaceAll('\r\n', '\n'), 'LF instead of CRLF'),
          variant(text.replace(/\r?\n/g, '\r\n'), 'CRLF instead of LF'),
        ],
  'restringified-json': ({ text }) => (text === null ? [] : jsonForms(text)),
  'not-utf-8': asReplaced,
  latin1: asLatin1,
  ascii: asAscii,
  'utf-16': asUtf16,
  'unicode-form': ({ text }) =>
    text === null ? [] : (['NFC', 'NFD'] as const).map(form => variant(text.normalize(form), form)),
  'base64-body': ({ bytes, text }) => [variant(toBase64(bytes), 'encoded'), ...decodedBase64(text)],
  'url-and-body': ({ url, bytes }) => (url === null ? [] : [variant(concatBytes(utf8(url), bytes))]),
} satisfies Partial<Variants<SentBody, Body>>

function* otherEnds({ bytes }: SentBody): Iterable<Variant<Body>> {
  const binary = binaryText(bytes)
  const changed = (text: string, detail: string) => variant(fromBinaryText(text), detail)
  yield changed(binary.replace(/\r?\n$/, ''), 'without the newline at the end')
  yield changed(`${binary}\n`, 'with a newline at the end')
  yield changed(`${binary}\r\n`, 'with a carriage return and newline at the end')
  yield changed(binary.slice(0, endOf(binary)), 'trimmed at the end')
  yield changed(binary.slice(0, endOf(binary)).replace(/^[ \t\r\n]+/, ''), 'trimmed')
}

/** The start of the white space at the end; a regular expression would take quadratic time. */
function endOf(text: string): number {
  let end = text.length
  while (end > 0 && ' \t\r\n'.includes(text.charAt(end - 1))) end--
  return end
}

function decodedBase64(text: string | null): Variant<Body>[] {
  if (text === null || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return []
  return [variant(fromBinaryText(atob(text)), 'decoded')]
}

const BEYOND_ASCII = /[^\0-\x7f]/

function* asLatin1({ bytes, text }: SentBody): Iterable<Variant<Body>> {
  yield variant(binaryText(bytes), 'its bytes were read as Latin-1')
  if (text !== null && BEYOND_ASCII.test(text)) {
    yield variant(fromBinaryText(text), 'its text was written as Latin-1')
    yield variant(fromBinaryText(text.replace(/[^\0-\xff]/gu, '?')), 'its text was written as Latin-1')
  }
  yield variant(new TextDecoder('windows-1252').decode(bytes), 'its bytes were read as Windows-1252')
}

function* asAscii({ bytes, text }: SentBody): Iterable<Variant<Body>> {
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

/** `lowAt` is the place of the low byte: 0 for little endian, 1 for big endian. */
const utf16 = (text: string, lowAt: 0 | 1) =>
  Uint8Array.from({ length: text.length * 2 }, (_, at) => text.charCodeAt(at >> 1) >> (at % 2 === lowAt ? 0 : 8))

function* asUtf16({ text }: SentBody): Iterable<Variant<Body>> {
  if (text === null) return
  yield variant(utf16(text, 0), 'little endian')
  yield variant(utf16(text, 1), 'big endian')
}

/** The body after decoding replaced bytes that are not UTF-8. */
function* asReplaced({ bytes, text }: SentBody): Iterable<Variant<Body>> {
  if (text === null) yield variant(utf8(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)))
}
