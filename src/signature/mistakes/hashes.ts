/** The right key and body, put together the wrong way. */
import { type Bytes, digest, type HashName, hmac, importKey, joined, utf8 } from '../hmac.ts'
import { type Mistake, type Variant, variant } from './row.ts'

type Hashing = (key: string, body: Bytes) => Promise<Bytes>

const keyed =
  (hash: HashName): Hashing =>
  async (key, body) =>
    hmac(await importKey(key, hash), body)

const HASH_NAMES = ['SHA-256', 'SHA-1', 'SHA-512', 'SHA-384'] as const

/** With and without the key in the text, by each hash. */
function* unkeyed(): Iterable<Variant<Hashing>> {
  for (const hash of HASH_NAMES) {
    yield variant((_, body) => digest(hash, body), `${hash} of the body alone`)
    yield variant((key, body) => digest(hash, joined(utf8(key), body)), `${hash} of key and body joined`)
    yield variant((key, body) => digest(hash, joined(body, utf8(key))), `${hash} of body and key joined`)
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
    variants: () => [variant(async (key: string, body: Bytes) => hmac(await importKey(body), utf8(key)))],
  },
] as const satisfies readonly Mistake<void, Hashing>[]
