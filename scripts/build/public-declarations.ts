/** Finds the declarations that the public names refer to, directly or indirectly. */
import {
  type Declaration,
  type Meaning,
  type Module,
  type Reference,
  referencesIn,
  type Source,
} from './declaration-modules.ts'

export interface PublicDeclarations {
  /** Published declarations; the text is null for those that stay unchanged. */
  readonly kept: Map<Declaration, string | null>
  /** Re-exports on the way to a declaration, as `file:name`. */
  readonly passed: Set<string>
}

/** Returns the new text of a declaration, or null when it stays unchanged. */
export type Rewrite = (declaration: Declaration, lookUp: Lookup) => string | null
export type Lookup = (declaration: Declaration, reference: Reference) => Declaration[]

const BOTH: readonly Meaning[] = ['type', 'value']

export function publicDeclarations(
  modules: ReadonlyMap<string, Module>,
  entries: readonly string[],
  rewrite: Rewrite,
): PublicDeclarations {
  const reach: PublicDeclarations = { kept: new Map(), passed: new Set() }
  const follow = createLookUp(modules, reach.passed)
  const quietly = createLookUp(modules, new Set())
  const visited = new Set<Module>()

  const keep = (declaration: Declaration): void => {
    if (reach.kept.has(declaration)) return
    const text = rewrite(declaration, quietly.ofReference)
    reach.kept.set(declaration, text)
    enter(declaration.module)
    const { references, module } = declaration
    const all = text === null ? references : referencesIn(text, module.file)
    for (const reference of all) follow.ofReference(declaration, reference).forEach(keep)
  }
  /** `declare module` and `declare global` are always published. */
  function enter(module: Module): void {
    if (visited.has(module)) return
    visited.add(module)
    module.declarations.filter(isAugmentation).forEach(keep)
  }
  for (const entry of entries) {
    const module = modules.get(entry)
    if (!module) throw new Error(`Failed to find the types of entry ${entry}`)
    enter(module)
    for (const [name, { typeOnly }] of exportsOf(modules, module))
      follow.ofExport(entry, name, typeOnly ? ['type'] : BOTH).forEach(keep)
  }
  return reach
}

const isAugmentation = ({ node }: Declaration): boolean => /^(declare|export)\s+(module|global)\b/.test(node.getText())

function exportsOf(modules: ReadonlyMap<string, Module>, module: Module): [string, Source][] {
  const others = module.stars.flatMap(file => exportsOf(modules, modules.get(file)!))
  return [...module.exports, ...others]
}

/** Names of packages have no declarations here. */
function outsideModules(file: string): Declaration[] {
  if (file.endsWith('.d.ts')) throw new Error(`Failed to find the types of ${file}`)
  return []
}

function createLookUp(modules: ReadonlyMap<string, Module>, passed: Set<string>) {
  function inModule(module: Module, name: string, meanings: readonly Meaning[]): Declaration[] {
    const own = module.declarations.filter(
      one => one.names.includes(name) && one.meanings.some(meaning => meanings.includes(meaning)),
    )
    if (own.length > 0) return own
    const imported = module.imports.get(name)
    return imported === undefined ? [] : ofExport(imported.from!, imported.name, meanings)
  }
  function ofExport(file: string, name: string, meanings: readonly Meaning[]): Declaration[] {
    const module = modules.get(file)
    if (module === undefined) return outsideModules(file)
    const source = module.exports.get(name)
    if (source === undefined) return module.stars.flatMap(star => ofExport(star, name, meanings))
    passed.add(`${file}:${name}`)
    return source.from === undefined
      ? inModule(module, source.name, meanings)
      : ofExport(source.from, source.name, meanings)
  }
  const ofReference: Lookup = ({ module }, { name, meanings, from }) =>
    from === undefined ? inModule(module, name, meanings) : ofExport(from, name, meanings)
  return { ofExport, ofReference }
}
