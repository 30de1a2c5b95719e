/** Writes a file atomically, so that a reader sees the old or the new text and never a part of it. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf, systemCodeOf } from '../text/error-text.ts'
import { defineTexts } from '../text/texts.ts'

/** Writes the pieces one by one and creates missing folders. Throws an Error that says why it failed. */
export function saveText(path: string, text: Iterable<string>): void {
  try {
    makeFolder(dirname(path))
    save(existsSync(path) ? realpathSync(path) : path, text)
  } catch (error) {
    throw new Error(REASONS[systemCodeOf(error) ?? ''] ?? messageOf(error))
  }
}

const REASONS: Readonly<Record<string, string>> = defineTexts({
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is a file',
  EEXIST: 'part of the path is a file',
  ENOENT: 'a folder of the path cannot be created',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
})

/** Creates one folder at a time, because a recursive `mkdir` of Node never returns in places such as /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
  }
}

function save(path: string, text: Iterable<string>): void {
  if (isSpecialFile(path)) return writeAll(path, text)
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`)
  try {
    writeAll(draft, text)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

const BATCH_CHARS = 1 << 20

function writeAll(path: string, text: Iterable<string>): void {
  const file = openSync(path, 'w')
  try {
    let batch = ''
    for (const piece of text) {
      batch += piece
      if (batch.length < BATCH_CHARS) continue
      writeFileSync(file, batch)
      batch = ''
    }
    writeFileSync(file, batch)
  } finally {
    closeSync(file)
  }
}

/** Devices and pipes are written directly; for a folder the system reports the error. */
const isSpecialFile = (path: string) => existsSync(path) && !statSync(path).isFile()
