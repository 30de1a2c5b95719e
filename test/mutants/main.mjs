// Runs the example intermediary with one bug: `BUG=escapes-html node test/mutants/main.mjs`. Without BUG it runs the
// unchanged example. The settings are those of the example.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeExample } from './patch.ts'
import { PATCHES } from './patches.ts'

const bug = process.env.BUG ?? ''
if (bug !== '' && !Object.hasOwn(PATCHES, bug)) {
  process.stderr.write(`Unknown bug ${JSON.stringify(bug)}. Use one of ${Object.keys(PATCHES).join(', ')}.\n`)
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'handover-mutant-'))
try {
  await import(pathToFileURL(writeExample(folder, PATCHES[bug] ?? [])).href)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
