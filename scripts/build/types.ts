/** Builds the published types: those that the entries refer to, without zod except in the entries for schemas. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { API, type Project } from 'typescript/unstable/sync'
import { type Module, readModule } from './declaration-modules.ts'
import { inlineZodTypes } from './inline-types.ts'
import { publicDeclarations } from './public-declarations.ts'
import { type Form, writeDeclarations } from './write-declarations.ts'

/** Source files below `src`, without `.ts`. */
export interface TypeEntries {
  /** CommonJS that an ES module re-exports. */
  readonly reExported: readonly string[]
  /** In both forms, because each form refers to the same form of a package. */
  readonly inBothForms: readonly string[]
  /** ES modules only. */
  readonly esOnly: readonly string[]
  /** In both forms, with types that may refer to zod; they are written to dist/schemas. */
  readonly schemas: readonly string[]
}

const COMMONJS: Form = { declarations: '.d.cts', imports: '.cjs' }
const ES: Form = { declarations: '.d.mts', imports: '.mjs' }
/** ES modules that refer to CommonJS. */
const ES_ABOVE: Form = { declarations: '.d.mts', imports: '.cjs' }

export function buildTypes(root: string, entries: TypeEntries): void {
  const emitted = mkdtempSync(join(root, 'dist/emitted-'))
  try {
    emit(root, emitted)
    const api = new API({ cwd: emitted })
    const [project] = api.updateSnapshot({ openProjects: [join(emitted, 'tsconfig.json')] }).getProjects()
    const modules = readAll(project!, emitted)
    const files = (names: readonly string[]) => names.map(name => `${name}.d.ts`)
    const { reExported, inBothForms, esOnly } = entries
    const plain = files([...reExported, ...inBothForms, ...esOnly])
    const [both, onlyEs] = [files(inBothForms), files(esOnly)]
    const formsOf = (file: string) => {
      if (onlyEs.includes(file)) return [ES_ABOVE]
      return both.includes(file) ? [COMMONJS, ES_ABOVE] : [COMMONJS]
    }
    const reach = publicDeclarations(modules, plain, inlineZodTypes(project!.checker))
    writeDeclarations(modules, reach, join(root, 'dist/types'), formsOf)
    for (const name of reExported) writeReExport(join(root, 'dist/types', name))
    const schemas = publicDeclarations(modules, files(entries.schemas), () => null)
    writeDeclarations(modules, schemas, join(root, 'dist/schemas'), () => [COMMONJS, ES])
    api.close()
  } finally {
    rmSync(emitted, { recursive: true, force: true })
  }
}

const writeReExport = (path: string): void =>
  writeFileSync(`${path}.d.mts`, `export * from './${basename(path)}.cjs';\n`)

const OPTIONS = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, skipLibCheck: true }
const LIBRARIES = ['es2024', 'esnext.disposable', 'dom', 'dom.iterable']

function emit(root: string, folder: string): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', folder]
  execFileSync(process.execPath, args, { stdio: 'inherit' })
  const config = { compilerOptions: { ...OPTIONS, lib: LIBRARIES, types: ['node'] }, include: ['.'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
}

function readAll(project: Project, folder: string): Map<string, Module> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.d.ts'))
  return new Map(files.map(file => [file, readModule(file, project.program.getSourceFile(join(folder, file))!)]))
}
