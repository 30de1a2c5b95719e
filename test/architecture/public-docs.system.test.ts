/** Compiles the examples in the docstrings of the public entries. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ENTRIES, exportsOf } from '../../scripts/library-page.ts'
import { moduleFolder } from '../docs/project.ts'
import { ROOT } from './files.ts'

const NAMES = Object.entries(ENTRIES).flatMap(([entry, file]) => {
  const all = exportsOf(file)
  // An overloaded function has its docstring before the first signature.
  const first = all.filter(({ name }, at) => all.findIndex(one => one.name === name) === at)
  return first.map(one => ({ ...one, entry }))
})

/** Returns the examples of the docstring of a declaration, and of its members. */
const examplesIn = (about: string, type: string): string[] =>
  [`${about}\n@`, type.replaceAll(/^\s*\* ?|^\s*\/\*\* ?/gm, '')].flatMap(text =>
    [...text.matchAll(/@example\n([\s\S]*?)(?=\n@|\*?\/\n)/g)].map(([, example]) => example!.trim()),
  )

/** Entry of the built package -> the names that exist at run time. */
const VALUES = new Map<string, string[]>()
for (const entry of Object.keys(ENTRIES)) VALUES.set(entry, Object.keys(await import(entry)))

/** Completes an example to a module. Without imports it sees the entry, a simulator, a chat and a request. */
function moduleOf(example: string, entry: string): string {
  if (/^import /m.test(example)) return `${example}\nexport {}\n`
  const used = VALUES.get(entry)!.filter(name =>
    new RegExp(`(?<![.\\w$])${name.replace('$', '\\$')}(?![\\w$])`).test(example),
  )
  return [
    `import type { ChatHandle, Simulator } from 'handover-sim'`,
    `import { expect } from 'vitest'`,
    `import 'handover-sim/vitest'`,
    used.length === 0 ? '' : `import { ${used.join(', ')} } from '${entry}'`,
    `export async function example(sim: Simulator, ada: ChatHandle, request: Request): Promise<unknown> {`,
    `{\n${example}\n}`,
    'return [sim, ada, request, expect]\n}',
  ].join('\n')
}

const OPTIONS = {
  ...{ module: 'nodenext', target: 'es2024', lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'] },
  ...{ types: ['node'], strict: true, noEmit: true, skipLibCheck: true },
}

it('every example compiles with the published types', () => {
  const folder = moduleFolder({})
  // An entry may export only the type of a value of another one.
  const exported = NAMES.filter(
    ({ entry, name, type }) => /^(interface|type) /.test(type) || VALUES.get(entry)!.includes(name),
  )
  const examples = exported.flatMap(({ entry, name, about, type }) =>
    examplesIn(about, type).map((example, at) => ({ entry, example, file: `${name.replace('$', '')}-${at}` })),
  )
  expect(examples.length).toBeGreaterThan(30)
  for (const { entry, example, file } of examples)
    writeFileSync(join(folder, `${file}-${entry.replace('/', '-')}.ts`), moduleOf(example, entry))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, include: ['*.ts'] }))
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { cwd: folder, encoding: 'utf8' })
  expect(stdout).toBe('')
})
