/** Finds the mistake that explains an invalid signature. For diagnosis, not for every request. */
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
import type { SentBody } from './mistakes/bodies.ts'
import { bodyInput } from './mistakes/bodies.ts'
import { type FoundMistake, foundMistake, MISTAKES, type MistakeId } from './mistakes/catalogue.ts'
import { findMistakes, type SearchInput } from './search.ts'
import { describeForm } from './written.ts'

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
  const sent: SentBody = { ...bodyInput(bodyBytes(body)), url: more.url ?? null }
  const keys = keyList(key)
  const values = valuesOf(signature, SIGNATURE_HEADER)
  const question = { given: values[0] ?? '', body: sent, keys, otherKeys: namedKeys(more.otherKeys) }
  const algorithm = more.algorithm ?? (typeof signature === 'string' ? undefined : algorithmIn(signature))
  const plain = plainMistake(values, keys)
  return plain === null ? searched(question, algorithm, more.reveal === true) : explanationOf([plain])
}

const algorithmIn = (signature: SignatureSource) =>
  Array.isArray(signature) ? undefined : valuesOf(signature, ALGORITHM_HEADER)[0]

const LONGEST_SIGNATURE = 1_024

/** The mistakes that need no search. */
function plainMistake(values: readonly string[], keys: readonly string[]): FoundMistake | null {
  const [given, ...others] = values
  if (given === undefined) return foundMistake('missing-header')
  if (others.length > 0) return foundMistake('repeated-header', `${values.length} times`)
  if (given.trim() === '') return foundMistake('empty-signature')
  if (keys.includes(given.trim().replace(/^Bearer +/i, ''))) return foundMistake('key-as-signature')
  return given.length > LONGEST_SIGNATURE ? foundMistake('too-long', `${given.length} characters`) : null
}

async function searched(question: SearchInput, algorithm: string | undefined, reveal: boolean): Promise<Explanation> {
  const { foundMistake: found, partial } = await findMistakes(question)
  if (found !== null) return explanationOf(found, found.every(isRight) ? [] : announced(algorithm))
  const form = describeForm(question.given)
  const notes = [
    ...(form === null
      ? [await expectation(question, reveal)]
      : ['In no encoding is it the signature of a known mistake.']),
    ...(partial ? ['The body is long: not every combination of mistakes was tried.'] : []),
    ...announced(algorithm),
  ]
  return explanationOf([form ?? foundMistake('unknown')], notes, hints(question))
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
  const sentences = [first, ...others].map(({ id, detail }) => `${MISTAKES[id].says}${detail && `: ${detail}`}.`)
  const fixes = [first, ...others].map(({ id }) => MISTAKES[id].fix)
  return {
    ok: wrong.length === 0,
    mistake: first.id,
    also: others.map(({ id }) => id),
    message: [...sentences, ...notes].join(' '),
    fix: [...fixes, ...hints].join(' ').trim(),
  }
}

async function expectation({ given, body, keys }: SearchInput, reveal: boolean): Promise<string> {
  const right = toBase64(await computeHmac(await importKey(keys[0]), body.bytes))
  return reveal ? `Expected ${right}, got ${given}.` : `Expected ${start(right)}, got ${start(given)}.`
}

const start = (signature: string) => `${signature.slice(0, 4)}... (${signature.length} characters)`

/** Reports an algorithm header that names another algorithm. */
function announced(algorithm: string | undefined): string[] {
  if (algorithm === undefined || algorithm === ALGORITHM) return []
  const shown = algorithm.replace(/[^ -~]/g, '?').slice(0, 60)
  return [`${ALGORITHM_HEADER} says "${shown}" instead of "${ALGORITHM}".`]
}

function hints({ body, otherKeys }: SearchInput): string[] {
  return [
    ...(isJson(body.text) ? [] : ['The body is not JSON: check whether it is complete.']),
    ...(body.url === null ? ['A signature over URL and body can be detected only with the URL.'] : []),
    ...(Object.keys(otherKeys).length === 0 ? ['A wrong key can be detected only among the other keys.'] : []),
  ]
}

function isJson(text: string | null): boolean {
  try {
    return text !== null && JSON.parse(text.replace(/^\ufeff/, '')) !== undefined
  } catch {
    return false
  }
}
