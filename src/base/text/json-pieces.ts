/**
 * Writes large values as JSON in pieces: one string of V8 has at most 512 MB, and writing it whole would block the
 * process. The values are plain data without `toJSON`.
 */

/** A list whose items are made when they are read, each time. It is written as an array. */
export class LazyList<Item> implements Iterable<Item> {
  readonly #iterate: () => Iterator<Item>
  constructor(iterate: () => Iterator<Item>) {
    this.#iterate = iterate
  }
  [Symbol.iterator](): Iterator<Item> {
    return this.#iterate()
  }
}

/** A long text whose parts are made when they are read, each time. It is written as one string, as it is. */
export class LazyText {
  readonly parts: LazyList<string>
  constructor(iterate: () => Iterator<string>) {
    this.parts = new LazyList(iterate)
  }
}

/** What is written as a `T`. */
export type Lazy<T> = T extends readonly (infer Item)[]
  ? Iterable<Lazy<Item>>
  : T extends string
    ? T | LazyText
    : T extends object
      ? { readonly [Name in keyof T]: Lazy<T[Name]> }
      : T

/** How many characters a piece has at least, except the last one. */
const PIECE_CHARS = 65_536

/** Changes a part of the value before it is written; it gets values with their field names. */
type Present = (part: unknown) => unknown

/** The pieces, joined, are `JSON.stringify(value)`, of which `present` has changed each part. */
export function* jsonPieces(value: unknown, present: Present = part => part): Generator<string, void> {
  let piece = ''
  for (const token of tokens(value, present)) {
    piece += token
    if (piece.length < PIECE_CHARS) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** Only long lists, long texts and what contains them are written in parts: a call for each small value takes ten times longer. */
const LONG_LIST = 50
const DEEPEST = 6

function isLarge(value: unknown, levels = DEEPEST): boolean {
  if (typeof value === 'string') return value.length > PIECE_CHARS
  if (typeof value !== 'object' || value === null || levels === 0) return false
  if (value instanceof LazyList || value instanceof LazyText) return true
  if (Array.isArray(value)) return value.length > LONG_LIST || value.some(item => isLarge(item, levels - 1))
  return Object.values(value).some(field => isLarge(field, levels - 1))
}

function* tokens(value: unknown, present: Present): Generator<string, void> {
  if (typeof value !== 'object' || value === null || !isLarge(value)) yield JSON.stringify(present(value)) ?? 'null'
  else if (value instanceof LazyText) yield* textTokens(value)
  else if (Array.isArray(value) || value instanceof LazyList) yield* itemTokens(value, present)
  else yield* fieldTokens(value, present)
}

function* itemTokens(items: Iterable<unknown>, present: Present): Generator<string, void> {
  let before = '['
  for (const item of items) {
    yield before
    yield* tokens(item, present)
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

function* textTokens({ parts }: LazyText): Generator<string, void> {
  yield '"'
  for (const part of parts) yield JSON.stringify(part).slice(1, -1)
  yield '"'
}

function* fieldTokens(fields: object, present: Present): Generator<string, void> {
  let before = '{'
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    yield before
    before = ','
    if (typeof value !== 'object' || !isLarge(value)) yield fieldText(name, value, present)
    else {
      yield fieldText(name, null, present).slice(0, -'null'.length)
      yield* tokens(value, present)
    }
  }
  yield before === '{' ? '{}' : '}'
}

/** `"name":value`. */
const fieldText = (name: string, value: unknown, present: Present): string =>
  JSON.stringify(present({ [name]: value })).slice(1, -1)

/** Copies plain data as `JSON.parse(JSON.stringify(value))` does, for values of any size. */
export function copyJson<T>(value: Lazy<T>): T
export function copyJson(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return null
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof LazyText) return [...value.parts].join('')
  if (Array.isArray(value) || value instanceof LazyList)
    return Array.from(value, item => (item === undefined ? null : copyJson(item)))
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, copyJson(field)]))
}
