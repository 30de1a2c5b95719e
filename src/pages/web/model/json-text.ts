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

const SPACES = /\s*/y
const STRING = /"(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b/y

/** Browsers describe mistakes in different words, so the place is found here: where the first token is that cannot stand there. */
function mistakeIn(text: string): number {
  let at = 0
  /** Takes what comes next, after spaces. */
  function take(token: RegExp): boolean {
    SPACES.lastIndex = at
    at += SPACES.exec(text)?.[0].length ?? 0
    token.lastIndex = at
    const isNext = token.test(text)
    if (isNext) at = token.lastIndex
    return isNext
  }
  function takeValue(): boolean {
    if (take(/\[/y)) return takeParts(takeValue, /\]/y)
    if (take(/\{/y)) return takeParts(() => take(STRING) && take(/:/y) && takeValue(), /\}/y)
    return take(STRING) || take(LITERAL)
  }
  function takeParts(takePart: () => boolean, end: RegExp): boolean {
    if (take(end)) return true
    do if (!takePart()) return false
    while (take(/,/y))
    return take(end)
  }
  if (takeValue()) take(/$/y)
  return at
}
