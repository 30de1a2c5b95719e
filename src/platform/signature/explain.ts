/** Finds the mistake that explains an invalid signature. For diagnosis, not for every request. */

import { defineTexts } from '../../base/text/texts.ts'
import {
  ALGORITHM,
  ALGORITHM_HEADER,
  bodyBytes,
  type Keys,
  keyList,
  type RawBody,
  SIGNATURE_HEADER,
  type SignatureSource,
  valuesOf,
} from './arguments.ts'
import { computeHmac, importKey, toBase64 } from './hmac.ts'
import { sentBody } from './mistakes/bodies.ts'
import { FIX_TEXTS, type FoundMistake, foundMistake, MISTAKE_TEXTS, type MistakeId } from './mistakes/catalogue.ts'
import { describeForm } from './mistakes/header-values.ts'
import { findMistakes, type SearchInput } from './search.ts'

/** What the explanation says beside the mistakes. */
const NOTES = /* @__PURE__ */ defineTexts({
  algorithm: (named: string) => `${ALGORITHM_HEADER} names "${named}" instead of "${ALGORITHM}".`,
  expected: (right: string, given: string) => `Expected ${right}, got ${given}.`,
  partial: 'The body is long: not every combination of mistakes was tried.',
  undecodable: 'After decoding, it does not match a known mistake either.',
  notJson: 'The body is not JSON: check whether it is complete.',
  noUrl: 'Pass the URL to detect a signature over URL and body.',
  noOtherKeys: 'Pass other keys to detect a wrong key.',
})

export interface ExplainOptions {
  /** Keys that may have been used by mistake: a list, or a map by names that messages can show. */
  readonly otherKeys?: readonly string[] | Readonly<Record<string, string>>
  /** The value of the algorithm header, when `signature` has no headers. */
  readonly algorithm?: string
  /** The URL of the webhook, to detect a signature over URL and body. */
  readonly url?: string
  /** Whether the message contains the whole valid signature, which allows to send this body; otherwise only its beginning. */
  readonly reveal?: boolean
}

export interface Explanation {
  readonly ok: boolean
  readonly mistake: MistakeId
  /** Further mistakes. */
  readonly also: readonly MistakeId[]
  /** The mistake in sentences. Never contains a key. */
  readonly message: string
  /** How to fix the mistake; empty when the signature is valid. */
  readonly fix: string
}

/**
 * Explains why a signature does not match: tries known mistakes of signing code, and pairs of them, in bounded time. For
 * development, not for production.
 *
 * @throws TypeError for a body or key of another type.
 * @example
 * import { explain } from 'handover-sim/signature'
 *
 * const { ok, mistake, fix } = await explain('{"event":"X"}', 'c2lnbmF0dXJl', 'sim-handover-key')
 * if (!ok) console.log(mistake, fix)
 */
export async function explain(
  body: RawBody,
  signature: SignatureSource,
  key: Keys,
  more: ExplainOptions = {},
): Promise<Explanation> {
  const sent = sentBody(bodyBytes(body), more.url ?? null)
  const keys = keyList(key)
  const values = valuesOf(signature, SIGNATURE_HEADER)
  const input = { given: values[0] ?? '', body: sent, keys, otherKeys: namedKeys(more.otherKeys) }
  const algorithm = more.algorithm ?? (typeof signature === 'string' ? undefined : algorithmIn(signature))
  const obvious = obviousMistake(values, keys)
  return obvious === null ? searched(input, algorithm, more.reveal === true) : explanationOf([obvious])
}

const algorithmIn = (signature: SignatureSource) =>
  Array.isArray(signature) ? undefined : valuesOf(signature, ALGORITHM_HEADER)[0]

const LONGEST_SIGNATURE = 1_024

/** The mistakes that need no search. */
function obviousMistake(values: readonly string[], keys: readonly string[]): FoundMistake | null {
  const [given, ...others] = values
  if (given === undefined) return foundMistake('missing-header')
  if (others.length > 0) return foundMistake('repeated-header', `${values.length} times`)
  if (given.trim() === '') return foundMistake('empty-signature')
  if (keys.includes(given.trim().replace(/^Bearer +/i, ''))) return foundMistake('key-as-signature')
  return given.length > LONGEST_SIGNATURE ? foundMistake('too-long', `${given.length} characters`) : null
}

async function searched(input: SearchInput, algorithm: string | undefined, reveal: boolean): Promise<Explanation> {
  const { found, partial } = await findMistakes(input)
  if (found !== null) return explanationOf(found, found.every(isRight) ? [] : algorithmNotes(algorithm))
  const form = describeForm(input.given)
  const notes = [form === null ? await expectedNote(input, reveal) : NOTES.undecodable]
  if (partial) notes.push(NOTES.partial)
  return explanationOf([form ?? foundMistake('unknown')], [...notes, ...algorithmNotes(algorithm)], hints(input))
}

function namedKeys(others: ExplainOptions['otherKeys'] = {}): Readonly<Record<string, string>> {
  const named = Object.entries(others).map(([name, key]) => [Array.isArray(others) ? `otherKeys[${name}]` : name, key])
  return Object.fromEntries(named)
}

const isRight = ({ id }: FoundMistake) => id === 'right'

/** Reports `right` only when there is no mistake. */
function explanationOf(
  found: readonly FoundMistake[],
  notes: readonly string[] = [],
  hints: readonly string[] = [],
): Explanation {
  const wrong = found.filter(one => !isRight(one))
  const [first = found.find(({ detail }) => detail !== '') ?? foundMistake('right'), ...others] = wrong
  const all = [first, ...others]
  const sentences = all.map(({ id, detail }) => `${MISTAKE_TEXTS[id]}${detail && `: ${detail}`}.`)
  return {
    ok: wrong.length === 0,
    mistake: first.id,
    also: others.map(({ id }) => id),
    message: [...sentences, ...notes].join(' '),
    fix: [...all.map(({ id }) => FIX_TEXTS[id]), ...hints].join(' ').trim(),
  }
}

async function expectedNote({ given, body, keys }: SearchInput, reveal: boolean): Promise<string> {
  const right = toBase64(await computeHmac(await importKey(keys[0]), body.bytes))
  return reveal ? NOTES.expected(right, given) : NOTES.expected(start(right), start(given))
}

const start = (signature: string) => `${signature.slice(0, 4)}... (${signature.length} characters)`

/** Reports an algorithm header that names another algorithm. */
function algorithmNotes(algorithm: string | undefined): string[] {
  if (algorithm === undefined || algorithm === ALGORITHM) return []
  return [NOTES.algorithm(algorithm.replace(/[^ -~]/g, '?').slice(0, 60))]
}

const hints = ({ body, otherKeys }: SearchInput): string[] => [
  ...(isJson(body.text) ? [] : [NOTES.notJson]),
  ...(body.url === null ? [NOTES.noUrl] : []),
  ...(Object.keys(otherKeys).length === 0 ? [NOTES.noOtherKeys] : []),
]

function isJson(text: string | null): boolean {
  try {
    return text !== null && JSON.parse(text.replace(/^\ufeff/, '')) !== undefined
  } catch {
    return false
  }
}
