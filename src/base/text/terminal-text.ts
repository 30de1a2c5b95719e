/** Measures, shortens, pads, quotes and wraps text for a terminal, and escapes untrusted text. */

const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u
const PLAIN = /^[\x20-\x7e]*$/

/** Creates the segmenter for a text that needs one, because the first one takes 9 ms: a fifth of a start. */
function graphemes(text: string): string[] {
  if (PLAIN.test(text)) return [...text]
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), part => part.segment)
}

const widthOfOne = (grapheme: string) => (WIDE.test(grapheme) ? 2 : 1)

/** The number of terminal columns that a text needs. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  return graphemes(text).reduce((sum, grapheme) => sum + widthOfOne(grapheme), 0)
}

/** UTF-16 units that a column may take. What comes after them is not looked at, because a text may have a megabyte. */
const MAX_UNITS = 32

/** Shortens a text to `columns`, with an ellipsis when characters are missing. */
export function shorten(text: string, columns: number): string {
  const most = columns * MAX_UNITS
  if (text.length <= most && widthOf(text) <= columns) return text
  let start = ''
  let used = 1
  for (const grapheme of graphemes(text.slice(0, most))) {
    used += widthOfOne(grapheme)
    if (used > columns) break
    start += grapheme
  }
  return `${start.trimEnd()}…`
}

export const pad = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - widthOf(text)))

const MAX_QUOTE_CHARS = 2000

/** `"Hello…"`, in at most `columns`, never less than a few characters. */
export function quote(text: string, columns: number): string {
  const cut = text.length > MAX_QUOTE_CHARS ? `${text.slice(0, MAX_QUOTE_CHARS)}…` : text
  const most = Math.max(12, columns - 2)
  const shown = shorten(visible(cut), most)
  // As in YAML: the other quotes, rather than backslashes.
  if (shown.includes('"') && !shown.includes("'")) return `'${shown}'`
  return `"${shorten(visible(cut).replaceAll('"', '\\"'), most)}"`
}

/** Breaks a text into lines of at most `columns`; a longer word gets a line of its own. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** `4.2 ms`, `31 ms`, `6.4 s`, `12 min 4 s`. */
export function formatMs(ms: number): string {
  if (ms < 9.95) return `${ms.toFixed(1)} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** `fault flaky`, `faults late, twice` */
export const faultNames = (faults: readonly string[]): string =>
  `${faults.length === 1 ? 'fault' : 'faults'} ${visible(faults.join(', '))}`

const NAMES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Makes untrusted text safe to print: control and direction characters are shown by their code. The expressions are
 * created with the first text, because V8 takes a millisecond to read such classes of characters.
 */
export function visible(text: string): string {
  // Invisible characters except joiners, which emoji and some scripts need.
  const invisible = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u{E0000}-\u{E0FFF}]/gu
  // More combining marks than any script uses, which would cover other lines.
  const markTower = /(\p{M}{4})\p{M}+/gu
  return text.replace(invisible, named).replace(markTower, '$1')
}

/** The same for a text of several lines. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n')

const named = (char: string) =>
  NAMES[char] ?? `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`
