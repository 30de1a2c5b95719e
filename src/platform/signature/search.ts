/** Searches the mistakes that give a signature: fewest mistakes first, within a budget. */
import { type Bytes, computeHmac, fromSignature, importKey, toBase64, toHex, utf8 } from './hmac.ts'
import {
  type Candidate,
  candidate,
  type FoundMistake,
  type SentBody,
  wrongBodies,
  wrongHashes,
  wrongKeys,
} from './mistakes.ts'

export interface SearchInput {
  /** The signature to explain. */
  readonly given: string
  readonly body: SentBody
  readonly keys: readonly [string, ...string[]]
  readonly otherKeys: Readonly<Record<string, string>>
}

interface SearchResult {
  /** The mistakes, `right` when there is none; null when none was found. */
  readonly found: readonly FoundMistake[] | null
  /** Whether combinations were skipped because the body is long. */
  readonly partial: boolean
}

export async function findMistakes({ given, body, keys, otherKeys }: SearchInput): Promise<SearchResult> {
  type Input = Candidate<string | Bytes>
  const rightKeys: Input[] = keys.map((key, at) =>
    candidate('right', key, keys.length === 1 ? '' : `key ${at + 1} of ${keys.length}`),
  )
  const rightBody: Input[] = [candidate('right', body.bytes)]
  const otherKeyValues: Input[] = keys.flatMap(key => [...wrongKeys(key, otherKeys)])

  // The valid signature is found for a body of any length.
  for (const key of rightKeys) {
    const form = formMistakes(given, await computeHmac(await importKey(key.value), body.bytes))
    if (form !== null) return { found: [...form, key], partial: false }
  }

  const hashing = createBudget()
  for (const key of keys)
    for (const hash of wrongHashes()) {
      if (!hashing.spend(body.bytes.length)) break
      const form = formMistakes(given, await hash.value(key, body.bytes))
      if (form !== null) return { found: [...form, hash], partial: false }
    }

  const making = createBudget()
  const otherBodies: Input[] = []
  for (const candidate of wrongBodies(body)) {
    if (!making.spend(candidate.value.length)) break
    otherBodies.push(candidate)
  }

  const rounds: [readonly Input[], readonly Input[]][] = [
    [otherKeyValues, rightBody],
    [rightKeys, otherBodies],
    [otherKeyValues, otherBodies],
  ]
  let partial = hashing.isUsedUp()
  for (const [roundKeys, roundBodies] of rounds) {
    const budget = createBudget()
    for (const key of roundKeys) {
      if (budget.isUsedUp()) break
      const imported = await importKey(key.value)
      for (const roundBody of roundBodies) {
        const content = typeof roundBody.value === 'string' ? utf8(roundBody.value) : roundBody.value
        if (!budget.spend(content.length)) break
        const form = formMistakes(given, await computeHmac(imported, content))
        if (form !== null) return { found: [...form, key, roundBody], partial: false }
      }
    }
    partial ||= budget.isUsedUp()
  }
  return { found: null, partial }
}

/** Limits one round of the search, so that a long body does not use up everything in the first round. */
function createBudget() {
  let [tries, bytes] = [5_000, 16 * 1024 * 1024]
  return {
    /** Returns whether one more HMAC over so many bytes is affordable. */
    spend(length: number): boolean {
      tries -= 1
      bytes -= length
      return tries >= 0 && bytes >= 0
    },
    isUsedUp: () => tries < 0 || bytes < 0,
  }
}

