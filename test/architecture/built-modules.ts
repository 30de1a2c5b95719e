/** Parses built files: what they import or require, and whether they await at the top level. */
import { dirname, join, normalize } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { read } from './files.ts'

interface Literal {
  readonly type?: string
  readonly value?: unknown
}
interface Node {
  readonly type: string
  readonly source?: Literal
  readonly callee?: { readonly name?: string }
  readonly arguments?: readonly Literal[]
}

/** Returns every node of a file, or only those outside functions. */
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

const isRequire = ({ type, callee }: Node) => type === 'CallExpression' && callee?.name === 'require'

const specifiers = (nodes: readonly Node[]): string[] =>
  nodes
    .map(node => (isRequire(node) ? node.arguments?.[0] : node.source))
    .flatMap(found => (found?.type === 'Literal' && typeof found.value === 'string' ? [found.value] : []))

/** Returns the specifiers of all imports, static and dynamic, and of `require`. */
export const specifiersOf = (file: string): string[] => specifiers(nodesOf(file, true))

/** Returns the files of dist/ that load with a file (`at once`), or that it may also load later (`ever`). */
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

/** A module with a top-level await cannot be loaded by `require`. */
export const hasTopLevelAwait = (file: string): boolean =>
  nodesOf(file, false).some(node => node.type === 'AwaitExpression' || (node as { await?: boolean }).await === true)

/** `import()` and `import.meta` fail in a CommonJS module of jest. */
export const usesModuleSyntax = (file: string): boolean =>
  nodesOf(file, true).some(({ type }) => type === 'ImportExpression' || type === 'MetaProperty')
