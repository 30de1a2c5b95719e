/** Searches the key, body and hash that give a signature: fewest mistakes first, within a budget. */
import { type Bytes, computeHmac, importKey, utf8 } from './hmac.ts'
import { BODIES, type SentBody } from './mistakes/bodies.ts'
import { type FoundMistake, foundMistake, type MistakeId } from './mistakes/catalogue.ts'
import { HASHES, KEYS } from './mistakes/keys.ts'
import type { Variant } from './mistakes/mistake.ts'
import { howWritten } from './written.ts'

export interface SearchInput {
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
const UNBOUNDED: Readonly<Budget> = { tries: Infinity, bytes: Infinity }

export interface SearchResult {
  /** The mistakes, `right` when there is none; null when none was found. */
  readonly foundMistake: readonly FoundMistake[] | null
  /** Whether combinations were skipped because the body is long. */
  readonly partial: boolean
}

/** Each attempt has its own budget, so that a long body does not spend it all on the first one. */
export async function findMistakes(question: SearchInput): Promise<SearchResult> {
  const { given, body, keys } = question
  const place = (at: number) => (keys.length === 1 ? '' : `key ${at + 1} of ${keys.length}`)
  const rightKeys = keys.map((key, at) => input(key, 'right', place(at)))
  const rightBody = [input(body.bytes, 'right')]
  const right = await tryAll(given, rightKeys, rightBody, { ...UNBOUNDED })
  if (right !== null) return { foundMistake: right, partial: false }
  const wrongKeys = keysFor(question)
  const wrongBodies = affordable(bodiesFor(body), budget())
  return inTurn([
    left => tryHashes(question, left),
    left => tryAll(given, wrongKeys, rightBody, left),
    left => tryAll(given, rightKeys, wrongBodies, left),
    left => tryAll(given, wrongKeys, wrongBodies, left),
  ])
}

async function inTurn(
  attempts: readonly ((left: Budget) => Promise<readonly FoundMistake[] | null>)[],
): Promise<SearchResult> {
  let partial = false
  for (const attempt of attempts) {
    const left = budget()
    const foundMistake = await attempt(left)
    if (foundMistake !== null) return { foundMistake, partial: false }
    partial ||= left.tries < 0 || left.bytes < 0
  }
  return { foundMistake: null, partial }
}

/** A key or a body, and the mistake that produces it. */
interface Input {
  readonly value: string | Bytes
  readonly foundMistake: FoundMistake
}
const input = (value: string | Bytes, id: MistakeId, detail = ''): Input => ({
  value,
  foundMistake: foundMistake(id, detail),
})

async function tryAll(
  given: string,
  keys: readonly Input[],
  bodies: readonly Input[],
  left: Budget,
): Promise<readonly FoundMistake[] | null> {
  for (const key of keys) {
    const imported = left.tries > 0 && left.bytes > 0 ? await importKey(key.value) : null
    for (const body of bodies) {
      const bytes = bodyBytes(body)
      if (imported === null || !spend(left, bytes.length)) return null
      const how = howWritten(given, await computeHmac(imported, bytes))
      if (how !== null) return [...how, key.foundMistake, body.foundMistake]
    }
  }
  return null
}

async function tryHashes({ given, keys, body }: SearchInput, left: Budget): Promise<readonly FoundMistake[] | null> {
  for (const key of keys)
    for (const { id, variants } of HASHES)
      for (const { value: hash, detail } of variants()) {
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

const bodyBytes = ({ value }: Input): Bytes => (typeof value === 'string' ? utf8(value) : value)

function keysFor({ keys, otherKeys }: SearchInput): readonly Input[] {
  return KEYS.flatMap(({ id, variants }) =>
    keys.flatMap(key => [...variants({ key, others: otherKeys })].map(({ value, detail }) => input(value, id, detail))),
  )
}

function* bodiesFor(body: SentBody): Iterable<Input> {
  for (const { id, variants } of BODIES)
    for (const { value, detail } of unbroken(variants(body))) yield input(value, id, detail)
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

/** Ends the list at the first variant that fails: JSON nested too deeply, or a character set that the runtime lacks. */
function* unbroken<Value>(variants: Iterable<Variant<Value>>): Iterable<Variant<Value>> {
  try {
    yield* variants
  } catch {
    // The variants before the failure are enough.
  }
}
