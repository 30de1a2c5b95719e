/** HTML as text: whatever is put into a template is escaped, unless it is markup already. */
import { visible } from '../../text/visible.ts'

/** A class, so that nothing read from a file or a socket can look like it. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Part = Markup | string | number | false | null | undefined | readonly Part[]

/** A template: markup and lists of it stay, texts and numbers are escaped, `false` and `null` leave nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.reduce((text, next, index) => text + textOf(parts[index - 1]) + next))
}

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text
  if (Array.isArray(part)) return part.map(textOf).join('')
  return part === null || part === undefined || part === false ? '' : escapeHtml(visible(String(part)))
}

const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, char => NAMED[char]!)

/** Text for a machine, to the letter: what a button copies, what a link leads to. */
export const exact = (text: string): Markup => new Markup(escapeHtml(text))

/** Text of several lines, for `pre`. */
export const lines = (text: string): Markup => new Markup(text.split('\n').map(textOf).join('\n'))

/** JSON that ends neither the script element it stands in nor a line of it. */
export const json = (value: unknown): Markup =>
  new Markup(
    JSON.stringify(value).replace(/[<\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
