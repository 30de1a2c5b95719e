/** An older Node gets one line, from the command and from the library. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../architecture/files.ts'

/** Runs this Node with the version, and without the function, of an older one. */
function runAsOldNode(...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'old-node-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const preload = join(folder, 'old.cjs')
  writeFileSync(
    preload,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.10.0' } })
Object.defineProperty(process, 'version', { value: 'v20.10.0' })
process.getBuiltinModule = undefined\n`,
  )
  return spawnSync(process.execPath, ['--require', preload, ...args], { encoding: 'utf8', cwd: ROOT })
}

const LINE = 'handover-sim needs Node 20.19 or newer, and this is Node 20.10.0.'

it('the command says which Node it needs, and exits with 2', () => {
  const { status, stdout, stderr } = runAsOldNode('bin/handover-sim.js', 'start')
  expect([status, stdout, stderr]).toEqual([2, '', `${LINE}\n`])
})

it.each([
  ['require', '-e', "require('./dist/index.cjs')"],
  ['import', '--input-type=module', '-e', "await import('./dist/index.js')"],
])('%s of the library throws an error that says it', (_, ...args) => {
  const { status, stderr } = runAsOldNode(...args)
  expect(status).toBe(1)
  expect(stderr).toContain(`Error: ${LINE}`)
})
