/** A folder of its own for each test, gone afterwards. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export function folderWith(files: Readonly<Record<string, string | Uint8Array | null>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    if (content === null) mkdirSync(join(folder, name))
    else writeFileSync(join(folder, name), content)
  }
  return folder
}
