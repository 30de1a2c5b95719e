/** Types derived from schemas and tables, written out: nobody has to install zod, or have the tables, to read them. */
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

/** Throws for a public name that cannot be written without zod. */
export function inlineZodTypes(checker: Checker): Rewrite {
  const known = new Map<Declaration, boolean>()
  return (declaration, lookUp) => {
    const { node, module, names, references } = declaration
    const naming = namesZod(declaration, lookUp, known)
    const derived = references.some(({ meanings }) => !meanings.includes('type'))
    if (canBeInlined(node)) return naming || derived ? inlined(checker, node, module.file) : null
    if (!naming) return null
    throw new Error(`${module.file}: ${names} is public and names zod; only a type alias without parameters can`)
  }
}

function inlined(checker: Checker, node: ast.TypeAliasDeclaration, file: string): string {
  const text = checker.typeToString(checker.getTypeAtLocation(node.name)!, node, FLAGS)
  if (/\bzod\b|\bany\b(?!')/.test(text)) throw new Error(`${file}: ${node.name.text} cannot be written out: ${text}`)
  return `${node.getText().slice(0, node.type.getStart() - node.getStart())}${text};`
}

const canBeInlined = (node: ast.Node): node is ast.TypeAliasDeclaration =>
  is.isTypeAliasDeclaration(node) && !node.typeParameters

/** An alias that names zod is written out, so whoever uses it does not name zod; everything else passes it on. */
function namesZod(declaration: Declaration, lookUp: Lookup, known: Map<Declaration, boolean>): boolean {
  const told = known.get(declaration)
  if (told !== undefined) return told
  known.set(declaration, false)
  const { imports } = declaration.module
  const direct = ({ name, from }: Reference) => isZod(from ?? imports.get(name)?.from)
  const through = (reference: Reference) =>
    lookUp(declaration, reference).some(other => !canBeInlined(other.node) && namesZod(other, lookUp, known))
  const names = declaration.references.some(reference => direct(reference) || through(reference))
  known.set(declaration, names)
  return names
}
