/** Builds the published types: those that the entries refer to, without zod except in the entries for schemas. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { API, type Project } from 'typescript/unstable/sync'
import { type Module, readModule } from './declaration-modules.ts'
import { inlineZodTypes } from './inline-types.ts'
import { publicDeclarations } from './public-declarations.ts'
import { writeDeclarations } from './write-declarations.ts'

export interface TypeEntries {
  /** Source files below `src`, without `.ts`. */
  readonly plain: readonly string[]
  /** Source files whose types may refer to zod; they are written to dist/schemas. */
  readonly schemas: readonly string[]
}

export function buildTypes(root: string, entries: TypeEntries): void {
  const emitted = mkdtempSync(join(root, 'dist/emitted-'))
  try {
    emit(root, emitted)
    const api = new API({ cwd: emitted })
    const [project] = api.updateSnapshot({ openProjects: [join(emitted, 'tsconfig.json')] }).getProjects()
    const modules = readAll(project!, emitted)
    const files = (names: readonly string[]) => names.map(name => `${name}.d.ts`)
    const plain = publicDeclarations(modules, files(entries.plain), inlineZodTypes(project!.checker))
    writeDeclarations(modules, plain, join(root, 'dist/types'))
    const schemas = publicDeclarations(modules, files(entries.schemas), () => null)
    writeDeclarations(modules, schemas, join(root, 'dist/schemas'))
    api.close()
  } finally {
    rmSync(emitted, { recursive: true, force: true })
  }
}

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
