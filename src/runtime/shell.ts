/** Quotes arguments of commands that people paste into a shell. */
import { visible } from '../text/terminal-text.ts'

export type Shell = 'posix' | 'powershell'

const SHELL: Shell = process.platform === 'win32' ? 'powershell' : 'posix'

/** Bare where it can be, in double quotes where these mean the same in every shell, else in the quotes of one shell. */
export function shellWord(text: string, shell: Shell = SHELL): string {
  if (/^[\w./:][\w./:=@+-]*$/.test(text)) return text
  const isShown = visible(text) === text
  if (isShown && /^[^"$`\\!%]+$/.test(text)) return `"${text}"`
  if (shell === 'powershell') return isShown ? `'${text.replaceAll("'", "''")}'` : `"${escapedCodePoints(text)}"`
  return isShown ? `'${text.replaceAll("'", `'\\''`)}'` : `$'${escapedBytes(text)}'`
}

/** Characters that mean themselves in every kind of quotes. */
const isPlain = (character: string): boolean => /^[\w ./:=@,+-]$/.test(character)

/** As bytes in octal, whatever the locale of the shell is. */
function escapedBytes(text: string): string {
  const characters = [...new TextEncoder().encode(text)].map(byte => String.fromCharCode(byte))
  return characters.map(one => (isPlain(one) ? one : `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`)).join('')
}

const escapedCodePoints = (text: string): string =>
  [...text].map(one => (isPlain(one) ? one : `\`u{${(one.codePointAt(0) ?? 0).toString(16)}}`)).join('')
