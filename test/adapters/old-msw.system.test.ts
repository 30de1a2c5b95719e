/** The built entry `handover-sim/msw` in a project whose msw has another major version. */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'

const built = (file: string) => fileURLToPath(new URL(`../../dist/${file}`, import.meta.url))

/** The last line of the error with which loading the entry ends. */
function errorOf(file: string, load: string, version: string, exported: string): Promise<string> {
  const folder = folderWith()
  const msw = join(folder, 'node_modules/msw')
  mkdirSync(msw, { recursive: true })
  writeFileSync(join(msw, 'package.json'), JSON.stringify({ name: 'msw', version, main: 'index.cjs' }))
  writeFileSync(join(msw, 'index.cjs'), `exports.${exported} = { all() {} }`)
  copyFileSync(built(file), join(folder, file))
  return new Promise(resolve =>
    execFile(process.execPath, ['--input-type=commonjs', '-e', load], { cwd: folder }, (_, __, stderr) =>
      resolve(/^(?:\w*Error: )(.*)$/m.exec(stderr)?.[1] ?? stderr),
    ),
  )
}

it.each([
  ['1.3.2', 'rest'],
  ['2.9.0', 'http'],
  ['4.0.0', 'http'],
])('msw %s: one line names the versions that are needed', async (version, exported) => {
  const expected = `handover-sim/msw needs msw 2.10 or newer, below 4, and ${version} is installed. Install one: npm install --save-dev msw@3`
  expect(await errorOf('msw.js', "import('./msw.js')", version, exported)).toBe(expected)
  expect(await errorOf('msw.cjs', "require('./msw.cjs')", version, exported)).toBe(expected)
})
