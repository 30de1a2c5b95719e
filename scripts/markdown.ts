/** Writes tables and blocks of JSON in Markdown. */
import { isMap } from '../src/base/objects.ts'

/** A text as one cell of a table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
export const code = (text: string): string => `\`${text}\``
export const codes = (texts: readonly string[]): string => texts.map(code).join(', ')

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows.map(row => row.map(cell))]
  return `${lines.map(line => `| ${line.join(' | ')} |`.replaceAll('  |', ' |')).join('\n')}\n`
}

const COLUMNS = 110

/** JSON whose objects and lists are on one line where they fit. */
function jsonText(value: unknown, indent = ''): string {
  const spaced = (one: unknown): string => {
    if (Array.isArray(one)) return `[${one.map(spaced).join(', ')}]`
    if (!isMap(one) || Object.keys(one).length === 0) return JSON.stringify(one)
    return `{ ${Object.entries(one)
      .map(([key, inner]) => `${JSON.stringify(key)}: ${spaced(inner)}`)
      .join(', ')} }`
  }
  const line = spaced(value)
  if (indent.length + line.length <= COLUMNS) return line
  const inner = `${indent}  `
  if (Array.isArray(value)) return `[\n${value.map(one => inner + jsonText(one, inner)).join(',\n')}\n${indent}]`
  if (!isMap(value)) return line
  const fields = Object.entries(value).map(([key, one]) => `${inner}${JSON.stringify(key)}: ${jsonText(one, inner)}`)
  return `{\n${fields.join(',\n')}\n${indent}}`
}

/** A value as a block of JSON. */
export const jsonBlock = (value: unknown): string => `\`\`\`json\n${jsonText(value)}\n\`\`\`\n`
