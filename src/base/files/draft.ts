/** Replaces a file in one step, so that a reader sees the old or the new text, and never a part of it. */
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { randomToken } from '../runtime/node.ts'

/** Opens a new file: another user of the folder cannot guess the name, and what has it already is not followed or kept. */
export function replaceFile(path: string, text: Iterable<string>, mode?: number): void {
  const draft = join(dirname(path), `.${basename(path)}.${randomToken().replace(/\W/g, '')}.tmp`)
  const file = openSync(draft, 'wx', mode)
  try {
    try {
      for (const piece of text) writeFileSync(file, piece)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
