/** Writes declaration files with only the public declarations. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type * as ast from 'typescript/unstable/ast'
import * as is from 'typescript/unstable/ast/is'
import { type Declaration, type Module, referencesIn, specifierOf } from './declaration-modules.ts'
import type { PublicDeclarations } from './public-declarations.ts'

/** How a file is written, for instance as `.d.cts` that refers to `.cjs`. */
export interface Form {
  readonly declarations: '.d.cts' | '.d.mts'
  readonly imports: '.cjs' | '.mjs'
}

export function writeDeclarations(
  modules: ReadonlyMap<string, Module>,
  reach: PublicDeclarations,
  folder: string,
  formsOf: (file: string) => readonly Form[],
): void {
  for (const module of modules.values()) {
    const kept = module.declarations.filter(one => reach.kept.has(one))
    const passes = [...module.exports.keys()].some(name => reach.passed.has(`${module.file}:${name}`))
    if (kept.length === 0 && !passes) continue
    const path = join(folder, module.file)
    mkdirSync(dirname(path), { recursive: true })
    for (const { declarations, imports } of formsOf(module.file))
      writeFileSync(path.replace(/\.d\.ts$/, declarations), withSpecifiers(textOf(module, reach), imports))
  }
}

/** Declares disposables for users whose `lib` does not include them; needs TypeScript 5.2. */
const DISPOSABLE = '/// <reference lib="esnext.disposable" />\n'

function textOf(module: Module, reach: PublicDeclarations): string {
  const { statements, text } = module.source
  const used = namesUsed(module, reach)
  const [first] = statements
  const isHead = first && (is.isImportDeclaration(first) || is.isExportDeclaration(first))
  const opening = isHead ? text.slice(0, first.getStart()) : ''
  const parts = statements.map(statement => statementText(module, statement, used, reach).trim())
  const whole = `${opening}${parts.filter(part => part !== '').join('\n')}\nexport {};\n`
  return /\basyncDispose\b|\bSymbol\.dispose\b|\b(Async)?Disposable\b/.test(whole) ? DISPOSABLE + whole : whole
}

/** Rewrites specifiers: `./chat.ts` is `./chat.cjs` or `./chat.mjs` in dist/. */
const withSpecifiers = (text: string, extension: string) =>
  text.replace(/((?:from\s+|import\()['"]\.[^'"]+)\.ts(['"])/g, `$1${extension}$2`)

function statementText(
  module: Module,
  node: ast.Statement,
  used: ReadonlySet<string>,
  reach: PublicDeclarations,
): string {
  if (is.isImportDeclaration(node)) return importText(node, used)
  if (is.isExportDeclaration(node)) return exportText(module, node, reach)
  const declaration = module.declarations.find(one => one.node === node)!
  const text = reach.kept.get(declaration)
  if (text === undefined) return ''
  const { text: whole } = module.source
  return text === null ? whole.slice(node.pos, node.end) : `${whole.slice(node.pos, node.getStart())}${text}`
}

function importText(node: ast.ImportDeclaration, used: ReadonlySet<string>): string {
  const from = `from '${specifierOf(node)}';`
  const { namedBindings, name } = node.importClause ?? {}
  if (name) throw new Error(`Default imports in declarations are not supported: ${node.getText()}`)
  if (!namedBindings) return ''
  if (is.isNamespaceImport(namedBindings))
    return used.has(namedBindings.name.text) ? `import * as ${namedBindings.name.text} ${from}` : ''
  const elements = namedBindings.elements.filter(one => used.has(one.name.text)).map(one => bare(one.getText()))
  return elements.length === 0 ? '' : `import { ${elements.join(', ')} } ${from}`
}

const bare = (specifier: string) => specifier.replace(/^type /, '')

function exportText(module: Module, node: ast.ExportDeclaration, reach: PublicDeclarations): string {
  if (!node.exportClause) return node.getText()
  const { elements } = node.exportClause as ast.NamedExports
  const followed = elements.filter(one => reach.passed.has(`${module.file}:${one.name.text}`))
  if (followed.length === 0) return ''
  const specifier = specifierOf(node)
  const from = specifier === undefined ? '' : ` from '${specifier}'`
  const list = followed.map(one => one.getText()).join(', ')
  return `export ${node.isTypeOnly ? 'type ' : ''}{ ${list} }${from};`
}

/** Returns the names that the public declarations and exports of a file use. */
function namesUsed(module: Module, reach: PublicDeclarations): Set<string> {
  const used = new Set<string>()
  const add = (declaration: Declaration, text: string | null) => {
    const references = text === null ? declaration.references : referencesIn(text, module.file)
    for (const { name, from } of references) if (from === undefined) used.add(name)
  }
  for (const [declaration, text] of reach.kept) if (declaration.module === module) add(declaration, text)
  for (const [exported, { name, from }] of module.exports)
    if (from === undefined && reach.passed.has(`${module.file}:${exported}`)) used.add(name)
  return used
}
