/** Writes types that derive from schemas and tables as plain types, so that published types do not refer to zod. */
import type * as ast from 'typescript/unstable/ast'
import * as is from 'typescript/unstable/ast/is'
import { type Checker, NodeBuilderFlags } from 'typescript/unstable/sync'
import type { Declaration, Reference } from './declaration-modules.ts'
import type { Lookup, Rewrite } from './public-declarations.ts'

const FLAGS =
  NodeBuilderFlags.NoTruncation |
  NodeBuilderFlags.InTypeAlias |
  NodeBuilderFlags.MultilineObjectLiterals |
  NodeBuilderFlags.UseSingleQuotesForStringLiteralType |
  NodeBuilderFlags.UseStructuralFallback

const isZod = (specifier: string | undefined) => specifier !== undefined && /^zod(\/|$)/.test(specifier)

/** Throws when a public name needs zod and is not a type alias without parameters. */
export function inlineZodTypes(checker: Checker): Rewrite {
  const cache = new Map<Declaration, boolean>()
  return (declaration, lookUp) => {
    const { node, module, names, references } = declaration
    const refersToZod = isBuiltFromZod(declaration, lookUp, cache)
    const derived = references.some(({ meanings }) => !meanings.includes('type'))
    if (canBeInlined(node)) return refersToZod || derived ? inlined(checker, node, module.file) : null
    if (!refersToZod) return null
    throw new Error(`${module.file}: ${names} is public and names zod; only a type alias without parameters can`)
  }
}

function inlined(checker: Checker, node: ast.TypeAliasDeclaration, file: string): string {
  const text = checker.typeToString(checker.getTypeAtLocation(node.name)!, node, FLAGS)
  if (/\bzod\b|\bany\b(?!'|\??:)/.test(text))
    throw new Error(`${file}: ${node.name.text} cannot be written without zod or any: ${text}`)
  return `${node.getText().slice(0, node.type.getStart() - node.getStart())}${text};`
}

const canBeInlined = (node: ast.Node): node is ast.TypeAliasDeclaration =>
  is.isTypeAliasDeclaration(node) && !node.typeParameters

/** Whether a declaration refers to zod. References to an alias that can be inlined do not count. */
function isBuiltFromZod(declaration: Declaration, lookUp: Lookup, cache: Map<Declaration, boolean>): boolean {
  const cached = cache.get(declaration)
  if (cached !== undefined) return cached
  cache.set(declaration, false)
  const { imports } = declaration.module
  const direct = ({ name, from }: Reference) => isZod(from ?? imports.get(name)?.from)
  const through = (reference: Reference) =>
    lookUp(declaration, reference).some(other => !canBeInlined(other.node) && isBuiltFromZod(other, lookUp, cache))
  const names = declaration.references.some(reference => direct(reference) || through(reference))
  cache.set(declaration, names)
  return names
}
