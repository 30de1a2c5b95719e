// Runs the example intermediary with one bug: `BUG=escapes-html node test/mutants/main.mjs`. Without BUG it runs the
// unchanged example. The settings are those of the example.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { applyPatch } from './patch.ts'
import { PATCHES } from './patches.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/intermediary', import.meta.url))
const bug = process.env.BUG ?? ''
if (bug !== '' && !Object.hasOwn(PATCHES, bug)) {
  process.stderr.write(`Unknown bug ${JSON.stringify(bug)}. Use one of ${Object.keys(PATCHES).join(', ')}.\n`)
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'handover-mutant-'))
try {
  for (const name of readdirSync(EXAMPLE)) {
    if (/\.js(on)?$/.test(name)) copyFileSync(join(EXAMPLE, name), join(folder, name))
  }
  for (const patch of PATCHES[bug] ?? []) {
    const path = join(folder, patch.file)
    writeFileSync(path, applyPatch(readFileSync(path, 'utf8'), patch))
  }
  await import(pathToFileURL(join(folder, 'main.js')).href)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
