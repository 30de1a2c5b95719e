/** Checks that docs/how-to/unit-tests.md shows a test that runs, and names existing rules of the linter. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { blocks, inlineCode, pathOf, read } from './pages.ts'

const page = read('docs/how-to/unit-tests.md')
const [app, example] = blocks(page, 'ts')

it('shows the files of test/docs/unit-tests', () => {
  const shown = (file: string) =>
    read(`test/docs/unit-tests/${file}`)
      .replace(/^\/\*\*.*\*\/\n\n/, '')
      .replaceAll('../../../src/index.ts', 'handover-sim')
      .replaceAll('../../../src/testing/vitest/index.ts', 'handover-sim/vitest')
  expect(app).toBe(shown('app.ts'))
  expect(example).toBe(shown('example.test.ts'))
})

it('compiles without the types of a browser', { timeout: 120_000 }, () => {
  const ignored = pathOf('.handover-sim')
  mkdirSync(ignored, { recursive: true })
  const folder = mkdtempSync(join(ignored, 'unit-tests-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'app.ts'), app!)
  writeFileSync(join(folder, 'example.test.ts'), example!)
  const lib = ['es2023']
  const compilerOptions = { module: 'nodenext', lib, types: ['node'], strict: true, noEmit: true, skipLibCheck: true }
  const more = { allowImportingTsExtensions: true }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, ...more } }))
  const compiler = pathOf('node_modules/typescript/bin/tsc')
  expect(spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' }).stdout).toBe('')
})

it('names only existing rules of the linter', () => {
  const headings = [...read('docs/reference/lint.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!)
  const named = inlineCode(page).filter(text => /^[a-z]+(-[a-z]+)+$/.test(text))
  expect(named).toHaveLength(4)
  expect(named.filter(name => !headings.includes(name))).toEqual([])
})
