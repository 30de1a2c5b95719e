/** Finds the mistake that explains an invalid signature. For diagnosis, not for every request. */
import {
  ALGORITHM,
  ALGORITHM_HEADER,
  bodyBytes,
  headerValues,
  type Keys,
  keyList,
  type RawBody,
  SIGNATURE_HEADER,
  type SignatureSource,
} from './arguments.ts'
import { computeHmac, importKey, toBase64 } from './hmac.ts'
import { FIX_TEXTS, type FoundMistake, MISTAKE_TEXTS, type MistakeId, sentBody } from './mistakes.ts'
import { describeForm, findMistakes } from './search.ts'

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
  const values = headerValues(signature, SIGNATURE_HEADER)
  const hasHeaders = typeof signature !== 'string' && !Array.isArray(signature)
  const algorithm = more.algorithm ?? (hasHeaders ? headerValues(signature, ALGORITHM_HEADER)[0] : undefined)

  // Some mistakes need no search.
  const given = values[0]
  if (given === undefined) return createExplanation([{ id: 'missing-header', detail: '' }])
  if (values.length > 1) return createExplanation([{ id: 'repeated-header', detail: `${values.length} times` }])
  if (given.trim() === '') return createExplanation([{ id: 'empty-signature', detail: '' }])
  if (keys.includes(given.trim().replace(/^Bearer +/i, '')))
    return createExplanation([{ id: 'key-as-signature', detail: '' }])
  if (given.length > MAX_SIGNATURE_CHARS)
    return createExplanation([{ id: 'too-long', detail: `${given.length} characters` }])

  const otherKeys: Record<string, string> = {}
  for (const [name, otherKey] of Object.entries(more.otherKeys ?? {}))
    otherKeys[Array.isArray(more.otherKeys) ? `otherKeys[${name}]` : name] = otherKey
  const { found, partial } = await findMistakes({ given, body: sent, keys, otherKeys })

  const notes: string[] = []
  const hints: string[] = []
  const form = found === null ? describeForm(given) : null
  if (found === null) {
    const expected = toBase64(await computeHmac(await importKey(keys[0]), sent.bytes))
    const shown = (text: string) => (more.reveal === true ? text : `${text.slice(0, 4)}... (${text.length} characters)`)
    notes.push(
      form === null
        ? `Expected ${shown(expected)}, got ${shown(given)}.`
        : 'After decoding, it does not match a known mistake either.',
    )
    if (partial) notes.push('The body is long: not every combination of mistakes was tried.')
    if (!isJson(sent.text)) hints.push('The body is not JSON: check whether it is complete.')
    if (sent.url === null) hints.push('Pass the URL to detect a signature over URL and body.')
    if (Object.keys(otherKeys).length === 0) hints.push('Pass other keys to detect a wrong key.')
  }
  const mistakes = found ?? [form ?? { id: 'unknown', detail: '' }]
  const isValid = mistakes.every(({ id }) => id === 'right')
  if (!isValid && algorithm !== undefined && algorithm !== ALGORITHM) {
    const named = algorithm.replace(/[^ -~]/g, '?').slice(0, 60)
    notes.push(`${ALGORITHM_HEADER} names "${named}" instead of "${ALGORITHM}".`)
  }
  return createExplanation(mistakes, notes, hints)
}

const MAX_SIGNATURE_CHARS = 1_024

/** Reports `right` only when there is no mistake. */
function createExplanation(
  mistakes: readonly FoundMistake[],
  notes: readonly string[] = [],
  hints: readonly string[] = [],
): Explanation {
  const wrong = mistakes.filter(({ id }) => id !== 'right')
  const named = mistakes.find(({ detail }) => detail !== '')
  const [first = named ?? { id: 'right', detail: '' }, ...laterMistakes] = wrong
  const reported = [first, ...laterMistakes]
  const sentences = reported.map(({ id, detail }) => `${MISTAKE_TEXTS[id]}${detail && `: ${detail}`}.`)
  return {
    ok: wrong.length === 0,
    mistake: first.id,
    also: laterMistakes.map(({ id }) => id),
    message: [...sentences, ...notes].join(' '),
    fix: [...reported.map(({ id }) => FIX_TEXTS[id]), ...hints].join(' ').trim(),
  }
}

function isJson(text: string | null): boolean {
  try {
    return text !== null && JSON.parse(text.replace(/^\ufeff/, '')) !== undefined
  } catch {
    return false
  }
}
