/** Finds a secret in the forms in which programs write it: as it is, in JSON, in addresses, in HTML, and in one inside of another. */

const ENTITIES: Readonly<Record<string, string>> = { '"': 'quot', "'": 'apos', '&': 'amp', '<': 'lt', '>': 'gt' }

/** Bytes in hexadecimal, each in both cases, as V8 does not ignore the case of a part of an expression. */
const hex = (digits: string): string => digits.replace(/[a-f]/g, letter => `[${letter}${letter.toUpperCase()}]`)

export const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

/** One of JSON, three of JSON inside of JSON, seven of that inside of JSON; also in an address. */
const BACKSLASH = '(?:\\\\|%(?:25)*5[cC])'

/** A regular expression for one character. Letters and digits of ASCII have one form. */
function formsOf(character: string): string {
  if (/^[A-Za-z\d]$/.test(character)) return character
  const percent = [...new TextEncoder().encode(character)].map(
    byte => `%(?:25)*${hex(byte.toString(16).padStart(2, '0'))}`,
  )
  const units = Array.from({ length: character.length }, (_, at) =>
    character.charCodeAt(at).toString(16).padStart(4, '0'),
  )
  const code = character.codePointAt(0) ?? 0
  const short = { '\n': 'n', '\r': 'r', '\t': 't' }[character]
  const written = [literal(character), percent.join('')]
  const escaped = units.map(unit => `u${hex(unit)}`)
  if (character === ' ') written.push('\\+')
  const forms = [
    `${BACKSLASH}{0,8}(?:${written.join('|')})`,
    escaped.map(unit => `${BACKSLASH}{1,8}${unit}`).join(''),
    `&(?:amp;)*#(?:0*${code}|[xX]0*${hex(code.toString(16))});`,
  ]
  if (character in ENTITIES) forms.push(`&(?:amp;)*${ENTITIES[character]};`)
  // In quotes of a shell.
  if (character === "'") forms.push(`'${BACKSLASH}{1,8}''`)
  if (short !== undefined) forms.push(`${BACKSLASH}{1,8}${short}`)
  return `(?:${forms.join('|')})`
}

/** A shorter part of a secret may stay. */
const MIN_PART_CHARS = 8

/** What may stand between the last whole character of a secret and the place where its text was cut. */
const CUT_FORM = /(?:[%\\&][%\\&#;\w]{0,30})?(?=…)/y

export interface SecretForms {
  /** The source of a regular expression that finds the whole secret. */
  readonly source: string
  /** The places, from and to, of parts of the secret beside an ellipsis, which a text has that was shortened. */
  cutIn(text: string): [from: number, to: number][]
}

export function secretForms(secret: string): SecretForms {
  const characters = [...secret]
  const sources = characters.map(formsOf)
  let sticky: RegExp[] | null = null
  let start: RegExp | null = null

  /** The end of the longest run of characters of the secret from the one at `first`, and how many these are. */
  function follow(text: string, at: number, first: number): { end: number; count: number } {
    sticky ??= sources.map(source => new RegExp(source, 'y'))
    let end = at
    let next = first
    for (let form = sticky[next]; form !== undefined; form = sticky[++next]) {
      form.lastIndex = end
      if (!form.test(text)) break
      end = form.lastIndex
    }
    return { end, count: next - first }
  }

  return {
    source: sources.join(''),
    cutIn(text) {
      const ranges: [number, number][] = []
      if (characters.length <= MIN_PART_CHARS) return ranges
      start ??= new RegExp(sources.slice(0, MIN_PART_CHARS).join(''), 'g')
      /** The place of the ellipsis with which a text ends there; -1 for another end. */
      const cutAfter = (end: number) => {
        CUT_FORM.lastIndex = end
        return CUT_FORM.test(text) ? CUT_FORM.lastIndex : -1
      }
      start.lastIndex = 0
      for (let match = start.exec(text); match !== null; match = start.exec(text)) {
        const ellipsis = cutAfter(follow(text, match.index, 0).end)
        if (ellipsis !== -1) ranges.push([match.index, ellipsis])
      }
      for (let at = text.indexOf('…'); at !== -1; at = text.indexOf('…', at + 1)) {
        const next = text.charAt(at + 1)
        if (!/[\\%&+]/.test(next) && !secret.includes(next)) continue
        for (let first = 1; first <= characters.length - MIN_PART_CHARS; first++) {
          const { end, count } = follow(text, at + 1, first)
          if (count < MIN_PART_CHARS) continue
          const ellipsis = cutAfter(end)
          if (first + count === characters.length) ranges.push([at + 1, end])
          else if (ellipsis !== -1) ranges.push([at + 1, ellipsis])
        }
      }
      return ranges
    },
  }
}
