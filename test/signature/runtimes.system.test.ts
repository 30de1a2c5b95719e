/** Tests the module on every installed runtime: Node, Node without its globals, Bun and Deno. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importsOf } from '../architecture/files.ts'
import { findRuntime, PATH, titled, versionOf } from '../support/runtimes.ts'
import { bundled } from './bundle.ts'
import { FILE_URL } from './vectors.ts'

const folder = mkdtempSync(join(tmpdir(), 'handover-sim-signature-'))
const vectors = JSON.parse(readFileSync(FILE_URL, 'utf8')).vectors as unknown[]

const program = (bare: boolean) => `
import { checkAll } from './core.mjs'
import { vectors } from './vectors.mjs'
console.log(JSON.stringify(await checkAll(() => import('./bundle.mjs'), vectors, ${bare})))
`

beforeAll(async () => {
  copyFileSync(fileURLToPath(new URL('core.mjs', import.meta.url)), join(folder, 'core.mjs'))
  const files = {
    'bundle.mjs': await bundled(),
    'vectors.mjs': `export const vectors = ${JSON.stringify(vectors)}`,
    'main.mjs': program(false),
    'bare.mjs': program(true),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The installed Node, if it differs from the pinned one of the development dependencies. */
function systemNode(): string | null {
  const found = findRuntime(
    'node',
    PATH.filter(one => !one.includes('node_modules')),
  )
  return found === null || versionOf(found).stdout.trim() === process.version ? null : found
}

const bun = findRuntime('bun')

const RUNTIMES: [name: string, host: string, path: string | null, args: string[]][] = [
  [`Node ${process.version}`, 'node', process.execPath, ['main.mjs']],
  ['Node without Buffer and process', 'node', process.execPath, ['bare.mjs']],
  ["the system's own Node", 'node', systemNode(), ['main.mjs']],
  ['Bun', 'bun', bun, ['main.mjs']],
  ['Bun without Buffer and process', 'bun', bun, ['bare.mjs']],
  ['Deno', 'deno', findRuntime('deno'), ['run', '--no-config', '--no-lock', '--no-prompt', 'main.mjs']],
]

for (const [name, host, path, args] of RUNTIMES)
  test.skipIf(path === null)(`on ${titled(name, path)}: the module signs, verifies and explains`, () => {
    const env = { ...process.env, DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' }
    const { status, stdout, stderr } = spawnSync(path!, args, { cwd: folder, env, encoding: 'utf8', timeout: 50_000 })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const result = JSON.parse(stdout)
    expect(result).toMatchObject({ host, failed: [] })
    expect(result.checked).toBeGreaterThan(vectors.length * 3)
    if (args[0] === 'bare.mjs') expect(result.buffer).toBe('undefined')
  })

test('the bundle is a small file without imports', async () => {
  const code = await bundled()
  expect(importsOf(code)).toEqual([])
  expect(code.length).toBeLessThan(50_000)
})
