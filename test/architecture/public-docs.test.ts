/** Checks the docstrings of the public entries: each function has an example, and every example compiles. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { expect, it } from 'vitest'
import { ROOT, read } from './files.ts'

const ENTRIES = {
  'handover-sim': 'src/index.ts',
  'handover-sim/signature': 'src/platform/signature/index.ts',
  'handover-sim/contract': 'src/platform/contract/index.ts',
  'handover-sim/msw': 'src/testing/msw.ts',
  'handover-sim/interceptors': 'src/testing/interceptors/interceptors.ts',
  'handover-sim/vitest': 'src/testing/vitest/index.ts',
  'handover-sim/scenario': 'src/testing/scenario.ts',
} as const

type Kind = 'function' | 'class' | 'value'
interface Declaration {
  readonly entry: string
  readonly name: string
  readonly file: string
  readonly kind: Kind
  readonly doc: string
}

/** The parts of the syntax tree that this file reads. */
interface Name {
  readonly name: string
}
interface Syntax {
  readonly type: string
  readonly start: number
  readonly exportKind?: string
  readonly source?: { readonly value: string } | null
  readonly specifiers?: readonly { readonly local: Name; readonly exported?: Name; readonly exportKind?: string }[]
  readonly declaration?: Syntax | null
  readonly id?: Name | null
  readonly declarations?: readonly { readonly id: Name; readonly init: { readonly type: string } | null }[]
}

const bodyOf = (file: string): readonly Syntax[] =>
  parseAst(read(file), { lang: 'ts' }).body as unknown as readonly Syntax[]
const resolve = (from: string, specifier: string) => posix.join(dirname(from), specifier)

/** Returns the declarations that a file exports, also those it exports again from other files. */
function exportsOf(entry: string, file: string): Declaration[] {
  return bodyOf(file).flatMap(node => {
    if (node.exportKind === 'type') return []
    if (node.type === 'ExportAllDeclaration') return exportsOf(entry, resolve(file, node.source!.value))
    if (node.type !== 'ExportNamedDeclaration') return []
    if (node.declaration) return declared(entry, file, node, node.declaration)
    const values = (node.specifiers ?? []).filter(({ exportKind }) => exportKind !== 'type')
    return values.flatMap(({ local }) => found(entry, sourceOf(file, node, local.name), local.name))
  })
}

const sourceOf = (file: string, node: Syntax, name: string): string => {
  if (node.source) return resolve(file, node.source.value)
  const imported = bodyOf(file).find(one => one.specifiers?.some(({ local }) => local.name === name) && one.source)
  return imported === undefined ? file : resolve(file, imported.source!.value)
}

const found = (entry: string, file: string, name: string) => exportsOf(entry, file).filter(one => one.name === name)

function declared(entry: string, file: string, node: Syntax, declaration: Syntax): Declaration[] {
  const doc = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(read(file).slice(0, node.start))?.[1] ?? ''
  const one = (name: string, kind: Kind): Declaration => ({ entry, name, file, kind, doc })
  if (/^(TSDeclare)?Function(Declaration)?$/.test(declaration.type)) return [one(declaration.id!.name, 'function')]
  if (declaration.type === 'ClassDeclaration') return [one(declaration.id!.name, 'class')]
  if (declaration.type !== 'VariableDeclaration') return []
  return declaration.declarations!.map(({ id, init }) =>
    one(id.name, /^(Arrow)?FunctionExpression$/.test(init?.type ?? '') ? 'function' : 'value'),
  )
}

const all = Object.entries(ENTRIES).flatMap(([entry, file]) => exportsOf(entry, file))
/** An overloaded function has its docstring before the first signature. */
const first = all.filter((one, at) => all.findIndex(({ name, file }) => name === one.name && file === one.file) === at)
const labelOf = ({ entry, name }: Declaration) => `${entry}: ${name}`

it('finds the declarations of every entry', () => {
  const names = first.map(labelOf)
  for (const entry of Object.keys(ENTRIES)) expect(names.some(name => name.startsWith(`${entry}:`))).toBe(true)
  expect(names).toContain('handover-sim: createSimulator')
  expect(names).toContain('handover-sim/scenario: parallel')
})

it('every public function and class has a docstring', () => {
  const missing = first.filter(one => one.kind !== 'value' && one.doc.trim() === '')
  expect(missing.map(labelOf)).toEqual([])
})

it('every public function has an example', () => {
  const missing = first.filter(({ kind, doc }) => kind === 'function' && !doc.includes('@example'))
  expect(missing.map(labelOf)).toEqual([])
})

/** Returns the files that an entry exports values and types from. */
const sourcesOf = (file: string): string[] => [
  file,
  ...bodyOf(file).flatMap(({ type, source }) =>
    source && type.startsWith('Export') ? sourcesOf(resolve(file, source.value)) : [],
  ),
]

/** Returns the examples of all docstrings of a file. */
const examplesIn = (file: string): string[] =>
  [...read(file).matchAll(/@example\n((?:(?!\s*\*\/|\s*\* @)[\s\S])*)/g)].map(([, text]) =>
    text!.replaceAll(/^\s*\* ?/gm, '').trim(),
  )

const valuesOf = (entry: string) => [...new Set(all.filter(one => one.entry === entry).map(({ name }) => name))]

/** Completes an example to a module. Without imports it sees the entry, a simulator, a chat and a request. */
function moduleOf(example: string, entry: string): string {
  if (/^import /m.test(example)) return `${example}\nexport {}\n`
  const names = valuesOf(entry).filter(name =>
    new RegExp(`(?<![.\\w$])${name.replace('$', '\\$')}(?![\\w$])`).test(example),
  )
  return [
    `import type { ChatHandle, Simulator } from 'handover-sim'`,
    `import { expect } from 'vitest'`,
    `import 'handover-sim/vitest'`,
    names.length === 0 ? '' : `import { ${names.join(', ')} } from '${entry}'`,
    `export async function example(sim: Simulator, ada: ChatHandle, request: Request): Promise<unknown> {`,
    '{',
    example,
    '}',
    'return [sim, ada, request, expect]',
    '}',
  ].join('\n')
}

const OPTIONS = {
  module: 'nodenext',
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
  types: ['node'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
}

it('every example compiles with the published types', { timeout: 120_000 }, () => {
  const files = new Map(Object.entries(ENTRIES).flatMap(([entry, file]) => sourcesOf(file).map(one => [one, entry])))
  const ignored = join(ROOT, '.handover-sim')
  mkdirSync(ignored, { recursive: true })
  const folder = mkdtempSync(join(ignored, 'examples-'))
  try {
    let count = 0
    for (const [file, entry] of files)
      for (const example of examplesIn(file))
        writeFileSync(join(folder, `${posix.basename(file, '.ts')}-${++count}.ts`), moduleOf(example, entry))
    expect(count).toBeGreaterThan(30)
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, include: ['*.ts'] }))
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { cwd: folder, encoding: 'utf8' })
    expect(stdout).toBe('')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
