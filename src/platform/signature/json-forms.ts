/** Writes the JSON of a body in the styles of many programs. */

const INDENTS: readonly (readonly [indent: string, detail: string])[] = [
  ['  ', 'indented by two spaces'],
  ['    ', 'indented by four spaces'],
  ['\t', 'indented by tabs'],
]

const unicodeEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
const upperCaseEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`

/** Changes of whole JSON texts: only strings have these characters, except for the + of huge numbers. */
const ESCAPINGS: readonly (readonly [rewrite: (json: string) => string, detail: string])[] = [
  [json => json, ''],
  [json => json.replace(/[\u0080-\uffff]/g, unicodeEscape), 'other letters than ASCII as \\u escapes'],
  [json => json.replace(/[\u007f-\uffff]/g, unicodeEscape), 'other letters and delete as \\u escapes'],
  [json => json.replaceAll('/', '\\/'), 'slashes as \\/'],
  [
    json => json.replace(/[\u0080-\uffff]/g, unicodeEscape).replaceAll('/', '\\/'),
    'other letters as \\u escapes and slashes as \\/ (as PHP)',
  ],
  [json => json.replace(/[<>&\u2028\u2029]/g, unicodeEscape), '< > & as \\u escapes (as Go)'],
  [
    json =>
      json
        .replace(/\\(.)/g, (pair, char) => (char === '"' ? '\\u0022' : pair))
        .replace(/[<>&+'`\u007f-\uffff]/g, upperCaseEscape),
    'other letters and < > & + \' " ` as \\u escapes (as .NET)',
  ],
]

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
      [reordered(value, names => names.sort()), 'names sorted'],
      [reordered(value, names => names.reverse()), 'names in reverse order'],
    ]
    for (const [ordered, order] of orders) {
      const layouts = layoutsOf(ordered)
      for (const ending of ['', '\n'])
        for (const [rewrite, escaping] of ESCAPINGS)
          for (const [layout, spacing] of layouts) {
            const json = rewrite(layout) + ending
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

function reordered(value: unknown, order: (names: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map(item => reordered(item, order))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(order(Object.keys(value)).map(name => [name, reordered(Reflect.get(value, name), order)]))
}
