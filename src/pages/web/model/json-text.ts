/** Parses JSON that a person writes, and says where the first mistake is. */

export type ParsedJson =
  | { readonly isValid: true; readonly value: unknown }
  /** Line and column count from 1. */
  | { readonly isValid: false; readonly line: number; readonly column: number }

/** An empty text is valid and has the value undefined. */
export function parseJsonText(text: string): ParsedJson {
  if (text.trim() === '') return { isValid: true, value: undefined }
  try {
    return { isValid: true, value: JSON.parse(text) }
  } catch {
    const before = text.slice(0, mistakeIn(text)).split('\n')
    return { isValid: false, line: before.length, column: (before.at(-1) ?? '').length + 1 }
  }
}

const TOKENS =
  /\s*(?:([{}[\],:])|("(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b))/y

type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing'

/** Browsers describe mistakes in different words, so the place is found here: where the first token is that cannot stand there. */
function mistakeIn(text: string): number {
  const open: string[] = []
  let expected: Expected = 'value'
  let at = 0
  for (;;) {
    TOKENS.lastIndex = at
    const match = TOKENS.exec(text)
    const start = at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0)
    if (match === null) return start
    const [, sign, string, literal] = match
    const next = after(
      expected,
      sign ?? (string !== undefined ? 'string' : literal !== undefined ? 'literal' : ''),
      open,
    )
    if (next === null) return start
    expected = next
    at = TOKENS.lastIndex
  }
}

/** What may follow a token; null when the token itself may not stand there. */
function after(expected: Expected, token: string, open: string[]): Expected | null {
  const ended: Expected = open.length === 0 ? 'nothing' : 'comma or end'
  const isValue = expected === 'value' || expected === 'value or end'
  const isName = expected === 'name' || expected === 'name or end'
  if (token === 'string' && isName) return 'colon'
  if ((token === 'string' || token === 'literal') && isValue) return ended
  if ((token === '{' || token === '[') && isValue) {
    open.push(token)
    return token === '{' ? 'name or end' : 'value or end'
  }
  if (token === ':' && expected === 'colon') return 'value'
  const inside = open.at(-1)
  if (token === ',' && expected === 'comma or end') return inside === '{' ? 'name' : 'value'
  const mayEnd = expected === 'comma or end' || expected === 'name or end' || expected === 'value or end'
  if (!mayEnd || inside !== (token === '}' ? '{' : token === ']' ? '[' : null)) return null
  open.pop()
  return open.length === 0 ? 'nothing' : 'comma or end'
}
