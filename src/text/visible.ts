/** Makes untrusted text safe to print: control and direction characters are shown by their code. */

/** Invisible characters except joiners, which emoji and some scripts need. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u{E0000}-\u{E0FFF}]/gu
const NAMES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }
/** More combining marks than any script uses, which would cover other lines. */
const MARK_TOWER = /(\p{M}{4})\p{M}+/gu

export const visible = (text: string): string => text.replace(UNSEEN, named).replace(MARK_TOWER, '$1')

const named = (char: string) =>
  NAMES[char] ?? `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`
