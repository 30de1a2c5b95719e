/** Lists the mistakes with the body: the right key over other bytes than those that were sent. */
import { type Bytes, binaryText, concatBytes, fromBinaryText, toBase64, utf8 } from '../hmac.ts'
import { jsonForms } from './json-forms.ts'
import { type SignatureMistake, type Variant, variant } from './mistake.ts'

/** A body, and the URL it was sent to; null when unknown. */
export interface SentBody extends BodyInput {
  readonly url: string | null
}
type Body = string | Bytes

const RAW = 'Sign and verify the raw bytes as they travel, before anything parses or decodes them.'

export const BODIES = [
  {
    id: 'empty-body',
    says: 'The signature is that of an empty body',
    fix: 'The body was already consumed, or never read, where the HMAC is made: a body parser ran first, or await is missing. Get the raw body there.',
    variants: () => [variant(''), variant('{}', 'of an empty object, as a body parser leaves it')],
  },
  {
    id: 'stringified-object',
    says: 'The signature is that of a text a parsed body turned into',
    fix: `An object was put where bytes belong. ${RAW}`,
    variants: () => ['[object Object]', 'undefined', 'null', '[object Promise]'].map(text => variant(text, text)),
  },
  {
    id: 'newline',
    says: 'The signature is of the body with other white space at its ends',
    fix: 'Leave the body untrimmed and add nothing: echo and text editors add a newline, trim() and templates remove one.',
    variants: otherEnds,
  },
  {
    id: 'byte-order-mark',
    says: 'The signature is of the body with or without a byte order mark',
    fix: 'Use the bytes as they are: decoders such as response.text() drop the mark, and some editors add one.',
    variants: ({ text }) =>
      text === null ? [] : [variant(`\ufeff${text}`, 'with'), variant(text.replace(/^\ufeff/, ''), 'without')],
  },
  {
    id: 'line-endings',
    says: 'The signature is of the body with other line endings',
    fix: 'Handle the body as bytes: text mode, git and form encoders change line endings.',
    variants: ({ text }) =>
      text === null
        ? []
        : [
            variant(text.replaceAll('\r\n', '\n'), 'LF instead of CRLF'),
            variant(text.replace(/\r?\n/g, '\r\n'), 'CRLF instead of LF'),
          ],
  },
  {
    id: 'restringified-json',
    says: 'The signature is of the same JSON written again',
    fix: `${RAW} Parsing JSON and writing it again gives other bytes.`,
    variants: ({ text }) => (text === null ? [] : jsonForms(text)),
  },
  {
    id: 'not-utf-8',
    says: 'The body has bytes that are not UTF-8, and the signature is of the text they became',
    fix: `${RAW} Such bytes do not survive being a string.`,
    variants: asReplaced,
  },
  {
    id: 'latin1',
    says: 'The signature is of the body in Latin-1',
    fix: `${RAW} Where it must be text, it is UTF-8: see the encoding given to setEncoding, toString or getBytes.`,
    variants: asLatin1,
  },
  {
    id: 'ascii',
    says: 'The signature is of the body in ASCII',
    fix: `${RAW} Where it must be text, it is UTF-8: ASCII has no letters beyond a to z.`,
    variants: asAscii,
  },
  {
    id: 'utf-16',
    says: 'The signature is of the body in UTF-16',
    fix: 'Encode the body as UTF-8: Encoding.UTF8, not Encoding.Unicode, in .NET.',
    variants: asUtf16,
  },
  {
    id: 'unicode-form',
    says: 'The signature is of the body in another Unicode normal form',
    fix: 'Do not normalize the body before signing or verifying it: é may be one character or two.',
    variants: ({ text }) =>
      text === null ? [] : (['NFC', 'NFD'] as const).map(form => variant(text.normalize(form), form)),
  },
  {
    id: 'base64-body',
    says: 'The signature is of the body encoded or decoded as base64',
    fix: 'Gateways hand over bodies as base64 (isBase64Encoded): decode first, then verify the bytes.',
    variants: ({ bytes, text }) => [variant(toBase64(bytes), 'encoded'), ...decodedBase64(text)],
  },
  {
    id: 'url-and-body',
    says: 'The signature is of the URL and the body, not of the body alone',
    fix: 'Sign the body alone. If a simulator signs so, its knob webhook.signedContent says it.',
    variants: ({ url, bytes }) => (url === null ? [] : [variant(concatBytes(utf8(url), bytes))]),
  },
] as const satisfies readonly SignatureMistake<SentBody, Body>[]

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

export interface BodyInput {
  readonly bytes: Bytes
  /** With its byte order mark; null when the bytes are not UTF-8. */
  readonly text: string | null
}

export function bodyInput(bytes: Bytes): BodyInput {
  try {
    return { bytes, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { bytes, text: null }
  }
}

const BEYOND_ASCII = /[^\0-\x7f]/

function* asLatin1({ bytes, text }: BodyInput): Iterable<Variant<Body>> {
  yield variant(binaryText(bytes), 'its bytes were read as Latin-1')
  if (text !== null && BEYOND_ASCII.test(text)) {
    yield variant(fromBinaryText(text), 'its text was written as Latin-1')
    yield variant(fromBinaryText(text.replace(/[^\0-\xff]/gu, '?')), 'its text was written as Latin-1')
  }
  yield variant(new TextDecoder('windows-1252').decode(bytes), 'its bytes were read as Windows-1252')
}

function* asAscii({ bytes, text }: BodyInput): Iterable<Variant<Body>> {
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

function* asUtf16({ text }: BodyInput): Iterable<Variant<Body>> {
  if (text === null) return
  yield variant(utf16(text, 0), 'little endian')
  yield variant(utf16(text, 1), 'big endian')
}

/** The body after decoding replaced bytes that are not UTF-8. */
function* asReplaced({ bytes, text }: BodyInput): Iterable<Variant<Body>> {
  if (text === null) yield variant(utf8(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)))
}
