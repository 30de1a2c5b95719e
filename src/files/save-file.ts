/** Puts a text into a file at once: whoever reads it meanwhile sees the old one or the new one, never half of one. */
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

/** Pieces are written as they come. Makes the folder when there is none. Throws an Error in words. */
export function saveText(path: string, text: Iterable<string>): void {
  try {
    makeFolder(dirname(path))
    save(existsSync(path) ? realpathSync(path) : path, text)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(WHY[code ?? ''] ?? message)
  }
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is a file',
  EEXIST: 'part of the path is a file',
  ENOENT: 'a folder of the path cannot be made',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
}

/** From the top down: asked to make a whole path, Node never comes back where a folder cannot be made, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function save(path: string, text: Iterable<string>): void {
  if (isNoFile(path)) return writeAll(path, text)
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

/** A device or a pipe stays what it is; for a folder the system says that it is one. */
const isNoFile = (path: string) => existsSync(path) && !statSync(path).isFile()
