/**
 * Writes large values as JSON in pieces: one string of V8 has at most 512 MB, and writing it whole would block the
 * process. The values are plain data without `toJSON`.
 */

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
  if (Array.isArray(value)) return value.length > LONG_LIST || value.some(item => isLarge(item, levels - 1))
  return Object.values(value).some(field => isLarge(field, levels - 1))
}

function* tokens(value: unknown, present: Present): Generator<string, void> {
  if (typeof value !== 'object' || value === null || !isLarge(value)) yield JSON.stringify(present(value)) ?? 'null'
  else if (Array.isArray(value)) yield* itemTokens(value, present)
  else yield* fieldTokens(value, present)
}

function* itemTokens(items: readonly unknown[], present: Present): Generator<string, void> {
  let before = '['
  for (const item of items) {
    yield before
    yield* tokens(item, present)
    before = ','
  }
  yield items.length === 0 ? '[]' : ']'
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
export function copyJson<T>(value: T): T
export function copyJson(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return null
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => (item === undefined ? null : copyJson(item)))
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, copyJson(field)]))
}
