/** Parses built files: what they import or require, and whether they await at the top level. */
import { dirname, join, normalize } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { read } from './files.ts'

type Literal = { readonly type?: string; readonly value?: unknown }
interface Node {
  readonly type: string
  readonly await?: boolean
  readonly source?: Literal
  readonly callee?: { readonly name?: string }
  readonly arguments?: readonly Literal[]
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

function specifierOf({ type, source, callee, arguments: args }: Node): string | null {
  const found = type === 'CallExpression' && callee?.name === 'require' ? args?.[0] : source
  return found?.type === 'Literal' && typeof found.value === 'string' ? found.value : null
}

/**
 * `atOnce` has the specifiers of `import`, `export from` and `require` outside of functions, `ever` those of all imports and
 * every `require`. A module with a top-level await cannot be loaded by `require`, and `import()` and `import.meta` fail in a
 * CommonJS module of jest.
 */
function parseModule(file: string) {
  const [atOnce, ever]: [string[], string[]] = [[], []]
  let [hasTopLevelAwait, usesModuleSyntax] = [false, false]
  for (const { node, inFunction } of nodesOf(file)) {
    const specifier = specifierOf(node)
    if (specifier !== null) ever.push(specifier)
    if (specifier !== null && !inFunction && node.type !== 'ImportExpression') atOnce.push(specifier)
    hasTopLevelAwait ||= !inFunction && (node.type === 'AwaitExpression' || node.await === true)
    usesModuleSyntax ||= node.type === 'ImportExpression' || node.type === 'MetaProperty'
  }
  return { atOnce, ever, hasTopLevelAwait, usesModuleSyntax }
}

/** Parsed once: the entries share most of their files, which are megabytes of code. */
const modules = new Map<string, ReturnType<typeof parseModule>>()

export function moduleOf(file: string) {
  const parsed = modules.get(file) ?? parseModule(file)
  modules.set(file, parsed)
  return parsed
}

/** Returns the files of dist/ that load with a file (`atOnce`), or that it may also load later (`ever`). */
export function loadedWith(file: string, when: 'atOnce' | 'ever'): string[] {
  const found = new Set<string>()
  const visit = (one: string): void => {
    if (found.has(one)) return
    found.add(one)
    for (const specifier of moduleOf(one)[when])
      if (specifier.startsWith('.')) visit(normalize(join(dirname(one), specifier)))
  }
  visit(file)
  return [...found].sort()
}
