/** The ready file: there, complete and true exactly while the simulator serves. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from './errors.ts'

/** Returns what removes it again. A reader never sees half a file. */
export function writeReadyFile(file: string, cwd: string, text: string): () => void {
  const path = resolve(cwd, file)
  const draft = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(draft, text)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new UsageError(`--ready-file: cannot write ${JSON.stringify(file)}: ${(error as Error).message}`)
  }
  return () => removeOwn(path, text)
}

/** Another simulator may have written its own there since. */
function removeOwn(path: string, text: string): void {
  try {
    if (readFileSync(path, 'utf8') === text) rmSync(path)
  } catch {
    // Already gone: that is what was wanted.
  }
}
