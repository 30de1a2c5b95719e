/** Lists the known mistakes of signing code, and reproduces those with the key, the hash and the body. */

import {
  type Bytes,
  binaryText,
  computeHmac,
  concatBytes,
  digest,
  fromBinaryText,
  type HashAlgorithm,
  importKey,
  toBase64,
  utf8,
} from './hmac.ts'

/** What is wrong: a sentence without its full stop, because a detail may follow. */
export const MISTAKE_TEXTS = {
  right: 'The signature is valid',
  'missing-header': 'The Kindly-HMAC header is missing',
  'repeated-header': 'The Kindly-HMAC header occurs more than once',
  'empty-signature': 'The signature is empty',
  'too-long': 'The signature is much longer than the 44 characters of a valid one',
  'key-as-signature': 'The signature header contains the key itself',
  'not-base64': 'The signature is not base64',
  'wrong-length': 'The signature is base64 of a wrong length',
  whitespace: 'The signature contains white space',
  quoted: 'The signature is enclosed in quotation marks',
  prefix: 'The signature has a prefix',
  'extra-text': 'The header has other text beside the signature',
  'letter-case': 'The letter case of the signature was changed',
  truncated: 'The signature is truncated',
  unknown: 'The signature does not match this body and key, and no known mistake explains it',
  hex: 'The signature is hexadecimal instead of base64',
  unpadded: 'The signature lacks the = at its end',
  base64url: 'The signature is base64url (with - and _) instead of base64 (with + and /)',
  doubled: 'The signature was encoded twice',
  'url-encoding': 'The signature was URL-encoded or URL-decoded',
  'other-key': 'The signature was made with another key',
  'key-whitespace': 'The signature was made with a key that differs in white space at its start or end',
  'key-prefix': 'The signature was made with a key that differs in the prefix Bearer',
  'key-quotes': 'The signature was made with a key that differs in quotation marks around it',
  'key-encoding': 'The signature was made with an encoded or decoded key',
  'key-unset': 'The signature was made without a key',
  'empty-body': 'The signature was made over an empty body',
  'stringified-object': 'The signature was made over a parsed body that was converted to text',
  newline: 'The signature was made over a body with other white space at its start or end',
  'byte-order-mark': 'The signature was made over a body that differs in the byte order mark',
  'restringified-json': 'The signature was made over the same JSON, parsed and serialized again',
  'not-utf-8': 'The body is not valid UTF-8, and the signature was made over the text it was decoded to',
  latin1: 'The signature was made over the body in Latin-1',
  ascii: 'The signature was made over the body in ASCII',
  'utf-16': 'The signature was made over the body in UTF-16',
  'unicode-form': 'The signature was made over the body in another Unicode normalization form',
  'base64-body': 'The signature was made over the body encoded or decoded as base64',
  'url-and-body': 'The signature was made over URL and body instead of the body alone',
  'other-algorithm': 'The signature was made with another algorithm',
  'plain-hash': 'The signature is a plain hash, not an HMAC',
  swapped: 'The signature was made with key and body swapped',
} as const

/** The id of a mistake; `right` when there is none. */
export type MistakeId = keyof typeof MISTAKE_TEXTS

const RAW = 'Sign and verify the raw bytes of the request, before any parsing or decoding.'

