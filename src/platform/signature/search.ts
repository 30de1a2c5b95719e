/** Searches the key, body and hash that give a signature: fewest mistakes first, within a budget. */
import { type Bytes, computeHmac, importKey, utf8 } from './hmac.ts'
import { BODIES, type SentBody } from './mistakes/bodies.ts'
import { type Candidate, candidatesOf, type FoundMistake, foundMistake } from './mistakes/catalogue.ts'
import { howWritten } from './mistakes/header-values.ts'
import { HASHES, KEYS } from './mistakes/keys.ts'

export interface SearchInput {
  /** The signature to explain. */
  readonly given: string
  readonly body: SentBody
  readonly keys: readonly [string, ...string[]]
  readonly otherKeys: Readonly<Record<string, string>>
}

/** Limits the work: the number of HMACs and the bytes they hash. */
interface Budget {
  tries: number
  bytes: number
}
const budget = (): Budget => ({ tries: 5_000, bytes: 16 * 1024 * 1024 })

interface SearchResult {
  /** The mistakes, `right` when there is none; null when none was found. */
  readonly found: readonly FoundMistake[] | null
  /** Whether combinations were skipped because the body is long. */
  readonly partial: boolean
}

type Input = Candidate<string | Bytes>
type Attempt = (left: Budget) => Promise<readonly FoundMistake[] | null>

/** Each attempt has its own budget, so that a long body does not spend it all on the first one. */
export async function findMistakes(input: SearchInput): Promise<SearchResult> {
  const { given, body, keys } = input
  const rightKeys = keys.map((value, at) => right(value, keys.length === 1 ? '' : `key ${at + 1} of ${keys.length}`))
  const rightBody = [right(body.bytes)]
  const found = await tryAll(given, rightKeys, rightBody, { tries: Infinity, bytes: Infinity })
  if (found !== null) return { found, partial: false }
  const wrongKeys = keys.flatMap(key => [...candidatesOf(KEYS, { key, others: input.otherKeys })])
  const wrongBodies = affordable(candidatesOf(BODIES, body), budget())
  return firstFound([
    left => tryHashes(input, left),
    left => tryAll(given, wrongKeys, rightBody, left),
    left => tryAll(given, rightKeys, wrongBodies, left),
    left => tryAll(given, wrongKeys, wrongBodies, left),
  ])
}

const right = (value: string | Bytes, detail = ''): Input => ({ ...foundMistake('right', detail), value })

async function firstFound(attempts: readonly Attempt[]): Promise<SearchResult> {
  let partial = false
  for (const attempt of attempts) {
    const left = budget()
    const found = await attempt(left)
    if (found !== null) return { found, partial: false }
    partial ||= left.tries < 0 || left.bytes < 0
  }
  return { found: null, partial }
}

async function tryAll(given: string, keys: readonly Input[], bodies: readonly Input[], left: Budget) {
  for (const key of keys) {
    const imported = left.tries > 0 && left.bytes > 0 ? await importKey(key.value) : null
    for (const body of bodies) {
      const bytes = typeof body.value === 'string' ? utf8(body.value) : body.value
      if (imported === null || !spend(left, bytes.length)) return null
      const how = howWritten(given, await computeHmac(imported, bytes))
      if (how !== null) return [...how, key, body]
    }
  }
  return null
}

async function tryHashes({ given, keys, body }: SearchInput, left: Budget) {
  for (const key of keys)
    for (const { id, value: hash, detail } of candidatesOf(HASHES, undefined)) {
      if (!spend(left, body.bytes.length)) return null
      const how = howWritten(given, await hash(key, body.bytes))
      if (how !== null) return [...how, foundMistake(id, detail)]
    }
  return null
}

function spend(left: Budget, bytes: number): boolean {
  left.tries -= 1
  left.bytes -= bytes
  return left.tries >= 0 && left.bytes >= 0
}

/** Stops when the budget is used up. */
function affordable(bodies: Iterable<Input>, { tries, bytes }: Budget): readonly Input[] {
  const taken: Input[] = []
  let length = 0
  for (const body of bodies) {
    length += body.value.length
    if (taken.length >= tries || length > bytes) break
    taken.push(body)
  }
  return taken
}
