import { execFileSync } from 'node:child_process'
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

interface Loaded {
  readonly modules: readonly string[]
  readonly files: readonly string[]
}

const start = (): Loaded => JSON.parse(execFileSync(process.execPath, ['-e', SCRIPT, CLI], { encoding: 'utf8' }))

it('is ready before Node has loaded what a start does not need', () => {
  const { modules, files } = start()
  expect(modules).toContain('NativeModule http')
  const late = ['crypto', 'fs/promises', 'internal/deps/undici/undici']
  expect(late.filter(name => modules.includes(`NativeModule ${name}`))).toEqual([])
  const chunks = files.map(file => basename(file, '.cjs').replace(/-.{8}$/, ''))
  expect(chunks).toEqual(['cli', 'start', 'rolldown-runtime'])
})
