/** Lists the mistakes with the key: a wrong key, or the right key combined with the body in a wrong way. */
import {
  type Bytes,
  computeHmac,
  concatBytes,
  digest,
  fromBinaryText,
  type HashAlgorithm,
  importKey,
  toBase64,
  utf8,
} from '../hmac.ts'
import { type SignatureMistake, type Variant, variant } from './mistake.ts'

export interface KeyInput {
  readonly key: string
  /** Other keys by name. */
  readonly others: Readonly<Record<string, string>>
}
type Key = string | Bytes

export const KEYS = [
  {
    id: 'other-key',
    says: 'The signature was made with another key',
    fix: 'Use the key of the handover settings of this workspace on both sides.',
    variants: ({ others }) => Object.entries(others).map(([name, key]) => variant(key, name)),
  },
  {
    id: 'key-whitespace',
    says: 'The signature was made with a key that differs in white space at its ends',
    fix: 'Trim the key where it is read: a file ends with a newline, and a copied line may have spaces.',
    variants: ({ key }) => [
      variant(key.trim(), 'without the white space of the given key'),
      variant(`${key}\n`, 'with a newline at the end'),
      variant(`${key}\r\n`, 'with a carriage return and newline at the end'),
      variant(`${key}\r`, 'with a carriage return at the end'),
      variant(`${key} `, 'with a space at the end'),
      variant(` ${key}`, 'with a space in front'),
    ],
  },
  {
    id: 'key-prefix',
    says: 'The signature was made with a key that differs by Bearer in front',
    fix: 'Sign with the bare key. Bearer belongs only into the Authorization header of calls to the platform.',
    variants: ({ key }) => [
      variant(`Bearer ${key}`, 'it was signed with Bearer'),
      variant(key.replace(/^Bearer +/i, ''), 'the given key has Bearer'),
    ],
  },
  {
    id: 'key-quotes',
    says: 'The signature was made with a key that differs by quotation marks around it',
    fix: 'Leave out the quotes in the env file or the shell, or use a reader that removes them.',
    variants: ({ key }) => [
      variant(`"${key}"`, 'it was signed with double quotes'),
      variant(`'${key}'`, 'it was signed with single quotes'),
      variant(key.replace(/^(["'])(.*)\1$/s, '$2'), 'the given key has quotes'),
    ],
  },
  {
    id: 'key-url-encoding',
    says: 'The signature was made with a key that was encoded or decoded as part of a URL',
    fix: 'Use the key as it is shown in the settings, without percent signs put in or taken out.',
    variants: ({ key }) => [
      variant(percentDecoded(key), 'decoded'),
      variant(encodeURIComponent(key.toWellFormed()), 'encoded'),
    ],
  },
  {
    id: 'key-encoding',
    says: 'The signature was made with a key that was encoded or decoded first',
    fix: 'The key is text: sign with its UTF-8 bytes, even if it looks like base64 or hexadecimal.',
    variants: reencoded,
  },
  {
    id: 'key-unset',
    says: 'The signature was made without a key',
    fix: 'See why the variable the key comes from is not set there, and let the program stop when it is missing.',
    variants: () => [
      variant('', 'the key was empty'),
      ...['undefined', 'null', 'None', '[object Object]'].map(text => variant(text, `the key was the text ${text}`)),
    ],
  },
] as const satisfies readonly SignatureMistake<KeyInput, Key>[]

function percentDecoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

function* reencoded({ key }: KeyInput): Iterable<Variant<Key>> {
  if (/^([0-9a-f]{2})+$/i.test(key)) yield variant(fromHex(key), 'its hexadecimal was decoded')
  if (/^[\w+/-]+={0,2}$/.test(key) && key.replace(/=+$/, '').length % 4 !== 1)
    yield variant(fromBase64(key), 'its base64 was decoded')
  yield variant(toBase64(utf8(key)), 'it was encoded as base64')
}

const fromHex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], pair => Number.parseInt(pair, 16))

const fromBase64 = (text: string) =>
  fromBinaryText(atob(text.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/')))

type Hashing = (key: string, body: Bytes) => Promise<Bytes>

const keyed =
  (hash: HashAlgorithm): Hashing =>
  async (key, body) =>
    computeHmac(await importKey(key, hash), body)

const HASH_NAMES = ['SHA-256', 'SHA-1', 'SHA-512', 'SHA-384'] as const

/** With and without the key in the text, by each hash. */
function* unkeyed(): Iterable<Variant<Hashing>> {
  for (const hash of HASH_NAMES) {
    yield variant((_, body) => digest(hash, body), `${hash} of the body alone`)
    yield variant((key, body) => digest(hash, concatBytes(utf8(key), body)), `${hash} of key and body joined`)
    yield variant((key, body) => digest(hash, concatBytes(body, utf8(key))), `${hash} of body and key joined`)
  }
}

export const HASHES = [
  {
    id: 'other-algorithm',
    says: 'The signature was made with another algorithm',
    fix: "Use HMAC with SHA-256: createHmac('sha256', key) in Node, hmac.new(key, body, hashlib.sha256) in Python.",
    variants: () => HASH_NAMES.slice(1).map(hash => variant(keyed(hash), `HMAC with ${hash}`)),
  },
  {
    id: 'plain-hash',
    says: 'The signature is a plain hash, not an HMAC',
    fix: "Use an HMAC, which mixes the key in safely: createHmac('sha256', key) instead of createHash('sha256').",
    variants: unkeyed,
  },
  {
    id: 'swapped',
    says: 'Key and body were exchanged: the body was taken as the key',
    fix: 'See the order of the arguments: the key goes first in most languages, the content first in PHP, where the key goes third.',
    variants: () => [variant(async (key: string, body: Bytes) => computeHmac(await importKey(body), utf8(key)))],
  },
] as const satisfies readonly SignatureMistake<void, Hashing>[]
