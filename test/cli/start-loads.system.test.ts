import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

/** Prints in place of the ready line which modules of Node and which files are loaded. */
const SCRIPT = `
const { write } = process.stdout
process.stdout.write = () => {
  write.call(process.stdout, JSON.stringify({ modules: process.moduleLoadList, files: Object.keys(require.cache) }))
  process.exit()
}
require(process.argv[1]).main(['start', '--port', '0'])
`

it('is ready before Node has loaded what a start does not need', () => {
  const output = execFileSync(process.execPath, ['-e', SCRIPT, CLI], { encoding: 'utf8' })
  const { modules, files }: Record<'modules' | 'files', string[]> = JSON.parse(output)
  expect(modules).toContain('NativeModule http')
  const late = ['fs/promises', 'internal/deps/undici/undici', 'stream/consumers']
  expect(late.filter(name => modules.includes(`NativeModule ${name}`))).toEqual([])
  // zod and the schemas of the contract load with the first call.
  expect(files.filter(file => readFileSync(file, 'utf8').includes('$constructor('))).toEqual([])
  const chunks = files.map(file => basename(file, '.cjs').replace(/-.{8}$/, ''))
  expect(chunks.filter(name => /undici|faker|certif|runner|suite|page|chalk/.test(name))).toEqual([])
})