/** How to fix a mistake. */
export const FIX_TEXTS: Readonly<Record<MistakeId, string>> = {
  right: '',
  'missing-header':
    "Read the header without regard to case: request.headers['kindly-hmac'] in Node, request.headers.get('Kindly-HMAC') elsewhere. If it is still missing, a proxy or gateway in front of your server removes it.",
  'repeated-header':
    'A proxy or gateway in front of your server duplicates headers: configure it to pass each header once. Do not select one of the values.',
  'empty-signature':
    'The sender must set Kindly-HMAC to the base64 of the HMAC. If it does, find out what overwrites the header on the way.',
  'too-long': 'Check whether the code reads another header, or the body, as the signature.',
  'key-as-signature':
    'Never send the key. Send the base64 of HMAC-SHA256 over the raw body, computed with the key. Replace the key, because it was sent.',
  'not-base64':
    'Send 44 characters from A-Z, a-z, 0-9, + and /, of which the last is =. Check that no code decodes, shortens or converts the header.',
  'wrong-length':
    'An HMAC-SHA256 has 32 bytes, which are 44 characters of base64. Encode the whole digest as bytes, not as text, and use SHA-256.',
  whitespace:
    'Remove it where the signature is made: command line tools add a newline (use echo -n or printf), and encoders break long lines (use base64 -w0).',
  quoted: 'Send the bare base64. Check whether the value is written as JSON, or a shell passes the quotes on.',
  prefix: 'Send the bare base64, without sha256=, a header name or other text in front.',
  'extra-text': 'Send only the bare base64.',
  'letter-case':
    'Base64 is case-sensitive. Apply toLowerCase or toUpperCase only to the name of a header, not to its value.',
  truncated: 'Keep all 44 characters. Check whether a database column, a buffer or a log cuts the value.',
  unknown:
    'Check that the key is the one of the handover settings (not the bot API key, not the key of another workspace), and that body and signature are complete and belong to the same request.',
  hex: "Encode the digest as base64: digest('base64') in Node, base64.b64encode(mac.digest()) in Python.",
  unpadded: 'Use the standard base64 encoder, with padding.',
  base64url:
    "Use the standard base64 encoder: 'base64', not 'base64url', in Node; b64encode, not urlsafe_b64encode, in Python.",
  doubled: "Encode the bytes of the digest once: digest('base64') in Node, without another encoding after it.",
  'url-encoding': 'Send the value of the header without URL encoding or decoding.',
  'other-key': 'Use the key of the handover settings of this workspace on both sides.',
  'key-whitespace': 'Trim the key where it is read: files end with a newline, and copied text may have spaces.',
  'key-prefix': 'Sign with the bare key. Only the Authorization header of calls to the platform has the prefix Bearer.',
  'key-quotes':
    'Remove the quotes from the env file or the shell command, or read the file with a parser that removes them.',
  'key-encoding': 'Sign with the UTF-8 bytes of the key, even if it looks like base64 or hexadecimal.',
  'key-unset': 'Find out why the variable of the key is not set, and end the program when it is missing.',
  'empty-body':
    'Compute the HMAC over the raw body. Check whether a body parser read it before, or an await is missing.',
  'stringified-object': `${RAW} Pass bytes, not an object.`,
  newline:
    'Do not trim the body, and add nothing: echo and text editors add a newline, trim() and templates remove it.',
  'byte-order-mark':
    'Use the bytes as they are: decoders such as response.text() remove the mark, and some editors add one.',
  'restringified-json': `${RAW} Serializing parsed JSON gives other bytes.`,
  'not-utf-8': `${RAW} Text cannot represent such bytes.`,
  latin1: `${RAW} If your code needs text, use UTF-8: check the encoding passed to setEncoding, toString or getBytes.`,
  ascii: `${RAW} If your code needs text, use UTF-8: ASCII has no letters beyond a to z.`,
  'utf-16': 'Encode the body as UTF-8: Encoding.UTF8, not Encoding.Unicode, in .NET.',
  'unicode-form': 'Do not normalize the body before signing or verifying: é may be one character or two.',
  'base64-body': 'Gateways pass bodies as base64 (isBase64Encoded): decode the body first, then verify the bytes.',
  'url-and-body': 'Sign the body alone. If a simulator signs the URL too, check its knob webhook.signedContent.',
  'other-algorithm':
    "Use HMAC with SHA-256: createHmac('sha256', key) in Node, hmac.new(key, body, hashlib.sha256) in Python.",
  'plain-hash': "Use an HMAC: createHmac('sha256', key) instead of createHash('sha256').",
  swapped: 'Check the order of the arguments: most languages take the key first; PHP takes the content before the key.',
}

/** A mistake that was found. The detail follows the text of the mistake and never contains a key. */
export interface FoundMistake {
  readonly id: MistakeId
  readonly detail: string
}

/** A mistake, and what code with this mistake uses as key, hash or body. The value may equal the right one. */
export interface Candidate<Value> extends FoundMistake {
  readonly value: Value
}

export const candidate = <Value>(id: MistakeId, value: Value, detail = ''): Candidate<Value> => ({ id, value, detail })