/** The mistakes that turn the HMAC into this text; an empty list when there is none, null when it is another HMAC. */
function formMistakes(given: string, mac: Bytes): readonly FoundMistake[] | null {
  const base64 = toBase64(mac)
  if (given === base64) return []
  const hex = toHex(mac)
  const base64url = base64.replaceAll('+', '-').replaceAll('/', '_')
  const forms: readonly Candidate<string>[] = [
    candidate('right', base64),
    candidate('hex', hex),
    candidate('hex', hex.toUpperCase()),
    candidate('unpadded', base64.replace(/=+$/, '')),
    candidate('base64url', base64url),
    candidate('base64url', base64url.replace(/=+$/, '')),
    candidate('doubled', toBase64(utf8(hex)), 'base64 of the hexadecimal text'),
    candidate('doubled', toBase64(utf8(base64)), 'base64 of the base64 text'),
    candidate('doubled', toHex(utf8(base64)), 'hexadecimal of the base64 text'),
    candidate('url-encoding', encodeURIComponent(base64), 'URL-encoded'),
    candidate('url-encoding', base64.replaceAll('+', ' '), 'each + became a space'),
  ]
  const exact = forms.find(({ value }) => value === given)
  if (exact !== undefined) return [exact]
  const compact = given.replace(/\s+/g, '')
  const spaced = forms.find(({ value }) => value === compact)
  if (spaced !== undefined) return [{ id: 'whitespace', detail: '' }, spaced]

  const inside = forms.find(({ value }) => given.includes(value))
  if (inside !== undefined) {
    const start = given.indexOf(inside.value)
    const after = given.slice(start + inside.value.length)
    return [textAround(given.slice(0, start).trim(), after.trim()), inside]
  }
  const trimmed = given.trim()
  if (trimmed.toLowerCase() === base64.toLowerCase()) return [{ id: 'letter-case', detail: '' }]
  // Two HMACs do not share eight first characters by accident.
  const whole = trimmed.length < 8 ? undefined : forms.find(({ value }) => value.startsWith(trimmed))
  return whole === undefined ? null : [{ id: 'truncated', detail: `${trimmed.length} characters remain` }, whole]
}

const KNOWN_PREFIX = /^(v\d|t|sha-?\d{1,3}|hmac([-_]?sha-?\d{1,3})?|signature|kindly-hmac|base64)\s*[=:]$/i

/** Names only known prefixes, because other text may be secret. */
function textAround(before: string, after: string): FoundMistake {
  if (/^["'`]$/.test(before) && before === after) return { id: 'quoted', detail: '' }
  if (before.endsWith(',') || after.startsWith(',')) return { id: 'repeated-header', detail: '' }
  if (after !== '') return { id: 'extra-text', detail: '' }
  return { id: 'prefix', detail: KNOWN_PREFIX.test(before) ? before : '' }
}

/** The mistake in the form alone, when the signed content is unknown. */
export function describeForm(given: string): FoundMistake | null {
  const mistake = (id: FoundMistake['id'], detail = '') => ({ id, detail })
  if (given !== given.trim()) return mistake('whitespace')
  if (/^(["'`]).*\1$/.test(given)) return mistake('quoted')
  if (/^[A-Za-z0-9+/]{43}=\s*,/.test(given)) return mistake('repeated-header')
  if (/^([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i.test(given)) return mistake('hex')
  if (/^[a-z][\w-]{0,20}[=:]\s*[\w+/-]{20}/i.test(given)) return mistake('prefix')
  if (/%(2b|2f|3d)/i.test(given)) return mistake('url-encoding', 'URL-encoded')
  if (/^(?=.*[-_])[\w-]{43}=?$/.test(given)) return mistake('base64url')
  if (/^[A-Za-z0-9+/]{43}$/.test(given)) return mistake('unpadded')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(given) || given.length % 4 !== 0) return mistake('not-base64')
  const { length } = atob(given)
  if (length === 20) return mistake('wrong-length', '20 bytes, as of SHA-1')
  if (length === 48)
    return mistake('wrong-length', '48 bytes, as of SHA-384, or as of a hexadecimal SHA-256 decoded as base64')
  if (length === 64) return mistake('wrong-length', '64 bytes, as of SHA-512, or as of a hexadecimal SHA-256')
  if (length !== 32) return mistake('wrong-length', `${length} bytes`)
  return fromSignature(given) !== null ? null : mistake('not-base64', 'its last character cannot end 32 bytes')
}
