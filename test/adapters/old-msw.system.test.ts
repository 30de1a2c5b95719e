/** The built entry `handover-sim/msw` in a project whose msw has another major version. */
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { pathOf } from '../docs/pages.ts'

it.each([
  ['1.3.2', 'rest'],
  ['2.9.0', 'http'],
  ['4.0.0', 'http'],
])('msw %s: one line names the versions that are needed', (version, exported) => {
  const cwd = folderWith({
    node_modules: null,
    'node_modules/msw': null,
    'node_modules/msw/package.json': JSON.stringify({ name: 'msw', version, main: 'index.cjs' }),
    'node_modules/msw/index.cjs': `exports.${exported} = { all() {} }`,
  })
  for (const load of ["import('./msw.js')", "require('./msw.cjs')"]) {
    for (const file of ['msw.js', 'msw.cjs']) copyFileSync(pathOf(`dist/${file}`), join(cwd, file))
    const options = { cwd, encoding: 'utf8' } as const
    const { stderr } = spawnSync(process.execPath, ['--input-type=commonjs', '-e', load], options)
    expect(stderr).toContain(
      `handover-sim/msw needs msw 2.10 or newer, below 4, and ${version} is installed. Install one: npm install`,
    )
  }
})