/** The keys that code may use by mistake; `otherKeys`: by names that messages can show. */
export function* wrongKeys(
  key: string,
  otherKeys: Readonly<Record<string, string>>,
): Iterable<Candidate<string | Bytes>> {
  for (const [name, otherKey] of Object.entries(otherKeys)) yield candidate('other-key', otherKey, name)
  yield candidate('key-whitespace', key.trim(), 'without the white space of the given key')
  yield candidate('key-whitespace', `${key}\n`, 'with a newline at the end')
  yield candidate('key-whitespace', `${key}\r\n`, 'with a carriage return and newline at the end')
  yield candidate('key-whitespace', `${key}\r`, 'with a carriage return at the end')
  yield candidate('key-whitespace', `${key} `, 'with a space at the end')
  yield candidate('key-whitespace', ` ${key}`, 'with a space in front')
  yield candidate('key-prefix', `Bearer ${key}`, 'the key of the signature has Bearer')
  yield candidate('key-prefix', key.replace(/^Bearer +/i, ''), 'the given key has Bearer')
  yield candidate('key-quotes', `"${key}"`, 'the key of the signature has double quotes')
  yield candidate('key-quotes', `'${key}'`, 'the key of the signature has single quotes')
  yield candidate('key-quotes', key.replace(/^(["'])(.*)\1$/s, '$2'), 'the given key has quotes')
  if (/^([0-9a-f]{2})+$/i.test(key)) {
    const bytes = Uint8Array.from(key.match(/../g) ?? [], pair => Number.parseInt(pair, 16))
    yield candidate('key-encoding', bytes, 'its hexadecimal was decoded')
  }
  const unpadded = key.replace(/=+$/, '')
  if (/^[\w+/-]+={0,2}$/.test(key) && unpadded.length % 4 !== 1) {
    const bytes = fromBinaryText(atob(unpadded.replaceAll('-', '+').replaceAll('_', '/')))
    yield candidate('key-encoding', bytes, 'its base64 was decoded')
  }
  yield candidate('key-encoding', toBase64(utf8(key)), 'it was encoded as base64')
  yield candidate('key-unset', '', 'the key was empty')
  for (const text of ['undefined', 'null', 'None', '[object Object]'])
    yield candidate('key-unset', text, `the key was the text ${text}`)
}

type Hash = (key: string, body: Bytes) => Promise<Bytes>

/** Other computations than the HMAC-SHA-256 of the body. */
export function* wrongHashes(): Iterable<Candidate<Hash>> {
  const algorithms: readonly HashAlgorithm[] = ['SHA-1', 'SHA-512', 'SHA-384']
  for (const name of algorithms) {
    const hash: Hash = async (key, body) => computeHmac(await importKey(key, name), body)
    yield candidate('other-algorithm', hash, `HMAC with ${name}`)
  }
  for (const name of ['SHA-256', ...algorithms] as const) {
    const alone: Hash = (_, body) => digest(name, body)
    const keyFirst: Hash = (key, body) => digest(name, concatBytes(utf8(key), body))
    const bodyFirst: Hash = (key, body) => digest(name, concatBytes(body, utf8(key)))
    yield candidate('plain-hash', alone, `${name} of the body alone`)
    yield candidate('plain-hash', keyFirst, `${name} of key and body joined`)
    yield candidate('plain-hash', bodyFirst, `${name} of body and key joined`)
  }
  const swapped: Hash = async (key, body) => computeHmac(await importKey(body), utf8(key))
  yield candidate('swapped', swapped)
}

export interface SentBody {
  readonly bytes: Bytes
  /** With its byte order mark; null when the bytes are not UTF-8. */
  readonly text: string | null
  /** Null when unknown. */
  readonly url: string | null
}

export function sentBody(bytes: Bytes, url: string | null): SentBody {
  try {
    return { bytes, url, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { bytes, url, text: null }
  }
}

/** The bodies that code may sign instead of the one that was sent. */
export function* wrongBodies({ bytes, text, url }: SentBody): Iterable<Candidate<string | Bytes>> {
  yield candidate('empty-body', '')
  yield candidate('empty-body', '{}', 'of an empty object, as a body parser leaves it')
  for (const value of ['[object Object]', 'undefined', 'null', '[object Promise]'])
    yield candidate('stringified-object', value, value)

  const binary = binaryText(bytes)
  // A regular expression for the white space at the end would take quadratic time.
  let end = binary.length
  while (end > 0 && ' \t\r\n'.includes(binary.charAt(end - 1))) end--
  const trimmed = binary.slice(0, end)
  yield candidate('newline', fromBinaryText(binary.replace(/\r?\n$/, '')), 'without the newline at the end')
  yield candidate('newline', fromBinaryText(`${binary}\n`), 'with a newline at the end')
  yield candidate('newline', fromBinaryText(`${binary}\r\n`), 'with a carriage return and newline at the end')
  yield candidate('newline', fromBinaryText(trimmed), 'trimmed at the end')
  yield candidate('newline', fromBinaryText(trimmed.replace(/^[ \t\r\n]+/, '')), 'trimmed')

  if (text === null) {
    const decoded = utf8(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
    yield candidate('not-utf-8', decoded)
  } else {
    yield candidate('byte-order-mark', `\ufeff${text}`, 'with')
    yield candidate('byte-order-mark', text.replace(/^\ufeff/, ''), 'without')
    for (const forms of [jsonOfLanguages(text), jsonForms(text)])
      for (const [form, detail] of forms) yield candidate('restringified-json', form, detail)
  }

  yield candidate('latin1', binary, 'its bytes were read as Latin-1')
  const windows = decodedAs('windows-1252', bytes)
  if (windows !== null) yield candidate('latin1', windows, 'its bytes were read as Windows-1252')
  if (/[^\0-\x7f]/.test(binary)) {
    const lowBits = binary.replace(/[\x80-\xff]/g, char => String.fromCharCode(char.charCodeAt(0) & 0x7f))
    yield candidate('ascii', lowBits, 'the highest bit of each byte was dropped')
    yield candidate('ascii', binary.replace(/[\x80-\xff]/g, '\ufffd'), 'each byte of other letters became U+FFFD')
  }
  if (text !== null && /[^\0-\x7f]/.test(text)) {
    yield candidate('latin1', fromBinaryText(text), 'its text was written as Latin-1')
    yield candidate('latin1', fromBinaryText(text.replace(/[^\0-\xff]/gu, '?')), 'its text was written as Latin-1')
    yield candidate('ascii', text.replace(/[^\0-\x7f]/g, '?'), 'each other letter became a question mark')
    yield candidate('ascii', text.replace(/[^\0-\x7f]/gu, '?'), 'each other letter became a question mark')
    yield candidate('ascii', text.replace(/[^\0-\x7f]/g, ''), 'other letters were left out')
    yield candidate('unicode-form', text.normalize('NFC'), 'NFC')
    yield candidate('unicode-form', text.normalize('NFD'), 'NFD')
  }
  if (text !== null) {
    yield candidate('utf-16', utf16(text, 0), 'little endian')
    yield candidate('utf-16', utf16(text, 1), 'big endian')
  }

  yield candidate('base64-body', toBase64(bytes), 'encoded')
  if (text !== null && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text))
    yield candidate('base64-body', fromBinaryText(atob(text)), 'decoded')
  if (url !== null) yield candidate('url-and-body', concatBytes(utf8(url), bytes))
}

/** Null when the runtime lacks the character set. */
function decodedAs(charset: string, bytes: Bytes): string | null {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return null
  }
}

/** `lowAt` is the place of the low byte: 0 for little endian, 1 for big endian. */
const utf16 = (text: string, lowAt: 0 | 1) =>
  Uint8Array.from({ length: text.length * 2 }, (_, at) => text.charCodeAt(at >> 1) >> (at % 2 === lowAt ? 0 : 8))

const INDENTS: readonly (readonly [indent: string, detail: string])[] = [
  ['  ', 'indented by two spaces'],
  ['    ', 'indented by four spaces'],
  ['\t', 'indented by tabs'],
]

/** How programs write other characters than ASCII letters and digits. Only strings have them, except for the + of huge numbers. */
const ESCAPINGS = {
  none: '',
  letters: 'other letters than ASCII as \\u escapes',
  lettersAndDelete: 'other letters and delete as \\u escapes',
  slashes: 'slashes as \\/',
  php: 'other letters as \\u escapes and slashes as \\/ (as PHP)',
  go: '< > & as \\u escapes (as Go)',
  dotnet: 'other letters and < > & + \' " ` as \\u escapes (as .NET)',
} as const

function escapeAs(style: keyof typeof ESCAPINGS, json: string): string {
  const hexCode = (char: string) => char.charCodeAt(0).toString(16).padStart(4, '0')
  const escaped = (text: string, characters: RegExp) => text.replace(characters, char => `\\u${hexCode(char)}`)
  switch (style) {
    case 'none':
      return json
    case 'letters':
      return escaped(json, /[\u0080-\uffff]/g)
    case 'lettersAndDelete':
      return escaped(json, /[\u007f-\uffff]/g)
    case 'slashes':
      return json.replaceAll('/', '\\/')
    case 'php':
      return escaped(json, /[\u0080-\uffff]/g).replaceAll('/', '\\/')
    case 'go':
      return escaped(json, /[<>&\u2028\u2029]/g)
    case 'dotnet':
      return json
        .replace(/\\(.)/g, (pair, char) => (char === '"' ? '\\u0022' : pair))
        .replace(/[<>&+'`\u007f-\uffff]/g, char => `\\u${hexCode(char).toUpperCase()}`)
  }
}

const STRING_OR_SEPARATOR = /("[^"\\]*(?:\\.[^"\\]*)*")|[,:]/g
/** The indents of deeper nesting would be longer than the body by far. */
const DEEP_NESTING = /(?:[[{][^[\]{}]*){33}/

/** The same JSON as common programs write it, after they have parsed it; nothing when the text is not JSON. */
function* jsonOfLanguages(text: string): Iterable<readonly [json: string, detail: string]> {
  try {
    const value: unknown = JSON.parse(text)
    const compact = JSON.stringify(value)
    yield [compact, 'as JSON.stringify(JSON.parse(body)) writes it']
    yield [escapeAs('letters', spacedJson(compact)), 'as json.dumps of Python writes it']
    yield [escapeAs('php', compact), 'as json_encode of PHP writes it']
    yield [escapeAs('go', JSON.stringify(reordered(value, 'sorted'))), 'as json.Marshal of Go writes a map']
    yield [escapeAs('dotnet', compact), 'as JsonSerializer of .NET writes it']
  } catch {
    // It is not JSON.
  }
}

/** Yields each different text once, the most likely first; nothing when the text is not JSON, or is nested too deeply. */
export function* jsonForms(text: string): Iterable<readonly [json: string, detail: string]> {
  const seen = new Set<string>()
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    if (typeof value === 'string') yield [value, 'it was JSON inside a JSON string']
    yield [JSON.stringify(text), 'the text was written as a JSON string']
    const orders: [unknown, string][] = [
      [value, 'as JSON.stringify(JSON.parse(body)) writes it'],
      [reordered(value, 'sorted'), 'names sorted'],
      [reordered(value, 'reversed'), 'names in reverse order'],
    ]
    for (const [ordered, order] of orders) {
      const layouts = formatLayouts(ordered)
      for (const ending of ['', '\n'])
        for (const [style, escaping] of Object.entries(ESCAPINGS))
          for (const [layout, spacing] of layouts) {
            const json = escapeAs(style as keyof typeof ESCAPINGS, layout) + ending
            if (seen.has(json)) continue
            seen.add(json)
            const styles = [spacing, escaping, ending && 'a newline at the end', order]
            yield [json, styles.filter(style => style !== '').join(', ')]
          }
    }
  } catch {
    // The forms before the failure are enough.
  }
}

const spacedJson = (compact: string): string =>
  compact.replace(STRING_OR_SEPARATOR, (match, string) => string ?? `${match} `)

function formatLayouts(value: unknown): (readonly [json: string, detail: string])[] {
  const compact = JSON.stringify(value)
  const indents = DEEP_NESTING.test(compact) ? [] : INDENTS
  return [
    [compact, ''],
    [spacedJson(compact), "spaces behind , and : (as Python's json.dumps)"],
    ...indents.map(([indent, detail]) => [JSON.stringify(value, null, indent), detail] as const),
  ]
}

function reordered(value: unknown, order: 'sorted' | 'reversed'): unknown {
  if (Array.isArray(value)) return value.map(item => reordered(item, order))
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value)
  const ordered: Record<string, unknown> = {}
  for (const name of order === 'sorted' ? names.sort() : names.reverse())
    ordered[name] = reordered(Reflect.get(value, name), order)
  return ordered
}
