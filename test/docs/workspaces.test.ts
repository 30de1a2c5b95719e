/** Runs the programs and commands of docs/how-to/workspaces.md. The programs need the built package. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import { folderWith } from '../config/folder.ts'
import { blocks, hasShell, pathOf, read, rows, run, runInShell, section } from './pages.ts'

const PAGE = read('docs/how-to/workspaces.md')

/** Writes a module into an ignored folder of the repository, where it can import the package by name. */
function moduleWith(text: string): string {
  const ignored = pathOf('.handover-sim')
  mkdirSync(ignored, { recursive: true })
  const folder = mkdtempSync(join(ignored, 'workspaces-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'program.mjs'), text)
  return join(folder, 'program.mjs')
}

it.each(blocks(PAGE, 'js'))('program %# prints the output in its comment', async text => {
  const expected = [...text.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map(([, output]) => output)
  const { code, stdout, stderr } = await run(process.execPath, [moduleWith(text)])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.trimEnd().split('\n')).toEqual(expected)
})

it.skipIf(!hasShell)('its commands succeed in order (needs bash and curl)', async () => {
  await using server = await startSimulator({ port: 0 })
  const [make = '', use = '', keep = ''] = blocks(PAGE, 'sh')
  const script = [`cd ${folderWith()}`, make, use, make, keep].join('\n').replaceAll('curl -s', 'curl -sf')
  const { code, stdout } = await runInShell(script, { SIM: server.url })
  expect(code).toBe(0)
  expect(stdout).toContain('"name":"checkout"')
  expect(stdout).toContain('"restored":true')
})

it('lists the fields of a workspace', async () => {
  await using server = await startSimulator({ port: 0 })
  const response = await fetch(`${server.url}/_sim/workspaces`, { method: 'POST' })
  const documented = rows(section(PAGE, 'A workspace')).flatMap(([cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  expect(documented.sort()).toEqual(Object.keys((await response.json()) as object).sort())
})
