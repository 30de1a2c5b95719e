/**
 * Writes large values as JSON in pieces: one string of V8 has at most 512 MB, and writing it whole would block the
 * process. The values are plain data without `toJSON`.
 */

/** Deeper values are written whole: an entry of a journal, a message of a chat. */
const SPLIT_LEVELS = 4

/** How many characters a piece has at least, except the last one. */
const PIECE_CHARS = 262_144

/** The pieces, joined, are `JSON.stringify(value)`. */
export function* jsonPieces(value: unknown): Generator<string, void> {
  let piece = ''
  for (const token of tokens(value, SPLIT_LEVELS)) {
    piece += token
    if (piece.length < PIECE_CHARS) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

function* tokens(value: unknown, levels: number): Generator<string, void> {
  if (levels === 0 || typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null'
  else if (Array.isArray(value)) yield* itemTokens(value, levels)
  else yield* fieldTokens(value, levels)
}

function* itemTokens(items: readonly unknown[], levels: number): Generator<string, void> {
  let before = '['
  for (const item of items) {
    yield before
    yield* tokens(item, levels - 1)
    before = ','
  }
  yield items.length === 0 ? '[]' : ']'
}

function* fieldTokens(fields: object, levels: number): Generator<string, void> {
  let before = '{'
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    yield* tokens(value, levels - 1)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

/** Copies plain data as `JSON.parse(JSON.stringify(value))` does, for values of any size. */
export function copyJson<T>(value: T): T
export function copyJson(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return null
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => (item === undefined ? null : copyJson(item)))
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, copyJson(field)]))
}
