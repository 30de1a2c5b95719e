/** Reproduces mistakes with the key: a wrong key, or a wrong way to combine key and body. */
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
import { type Variant, type Variants, variant } from './catalogue.ts'

interface KeyInput {
  readonly key: string
  /** Other keys by name. */
  readonly others: Readonly<Record<string, string>>
}
type Key = string | Bytes

export const KEYS = {
  'other-key': ({ others }) => Object.entries(others).map(([name, key]) => variant(key, name)),
  'key-whitespace': ({ key }) => [
    variant(key.trim(), 'without the white space of the given key'),
    variant(`${key}\n`, 'with a newline at the end'),
    variant(`${key}\r\n`, 'with a carriage return and newline at the end'),
    variant(`${key}\r`, 'with a carriage return at the end'),
    variant(`${key} `, 'with a space at the end'),
    variant(` ${key}`, 'with a space in front'),
  ],
  'key-prefix': ({ key }) => [
    variant(`Bearer ${key}`, 'the key of the signature has Bearer'),
    variant(key.replace(/^Bearer +/i, ''), 'the given key has Bearer'),
  ],
  'key-quotes': ({ key }) => [
    variant(`"${key}"`, 'the key of the signature has double quotes'),
    variant(`'${key}'`, 'the key of the signature has single quotes'),
    variant(key.replace(/^(["'])(.*)\1$/s, '$2'), 'the given key has quotes'),
  ],
  'key-url-encoding': ({ key }) => [
    variant(percentDecoded(key), 'decoded'),
    variant(encodeURIComponent(key.toWellFormed()), 'encoded'),
  ],
  'key-encoding': reencoded,
  'key-unset': () => [
    variant('', 'the key was empty'),
    ...['undefined', 'null', 'None', '[object Object]'].map(text => variant(text, `the key was the text ${text}`)),
  ],
} satisfies Partial<Variants<KeyInput, Key>>

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

export const HASHES = {
  'other-algorithm': () => HASH_NAMES.slice(1).map(hash => variant(keyed(hash), `HMAC with ${hash}`)),
  'plain-hash': unkeyed,
  swapped: () => [variant(async (key: string, body: Bytes) => computeHmac(await importKey(body), utf8(key)))],
} satisfies Partial<Variants<void, Hashing>>
