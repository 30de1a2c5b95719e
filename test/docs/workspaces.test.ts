/** What docs/workspaces.md tells to type, typed: its programs and its commands. The programs need the built package. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../../src/server/start.ts'
import { folderWith } from '../config/folder.ts'
import { blocks, hasShell, pathOf, read, rows, run, runInShell, section } from './pages.ts'

const PAGE = read('docs/workspaces.md')

/** Inside the repository, where the package can be imported by its own name, and where git does not look. */
function moduleWith(text: string): string {
  const ignored = pathOf('.handover-sim')
  mkdirSync(ignored, { recursive: true })
  const folder = mkdtempSync(join(ignored, 'workspaces-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'program.mjs'), text)
  return join(folder, 'program.mjs')
}

it.each(blocks(PAGE, 'js'))('its program %# prints what its comment says', async text => {
  const promised = [...text.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map(([, said]) => said)
  const { code, stdout, stderr } = await run(process.execPath, [moduleWith(text)])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.trimEnd().split('\n')).toEqual(promised)
})

it.skipIf(!hasShell)('its commands work, one after the other (needs bash and curl)', async () => {
  await using server = await startServer({ port: 0 })
  const [make = '', use = '', keep = ''] = blocks(PAGE, 'sh')
  const script = [`cd ${folderWith()}`, make, use, make, keep].join('\n').replaceAll('curl -s', 'curl -sf')
  const { code, stdout } = await runInShell(script, { SIM: server.url })
  expect(code).toBe(0)
  expect(stdout).toContain('"name":"checkout"')
  expect(stdout).toContain('"restored":true')
})

it('lists the fields of a workspace', async () => {
  await using server = await startServer({ port: 0 })
  const response = await fetch(`${server.url}/_sim/workspaces`, { method: 'POST' })
  const told = rows(section(PAGE, 'A workspace')).flatMap(([cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  expect(told.sort()).toEqual(Object.keys((await response.json()) as object).sort())
})
