/** The names a user may import, as they are built. `npm test` builds first. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasTopLevelAwait, loadedWith, specifiersOf } from './built-modules.ts'
import { filesIn, importsOf, ROOT, read, readJson } from './files.ts'
import { NODES } from './nodes.ts'

interface Target {
  readonly types: string
  readonly default: string
  readonly browser?: string
}
interface Manifest {
  readonly exports: Readonly<Record<string, Target | string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { optional: boolean }>>
}
const manifest = readJson<Manifest>('package.json')
const entries = Object.entries(manifest.exports).filter((one): one is [string, Target] => typeof one[1] !== 'string')
const inRoot = (path: string) => path.replace('./', '')

/** The packages that a built file may import, and the files that may. */
const IMPORTABLE: Readonly<Record<string, RegExp>> = {
  zod: /^dist\/(contract\.js$|schemas\/contract\/)/,
  msw: /^dist\/(browser\/)?(msw\.js$|types\/adapters\/msw\.d\.ts$)/,
  vitest: /^dist\/(vitest\.js$|types\/vitest\/)/,
}
const packageOf = (specifier: string) => /^(@[^/]+\/)?[^/]+/.exec(specifier)![0]
const outside = (specifiers: readonly string[]) => specifiers.filter(one => !one.startsWith('.'))
/** Imports of packages by files that may not name them. */
const misplaced = (file: string, specifiers: readonly string[]) =>
  outside(specifiers)
    .filter(one => !isBuiltin(one) && !IMPORTABLE[packageOf(one)]?.test(file))
    .map(one => `${file}: ${one}`)

it('zod is the only dependency: contract shares it with the schemas of the user', () => {
  expect(manifest.dependencies).toEqual({ zod: '^4.2.0' })
})

it('msw and vitest are optional peers with ranges, so that npm refuses a version that does not work', () => {
  expect(manifest.peerDependencies).toEqual({ msw: '>=2.10 <4', vitest: '>=3 <6' })
  expect(manifest.peerDependenciesMeta).toEqual({ msw: { optional: true }, vitest: { optional: true } })
})

describe.each(entries)('%s', (_, { types, default: main, browser }) => {
  it('is there, with types', () => {
    for (const path of [types, main, browser ?? main]) expect(existsSync(join(ROOT, path)), path).toBe(true)
  })

  it('can be required: nothing waits while it is loaded', () => {
    expect(loadedWith(inRoot(main), 'at once').filter(hasTopLevelAwait)).toEqual([])
  })

  it.skipIf(browser === undefined)('needs nothing of Node in a browser', () => {
    const files = loadedWith(inRoot(browser!), 'ever')
    expect(files.flatMap(file => outside(specifiersOf(file))).filter(one => one !== 'msw')).toEqual([])
  })
})

it('an await at the top would be seen', () => {
  expect(hasTopLevelAwait('bin/handover-sim.js')).toBe(true)
})

it('signature is one file that needs nothing', () => {
  expect(loadedWith('dist/signature.js', 'ever')).toEqual(['dist/signature.js'])
  expect(specifiersOf('dist/signature.js')).toEqual([])
})

it('a bundle imports a package only in the entry that is for it', () => {
  const files = filesIn('dist', '.js').map(file => `dist/${file}`)
  expect(files.length).toBeGreaterThan(30)
  expect(files.flatMap(file => misplaced(file, specifiersOf(file)))).toEqual([])
})

describe('types', () => {
  const files = filesIn('dist', '.d.ts').map(file => `dist/${file}`)

  it('name a package only in the entry that is for it', () => {
    expect(files.length).toBeGreaterThan(50)
    expect(files.flatMap(file => misplaced(file, importsOf(read(file))))).toEqual([])
    const naming = files.filter(file => /\bzod\b/.test(read(file).replace(/\/\*.*?\*\//gs, '')))
    expect(naming.filter(file => !file.startsWith('dist/schemas/'))).toEqual([])
  })

  it('are only those that the entries lead to', () => {
    const seen = new Set<string>()
    const follow = (file: string): void => {
      if (seen.has(file)) return
      seen.add(file)
      for (const specifier of importsOf(read(file)))
        if (specifier.startsWith('.')) follow(join(file, '..', specifier).replace(/\.js$/, '.d.ts'))
    }
    for (const [, { types }] of entries) follow(inRoot(types))
    expect(files.filter(file => !seen.has(file))).toEqual([])
    expect([...seen].filter(file => !files.includes(file))).toEqual([])
  })
})

/** vitest cannot be loaded outside of a run of it. */
const REQUIRABLE = entries.map(([name]) => name.replace('.', 'handover-sim')).filter(name => !name.endsWith('/vitest'))

describe.each(NODES)('on Node %s', (_, node) => {
  it.skipIf(node === null)('require() gives all of them', () => {
    const script = `
      const entries = ${JSON.stringify(REQUIRABLE)}.map(name => require(name))
      const { createSimulator } = require('handover-sim')
      const sim = createSimulator()
      sim.chat().then(async chat => {
        await sim.close()
        console.log(JSON.stringify([entries.map(one => Object.keys(one).length > 0), chat.status]))
      })`
    const { stdout, stderr } = spawnSync(node!, ['--no-warnings', '-e', script], { cwd: ROOT, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual([REQUIRABLE.map(() => true), 'bot'])
  })
})

describe('data', () => {
  it.each(['schema/scenario.v1.json', 'fixtures/signature-vectors.json', 'scenarios/happy-path.yaml', 'package.json'])(
    'handover-sim/%s is found by its name',
    path => {
      expect(new URL(import.meta.resolve(`handover-sim/${path}`)).pathname).toBe(join(ROOT, path))
    },
  )
})
