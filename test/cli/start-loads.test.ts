import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

/** Prints what Node has loaded in place of the ready line. */
const SCRIPT = `
const { write } = process.stdout
process.stdout.write = () => {
  write.call(process.stdout, JSON.stringify(process.moduleLoadList))
  process.exit()
}
require(process.argv[1]).main(['start', '--port', '0'])
`

it('is ready before Node has loaded what a start does not need', () => {
  const output = execFileSync(process.execPath, ['-e', SCRIPT, CLI], { encoding: 'utf8' })
  const loaded: string[] = JSON.parse(output)
  expect(loaded).toContain('NativeModule http')
  const late = ['crypto', 'fs/promises', 'internal/deps/undici/undici']
  expect(late.filter(name => loaded.includes(`NativeModule ${name}`))).toEqual([])
})
