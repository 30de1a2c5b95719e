/** Recognizes secrets by the names of the fields they stand in, and describes them without showing them. */
import { REDACTED, withoutCredentials } from './redactor.ts'

const SECRET_NAME =
  /^keys(?:\.(?:handover|bot|more))?$|(?:api|access|private|signing)[-_]?key$|token$|secret|passw|credential|^auth(?:orization)?$/i

/** Whether the value of a field with this name is a secret. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

const NO_SECRETS: readonly string[] = ['shared', 'graceful', 'keys.shared', 'keys.graceful']

/** Whether the value at a path is a secret, or a part of one: `keys.handover`, `['knobs', 'keys', 'more', 0]`. */
export const isSecretPath = (path: readonly PropertyKey[]): boolean =>
  path.some(part => isSecretName(String(part))) && !path.some(part => NO_SECRETS.includes(String(part)))

/** The length of a secret that is not valid, with the first character that no key has. */
export function describeSecret(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value !== 'string') return `a ${value === null ? 'null' : typeof value}`
  const characters = [...value]
  const at = characters.findIndex(character => !/^[\x21-\x7e]$/.test(character))
  const code = characters[at]?.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  return code === undefined
    ? `a text of ${characters.length} characters`
    : `a text of ${characters.length} characters, of which character ${at + 1} is U+${code}`
}

/** The start of a line of YAML or JSON, its name and its value: `  - "handover": abc`. */
const NAMED = /^(\s*(?:- +)*["']?([\w.$-]{1,64})["']?\s*:\s*)(.*)$/s
/** A name and its value inside of a line: `{ id: 1, token: abc }`. */
const NAMED_INSIDE = /((?<![\w.$-])([\w.$-]{1,64})["']?\s*:\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^,}]*)/g

const indentOf = (line: string) => line.search(/\S|$/)

/** A line of a YAML or JSON file with `***` in place of secrets: below the name of a secret, or within the line. */
export function maskedLine(lines: readonly string[], index: number): string {
  const line = lines[index] ?? ''
  const [, start = /^\s*(?:- +)*/.exec(line)?.[0] ?? '', name = '', value = line.slice(start.length)] =
    NAMED.exec(line) ?? []
  if (isBelowSecret(lines, index) && !NO_SECRETS.includes(name)) return masked(start, value)
  if (name !== '' && isSecretName(name)) return masked(start, value)
  const inside = line.replace(NAMED_INSIDE, (match, before: string, inner: string) =>
    isSecretName(inner) ? before + REDACTED : match,
  )
  return inside.replace(/(?<![\w+.-])[a-z][\w+.-]{0,30}:\/\/(?:[^\s"'<>]|'(?=[^\s"'<>,}\]]))+/gi, withoutCredentials)
}

const masked = (start: string, value: string) =>
  /^\s*(?:[{[|>]?\s*|#.*|[}\]],?\s*)$/.test(value) ? start + value : start + REDACTED

const MAX_LINES = 5_000

/** Whether a line with less indentation above this one has the name of a secret. */
function isBelowSecret(lines: readonly string[], index: number): boolean {
  let indent = indentOf(lines[index] ?? '')
  for (let at = index - 1; at >= Math.max(0, index - MAX_LINES) && indent > 0; at--) {
    const above = lines[at] ?? ''
    if (above.trim() === '' || indentOf(above) >= indent) continue
    indent = indentOf(above)
    if (isSecretName(NAMED.exec(above)?.[2] ?? '')) return true
  }
  return false
}
