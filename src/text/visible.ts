/** Text from outside, made safe to print: nothing in it can move the cursor or turn the line around. */

/** Joiners shape emoji and some scripts and do no harm; everything else unseen is shown by its number. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u{E0000}-\u{E0FFF}]/gu
const NAMES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }
/** More marks than any script stacks would climb over other lines. */
const MARK_TOWER = /(\p{M}{4})\p{M}+/gu

export const visible = (text: string): string => text.replace(UNSEEN, named).replace(MARK_TOWER, '$1')

const named = (char: string) => NAMES[char] ?? `<U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`
