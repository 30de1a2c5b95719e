/** Measures how deep a value nests arrays and objects, and how many values a JSON text has before it is parsed. */

export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const child of Object.values(value)) if (isDeeperThan(child, levels - 1)) return true
  return false
}

/** What a JSON text has so far, counted before it is parsed. */
export interface JsonSize {
  /** About how many values there are. */
  readonly values: number
  /** About how many fields the largest object has. */
  readonly fields: number
}

/**
 * Measures a JSON text that comes in pieces; null when it nests deeper than `levels`. The parser of V8 needs seconds and
 * gigabytes for many small values.
 */
export function createJsonMeter(levels: number): (bytes: Uint8Array) => JsonSize | null {
  /** The fields of each open object; -1 for a list. */
  const open: number[] = []
  let values = 1
  let fields = 0
  let isInText = false
  let isEscaped = false
  return bytes => {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isInText = false
      } else if (byte === QUOTE) isInText = true
      else if (byte === COMMA) {
        values++
        const inner = open.length - 1
        const before = open[inner] ?? -1
        if (before >= 0) {
          open[inner] = before + 1
          fields = Math.max(fields, before + 2)
        }
      } else if (byte === OPEN_LIST || byte === OPEN) {
        values++
        if (open.push(byte === OPEN ? 0 : -1) > levels) return null
      } else if (byte === CLOSE_LIST || byte === CLOSE) open.pop()
    }
    return { values, fields }
  }
}

const [QUOTE, COMMA, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [34, 44, 92, 91, 93, 123, 125]
