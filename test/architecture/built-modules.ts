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

/** What a file imports and awaits. */
interface BuiltModule {
  /** The specifiers of `import`, `export from` and `require` outside of functions. */
  readonly atOnce: readonly string[]
  /** The specifiers of all imports, static and dynamic, and of every `require`. */
  readonly ever: readonly string[]
  readonly hasTopLevelAwait: boolean
  readonly usesModuleSyntax: boolean
}

/** The nodes of a file, with whether each is in a function. */
function* nodesOf(file: string): Generator<{ node: Node; inFunction: boolean }> {
  const pending: { value: unknown; inFunction: boolean }[] = [{ value: parseAst(read(file)).body, inFunction: false }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value } = next
    if (typeof value !== 'object' || value === null) continue
    const { type } = value as { type?: unknown }
    const inFunction = next.inFunction || (typeof type === 'string' && /Function/.test(type))
    if (typeof type === 'string') yield { node: value as Node, inFunction }
    for (const child of Object.values(value)) pending.push({ value: child, inFunction })
  }
}

const isRequire = ({ type, callee }: Node) => type === 'CallExpression' && callee?.name === 'require'

function specifierOf(node: Node): string | null {
  const found = isRequire(node) ? node.arguments?.[0] : node.source
  return found?.type === 'Literal' && typeof found.value === 'string' ? found.value : null
}

const isAwait = (node: Node) => node.type === 'AwaitExpression' || (node as { await?: boolean }).await === true
const isModuleSyntax = ({ type }: Node) => type === 'ImportExpression' || type === 'MetaProperty'

function parseModule(file: string): BuiltModule {
  const [atOnce, ever]: [string[], string[]] = [[], []]
  let [hasTopLevelAwait, usesModuleSyntax] = [false, false]
  for (const { node, inFunction } of nodesOf(file)) {
    const specifier = specifierOf(node)
    if (specifier !== null) ever.push(specifier)
    if (specifier !== null && !inFunction && node.type !== 'ImportExpression') atOnce.push(specifier)
    hasTopLevelAwait ||= !inFunction && isAwait(node)
    usesModuleSyntax ||= isModuleSyntax(node)
  }
  return { atOnce, ever, hasTopLevelAwait, usesModuleSyntax }
}

/** Parsed once: the entries share most of their files, which are megabytes of code. */
const modules = new Map<string, BuiltModule>()

function moduleOf(file: string): BuiltModule {
  const known = modules.get(file) ?? parseModule(file)
  modules.set(file, known)
  return known
}

/** Returns the specifiers of all imports, static and dynamic, and of `require`. */
export const specifiersOf = (file: string): readonly string[] => moduleOf(file).ever

/** Returns the files of dist/ that load with a file (`at once`), or that it may also load later (`ever`). */
export function loadedWith(file: string, when: 'at once' | 'ever'): string[] {
  const found = new Set<string>()
  const visit = (one: string): void => {
    if (found.has(one)) return
    found.add(one)
    const { atOnce, ever } = moduleOf(one)
    for (const specifier of when === 'ever' ? ever : atOnce)
      if (specifier.startsWith('.')) visit(normalize(join(dirname(one), specifier)))
  }
  visit(file)
  return [...found].sort()
}

/** A module with a top-level await cannot be loaded by `require`. */
export const hasTopLevelAwait = (file: string): boolean => moduleOf(file).hasTopLevelAwait

/** `import()` and `import.meta` fail in a CommonJS module of jest. */
export const usesModuleSyntax = (file: string): boolean => moduleOf(file).usesModuleSyntax
