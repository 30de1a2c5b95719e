/** The built package in a CommonJS project, as `npm init` writes it, and in an older Node. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../architecture/files.ts'
import { folderWith } from '../config/folder.ts'
import { BIN } from './program.ts'

function runIn(files: Record<string, string>, ...args: string[]) {
  const cwd = folderWith({ 'package.json': '{"type":"commonjs"}', ...files })
  return spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8', cwd })
}

it.each([
  ['ts', 'mts'],
  ['js', 'mjs'],
])('an ES module that ends in .%s is refused with the name that works, .%s', (wrong, right) => {
  const text = 'export default { port: 5002 }\n'
  const refused = runIn({ [`handover-sim.config.${wrong}`]: text }, 'config')
  expect([refused.status, refused.stderr]).toEqual([
    2,
    expect.stringContaining(`name it .${right} instead of .${wrong}`),
  ])
  expect(runIn({ [`handover-sim.config.${right}`]: text }, 'config').stdout).toContain('5002')
})

it('scenarios may end in .mts and .cts', () => {
  const steps = "steps: [{ press: 'handover' }, { agent: 'accept' }, { expect: 'start' }]"
  const files = {
    'a.mts': `export default { version: 1 as number, name: 'as a module', ${steps} }\n`,
    'b.cts': `module.exports = { version: 1, name: 'with require', ${steps} }\n`,
  }
  const { status, stdout } = runIn(files, 'run', 'a.mts', 'b.cts', '--self-test')
  expect([status, stdout]).toEqual([0, expect.stringContaining('2 passed')])
})

const OLD_NODE = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.10.0' } })
Object.defineProperty(process, 'version', { value: 'v20.10.0' })
process.getBuiltinModule = undefined
`

/** Runs this Node with the version, and without the function, of an older one. */
function runAsOldNode(...args: string[]) {
  const preload = join(folderWith({ 'old.cjs': OLD_NODE }), 'old.cjs')
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
