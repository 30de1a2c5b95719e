/** Tests the built entries of the package; `npm test` builds first. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasTopLevelAwait, loadedWith, specifiersOf, usesModuleSyntax } from './built-modules.ts'
import { filesIn, importsOf, ROOT, read, readJson } from './files.ts'
import { NODES } from './nodes.ts'

interface Form {
  readonly types: string
  readonly default: string
}
interface Target extends Form {
  readonly require?: Form
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
/** The chunk that imports files of the user. */
const loadsUserModules = (file: string) => read(file).includes('ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG')
const inRoot = (path: string) => path.replace('./', '')

/** Package -> the built files that may import it. */
const IMPORTABLE: Readonly<Record<string, RegExp>> = {
  zod: /^dist\/(contract\.c?js$|types\/)/,
  msw: /^dist\/(browser\/)?(msw\.c?js$|types\/testing\/msw\.d\.[cm]ts$)/,
  vitest: /^dist\/(vitest\.js$|types\/testing\/vitest\/)/,
}
const packageOf = (specifier: string) => /^(@[^/]+\/)?[^/]+/.exec(specifier)![0]
const outside = (specifiers: readonly string[]) => specifiers.filter(one => !one.startsWith('.'))
/** Returns the imports of packages that this file may not import. */
const misplaced = (file: string, specifiers: readonly string[]) =>
  outside(specifiers)
    .filter(one => !isBuiltin(one) && !IMPORTABLE[packageOf(one)]?.test(file))
    .map(one => `${file}: ${one}`)

it('zod is the only dependency, so that contract and the schemas of the user share one copy', () => {
  expect(manifest.dependencies).toEqual({ zod: '^4.2.0' })
})

it('msw and vitest are optional peers with version ranges', () => {
  expect(manifest.peerDependencies).toEqual({ msw: '>=2.10 <4', vitest: '>=3 <6' })
  expect(manifest.peerDependenciesMeta).toEqual({ msw: { optional: true }, vitest: { optional: true } })
})

describe.each(entries)('%s', (_, { types, default: main, browser, require }) => {
  it('exists and has types', () => {
    const files = [types, main, browser ?? main, ...Object.values(require ?? {})]
    for (const path of files) expect(existsSync(join(ROOT, path)), path).toBe(true)
  })

  it.skipIf(require === undefined)('has a CommonJS form that jest can load: without import() and import.meta', () => {
    const files = loadedWith(inRoot(require!.default), 'ever')
    expect(files.filter(file => !file.endsWith('.cjs'))).toEqual([])
    expect(files.filter(file => usesModuleSyntax(file) && !loadsUserModules(file))).toEqual([])
  })

  it('has an ES form without a top-level await', () => {
    expect(loadedWith(inRoot(main), 'at once').filter(hasTopLevelAwait)).toEqual([])
  })

  it.skipIf(browser === undefined)('imports nothing of Node in a browser', () => {
    const files = loadedWith(inRoot(browser!), 'ever')
    expect(files.flatMap(file => outside(specifiersOf(file))).filter(one => one !== 'msw')).toEqual([])
  })
})

it('the check detects a top-level await', () => {
  expect(hasTopLevelAwait('scripts/build.ts')).toBe(true)
})

it.each(['dist/signature.js', 'dist/signature.cjs'])('%s is one file without imports', file => {
  expect(loadedWith(file, 'ever')).toEqual([file])
  expect(specifiersOf(file)).toEqual([])
})

it('a bundle imports msw, vitest and zod only in their entries', () => {
  const files = filesIn('dist', 'js').map(file => `dist/${file}`)
  expect(files.length).toBeGreaterThan(30)
  expect(files.flatMap(file => misplaced(file, specifiersOf(file)))).toEqual([])
})

describe('types', () => {
  const files = [...filesIn('dist', '.d.cts'), ...filesIn('dist', '.d.mts')].map(file => `dist/${file}`)

  it('name zod, and msw and vitest only in their entries', () => {
    expect(files.length).toBeGreaterThan(50)
    expect(files.flatMap(file => misplaced(file, importsOf(read(file))))).toEqual([])
  })

  it('are exactly those that the entries refer to', () => {
    const visited = new Set<string>()
    const follow = (file: string): void => {
      if (visited.has(file)) return
      visited.add(file)
      for (const specifier of importsOf(read(file)))
        if (specifier.startsWith('.')) follow(join(file, '..', specifier).replace(/\.([cm])js$/, '.d.$1ts'))
    }
    for (const [, { types, require }] of entries)
      for (const one of [types, require?.types ?? types]) follow(inRoot(one))
    expect(files.filter(file => !visited.has(file))).toEqual([])
    expect([...visited].filter(file => !files.includes(file))).toEqual([])
  })
})

const REQUIRABLE = entries.filter(([, { require }]) => require).map(([name]) => name.replace('.', 'handover-sim'))

it('every entry but that for vitest, which is an ES module itself, can be required', () => {
  const others = entries.map(([name]) => name.replace('.', 'handover-sim')).filter(name => !REQUIRABLE.includes(name))
  expect(others).toEqual(['handover-sim/vitest'])
})

describe.each(NODES)('on Node %s', (_, node) => {
  it.skipIf(node === null)('require() loads every entry', () => {
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

  it.skipIf(node === null)('import and require share simulators, interceptions and error classes', () => {
    const script = `
      const names = ['handover-sim', 'handover-sim/scenario', 'handover-sim/interceptors']
      Promise.all(names.map(name => import(name))).then(imported => {
        const different = names.flatMap((name, index) => {
          const required = require(name)
          const both = new Set([...Object.keys(required), ...Object.keys(imported[index])])
          return [...both].filter(key => required[key] !== imported[index][key])
        })
        console.log(JSON.stringify(different))
      })`
    const { stdout, stderr } = spawnSync(node!, ['--no-warnings', '-e', script], { cwd: ROOT, encoding: 'utf8' })
    expect({ stdout, stderr }).toEqual({ stdout: '[]\n', stderr: '' })
  })
})

describe('data', () => {
  it.each(['schema/scenario.v1.json', 'fixtures/signatures/vectors.json', 'scenarios/happy-path.yaml', 'package.json'])(
    'handover-sim/%s resolves',
    path => {
      expect(new URL(import.meta.resolve(`handover-sim/${path}`)).pathname).toBe(join(ROOT, path))
    },
  )
})
