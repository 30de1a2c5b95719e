/** Parses the files of src: their syntax nodes, comments and importers. */
import { dirname, join, normalize } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { filesIn, importsOf, read } from './files.ts'

/** The files of src by path below it, without declarations. */
export const SOURCES = filesIn('src', '.ts', '.tsx').filter(file => !file.endsWith('.d.ts'))

export type Node = Readonly<Record<string, unknown>> & { readonly type: string }
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** Returns every syntax node of a file of src. */
export function nodesOf(file: string): Node[] {
  const found: Node[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit)
    else if (isNode(value)) {
      found.push(value)
      Object.values(value).forEach(visit)
    }
  }
  visit(parseAst(read(`src/${file}`), { lang: file.endsWith('x') ? 'tsx' : 'ts' }).body)
  return found
}

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|[\s;{}(),])\/\/ .*$/gm
/** Returns the comments of a file of src, each on one line. */
export const commentsOf = (file: string): string[] =>
  [...read(`src/${file}`).matchAll(COMMENT)].map(([comment]) => comment.replace(/\s*\n\s*\*?\s*/g, ' '))

/** File of src -> the files of src that import it. */
export function importersBySource(): Map<string, string[]> {
  const importers = new Map<string, string[]>()
  for (const file of SOURCES)
    for (const specifier of importsOf(read(`src/${file}`)).filter(one => one.startsWith('.'))) {
      const target = normalize(join(dirname(file), specifier))
      importers.set(target, [...new Set([...(importers.get(target) ?? []), file])])
    }
  return importers
}
