/** A fresh project is CommonJS: `npm init` writes it so. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../architecture/files.ts'

function runIn(files: Record<string, string>, ...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'commonjs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"commonjs"}', ...files }))
    writeFileSync(join(folder, name), text)
  return spawnSync(process.execPath, [`${ROOT}bin/handover-sim.js`, ...args], { encoding: 'utf8', cwd: folder })
}

it.each([
  ['ts', 'mts'],
  ['js', 'mjs'],
])('an ES module that ends in .%s is refused with the name that works, .%s', (wrong, right) => {
  const text = 'export default { port: 5002 }\n'
  const refused = runIn({ [`handover-sim.config.${wrong}`]: text }, 'config')
  expect(refused.status).toBe(2)
  expect(refused.stderr).toContain(
    `handover-sim.config.${wrong}: cannot be loaded: it is an ES module, and its package is CommonJS ("type" in package.json); name it .${right} instead of .${wrong}.`,
  )
  expect(runIn({ [`handover-sim.config.${right}`]: text }, 'config').stdout).toContain('5002')
})

it('scenarios may end in .mts and .cts', () => {
  const steps = "steps: [{ press: 'handover' }, { agent: 'accept' }, { expect: 'start' }]"
  const { status, stdout } = runIn(
    {
      'a.mts': `export default { version: 1 as number, name: 'as a module', ${steps} }\n`,
      'b.cts': `module.exports = { version: 1, name: 'with require', ${steps} }\n`,
    },
    ...['run', 'a.mts', 'b.cts', '--self-test'],
  )
  expect([status, stdout]).toEqual([0, expect.stringContaining('2 passed')])
})
