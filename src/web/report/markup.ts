/** Builds HTML as text: escapes everything that is not markup, and formats times and sizes. */
import { visible } from '../../text/terminal-text.ts'

/** A class, so that no value from a file or a socket can pass for markup. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Part = Markup | string | number | false | null | undefined | readonly Part[]

/** A template: keeps markup and lists of it, escapes texts and numbers, drops `false` and `null`. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.reduce((text, next, index) => text + textOf(parts[index - 1]) + next))
}

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text
  if (Array.isArray(part)) return part.map(textOf).join('')
  return part === null || part === undefined || part === false ? '' : escapeHtml(visible(String(part)))
}

const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, char => NAMED[char] ?? char)

/** Escapes text without changing invisible characters, for attributes that a machine reads. */
export const exact = (text: string): Markup => new Markup(escapeHtml(text))

/** Escapes text of several lines, for `pre`. */
export const lines = (text: string): Markup => new Markup(text.split('\n').map(textOf).join('\n'))

/** Renders JSON that is safe inside a script element. */
export const json = (value: unknown): Markup =>
  new Markup(
    JSON.stringify(value).replace(/[<\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
