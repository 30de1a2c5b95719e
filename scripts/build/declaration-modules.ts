/** Reads declaration files: what each declares, imports and exports, and which names a declaration refers to. */
import { dirname, join, normalize } from 'node:path'
import type * as ast from 'typescript/unstable/ast'
import * as is from 'typescript/unstable/ast/is'

/** A name such as `Bot` can be a schema and a type. */
export type Meaning = 'type' | 'value'

export interface Reference {
  readonly name: string
  readonly meanings: readonly Meaning[]
  /** The module of `import('./other.ts').Name`; without it, the name belongs to its own file. */
  readonly from?: string
}

export interface Declaration {
  readonly module: Module
  readonly node: ast.Statement
  readonly names: readonly string[]
  readonly meanings: readonly Meaning[]
  readonly references: readonly Reference[]
}

/** The origin of a name: the file `from`, or this file without it. */
export interface Source {
  readonly name: string
  readonly from?: string
  /** True for `export type`, which exports only the type of a schema. */
  readonly typeOnly?: boolean
}

export interface Module {
  readonly file: string
  readonly source: ast.SourceFile
  readonly declarations: Declaration[]
  readonly imports: Map<string, Source>
  readonly exports: Map<string, Source>
  /** The files of `export * from`. */
  readonly stars: string[]
}

/** Resolves `./b.ts` in `a/c.d.ts` to `a/b.d.ts`; the specifier of a package stays unchanged. */
const resolveSpecifier = (specifier: string, file: string): string =>
  specifier.startsWith('.') ? normalize(join(dirname(file), specifier)).replace(/\.[jt]s$/, '.d.ts') : specifier

export function readModule(file: string, source: ast.SourceFile): Module {
  const module: Module = { file, source, declarations: [], imports: new Map(), exports: new Map(), stars: [] }
  for (const statement of source.statements) {
    if (is.isImportDeclaration(statement)) readImport(module, statement)
    else if (is.isExportDeclaration(statement)) readExport(module, statement)
    else module.declarations.push(readDeclaration(module, statement))
  }
  return module
}

export const specifierOf = (node: ast.ImportDeclaration | ast.ExportDeclaration): string | undefined =>
  node.moduleSpecifier && (node.moduleSpecifier as ast.StringLiteral).text

function readImport(module: Module, node: ast.ImportDeclaration): void {
  const from = resolveSpecifier(specifierOf(node)!, module.file)
  const { name, namedBindings } = node.importClause ?? {}
  if (name) module.imports.set(name.text, { name: 'default', from })
  if (!namedBindings) return
  if (is.isNamespaceImport(namedBindings)) module.imports.set(namedBindings.name.text, { name: '*', from })
  else
    for (const one of namedBindings.elements)
      module.imports.set(one.name.text, { name: (one.propertyName ?? one.name).text, from })
}

function readExport(module: Module, node: ast.ExportDeclaration): void {
  const specifier = specifierOf(node)
  const from = specifier === undefined ? {} : { from: resolveSpecifier(specifier, module.file) }
  if (!node.exportClause) module.stars.push(from.from!)
  else if (is.isNamedExports(node.exportClause))
    for (const one of node.exportClause.elements)
      module.exports.set(one.name.text, {
        name: (one.propertyName ?? one.name).text,
        typeOnly: node.isTypeOnly || one.isTypeOnly,
        ...from,
      })
  else throw new Error(`${module.file}: export * as a name is not supported`)
}

function readDeclaration(module: Module, node: ast.Statement): Declaration {
  const names = namesOf(node)
  if (/^export\b/.test(node.getText())) for (const name of names) module.exports.set(name, { name })
  return { module, node, names, meanings: meaningsOf(node), references: referencesOf(node, module.file) }
}

function namesOf(node: ast.Statement): string[] {
  if (is.isVariableStatement(node)) return node.declarationList.declarations.map(one => one.name.getText())
  const { name } = node as { name?: ast.Node }
  return name === undefined ? [] : [name.getText()]
}

function meaningsOf(node: ast.Statement): readonly Meaning[] {
  if (is.isTypeAliasDeclaration(node) || is.isInterfaceDeclaration(node)) return ['type']
  return is.isClassDeclaration(node) || is.isEnumDeclaration(node) ? ['type', 'value'] : ['value']
}

const first = (name: ast.Node): string => (is.isQualifiedName(name) ? first(name.left) : name.getText())

function referencesOf(top: ast.Node, file: string): Reference[] {
  const found: Reference[] = []
  const visit = (node: ast.Node): void => {
    if (is.isTypeQueryNode(node)) found.push({ name: first(node.exprName), meanings: ['value'] })
    else if (is.isTypeReferenceNode(node)) found.push({ name: first(node.typeName), meanings: ['type'] })
    else if (is.isExpressionWithTypeArguments(node))
      found.push({ name: node.expression.getText().replace(/\..*/s, ''), meanings: ['type', 'value'] })
    else if (is.isComputedPropertyName(node))
      found.push({ name: node.expression.getText().replace(/\..*/s, ''), meanings: ['value'] })
    else if (is.isImportTypeNode(node)) found.push(importReference(node, file))
    node.forEachChild(visit)
  }
  visit(top)
  return found
}

function importReference(node: ast.ImportTypeNode, file: string): Reference {
  const specifier = node.argument.getText().replace(/^['"]|['"]$/g, '')
  const name = node.qualifier === undefined ? '*' : first(node.qualifier)
  return { name, meanings: [node.isTypeOf ? 'value' : 'type'], from: resolveSpecifier(specifier, file) }
}

/** Returns every name in the text of a type that can belong to the file. */
export function referencesIn(text: string, file: string): Reference[] {
  const imported = [...text.matchAll(/import\(['"]([^'"]+)['"]\)\.(\w+)/g)]
  const names = new Set(text.match(/[A-Za-z_$][\w$]*/g))
  return [
    ...imported.map(([, specifier, name]): Reference => {
      return { name: name!, meanings: ['type'], from: resolveSpecifier(specifier!, file) }
    }),
    ...[...names].map((name): Reference => ({ name, meanings: ['type'] })),
  ]
}
