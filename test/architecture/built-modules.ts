/** What is built, read as programs: what a file imports, and whether loading it waits for something. */
import { dirname, join, normalize } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { read } from './files.ts'

interface Node {
  readonly type: string
  readonly source?: { readonly type?: string; readonly value?: unknown }
}

/** Every node, or only those that run when the file is loaded. */
function nodesOf(file: string, inFunctions: boolean): Node[] {
  const found: Node[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== 'object' || node === null) return
    const { type } = node as { type?: unknown }
    if (typeof type === 'string') {
      if (!inFunctions && /Function/.test(type)) return
      found.push(node as Node)
    }
    Object.values(node).forEach(visit)
  }
  visit(parseAst(read(file)).body)
  return found
}

const specifiers = (nodes: readonly Node[]): string[] =>
  nodes.flatMap(({ source }) => (source?.type === 'Literal' && typeof source.value === 'string' ? [source.value] : []))

/** What a file imports, at once or later. */
export const specifiersOf = (file: string): string[] => specifiers(nodesOf(file, true))

/** The files of dist/ that are loaded with one of them, or with all that it may load later. */
export function loadedWith(file: string, when: 'at once' | 'ever'): string[] {
  const found = new Set<string>()
  const visit = (one: string): void => {
    if (found.has(one)) return
    found.add(one)
    const imported = when === 'ever' ? nodesOf(one, true) : nodesOf(one, false).filter(isStatic)
    for (const specifier of specifiers(imported))
      if (specifier.startsWith('.')) visit(normalize(join(dirname(one), specifier)))
  }
  visit(file)
  return [...found].sort()
}

const isStatic = ({ type }: Node) => type !== 'ImportExpression'

/** A module that waits cannot be required. */
export const hasTopLevelAwait = (file: string): boolean =>
  nodesOf(file, false).some(node => node.type === 'AwaitExpression' || (node as { await?: boolean }).await === true)
