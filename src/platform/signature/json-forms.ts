/** Writes the JSON of a body in the styles of many programs. */

const INDENTS: readonly (readonly [indent: string, detail: string])[] = [
  ['  ', 'indented by two spaces'],
  ['    ', 'indented by four spaces'],
  ['\t', 'indented by tabs'],
]

/** How programs write other characters than ASCII letters and digits. Only strings have them, except for the + of huge numbers. */
const ESCAPINGS = {
  none: '',
  letters: 'other letters than ASCII as \\u escapes',
  lettersAndDelete: 'other letters and delete as \\u escapes',
  slashes: 'slashes as \\/',
  php: 'other letters as \\u escapes and slashes as \\/ (as PHP)',
  go: '< > & as \\u escapes (as Go)',
  dotnet: 'other letters and < > & + \' " ` as \\u escapes (as .NET)',
} as const

function escapeAs(style: keyof typeof ESCAPINGS, json: string): string {
  const hexOf = (char: string) => char.charCodeAt(0).toString(16).padStart(4, '0')
  const escaped = (text: string, characters: RegExp) => text.replace(characters, char => `\\u${hexOf(char)}`)
  switch (style) {
    case 'none':
      return json
    case 'letters':
      return escaped(json, /[\u0080-\uffff]/g)
    case 'lettersAndDelete':
      return escaped(json, /[\u007f-\uffff]/g)
    case 'slashes':
      return json.replaceAll('/', '\\/')
    case 'php':
      return escaped(json, /[\u0080-\uffff]/g).replaceAll('/', '\\/')
    case 'go':
      return escaped(json, /[<>&\u2028\u2029]/g)
    case 'dotnet':
      return json
        .replace(/\\(.)/g, (pair, char) => (char === '"' ? '\\u0022' : pair))
        .replace(/[<>&+'`\u007f-\uffff]/g, char => `\\u${hexOf(char).toUpperCase()}`)
  }
}

const STRING_OR_SEPARATOR = /("[^"\\]*(?:\\.[^"\\]*)*")|[,:]/g
/** The indents of deeper nesting would be longer than the body by far. */
const DEEP_NESTING = /(?:[[{][^[\]{}]*){33}/

/** Yields each different text once, the most likely first; nothing when the text is not JSON, or is nested too deeply. */
export function* jsonForms(text: string): Iterable<readonly [json: string, detail: string]> {
  const seen = new Set<string>()
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    if (typeof value === 'string') yield [value, 'it was JSON inside a JSON string']
    yield [JSON.stringify(text), 'the text was written as a JSON string']
    const orders: [unknown, string][] = [
      [value, 'as JSON.stringify(JSON.parse(body)) writes it'],
      [reordered(value, 'sorted'), 'names sorted'],
      [reordered(value, 'reversed'), 'names in reverse order'],
    ]
    for (const [ordered, order] of orders) {
      const layouts = layoutsOf(ordered)
      for (const ending of ['', '\n'])
        for (const [style, escaping] of Object.entries(ESCAPINGS))
          for (const [layout, spacing] of layouts) {
            const json = escapeAs(style as keyof typeof ESCAPINGS, layout) + ending
            if (seen.has(json)) continue
            seen.add(json)
            const styles = [spacing, escaping, ending && 'a newline at the end', order]
            yield [json, styles.filter(style => style !== '').join(', ')]
          }
    }
  } catch {
    // The forms before the failure are enough.
  }
}

function layoutsOf(value: unknown): (readonly [json: string, detail: string])[] {
  const compact = JSON.stringify(value)
  const spaced = compact.replace(STRING_OR_SEPARATOR, (match, string) => string ?? `${match} `)
  const indents = DEEP_NESTING.test(compact) ? [] : INDENTS
  return [
    [compact, ''],
    [spaced, "spaces behind , and : (as Python's json.dumps)"],
    ...indents.map(([indent, detail]) => [JSON.stringify(value, null, indent), detail] as const),
  ]
}

function reordered(value: unknown, order: 'sorted' | 'reversed'): unknown {
  if (Array.isArray(value)) return value.map(item => reordered(item, order))
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value)
  const ordered: Record<string, unknown> = {}
  for (const name of order === 'sorted' ? names.sort() : names.reverse())
    ordered[name] = reordered(Reflect.get(value, name), order)
  return ordered
}
