/** Watches folders for changed files, and reports changes that follow each other quickly as one. */
import { type FSWatcher, statSync, watch } from 'node:fs'
import { elapsedMs, type Timer, wallTimer } from '../../base/runtime/clock.ts'

export interface FolderWatcher {
  /** Watches exactly these folders from now on, at most `MAX_FOLDERS` of them. */
  follow(folders: readonly string[]): void
  close(): void
}

/** Each watched folder takes a handle of the system. */
const MAX_FOLDERS = 1_000

/** Editors write a file in several operations, and branches change many files. */
const QUIET_MS = 60
const MAX_DELAY_MS = 500

interface Watched {
  readonly watcher: FSWatcher
  readonly inode: number
}

/** `onChange` is called `QUIET_MS` after the last change, and at the latest `MAX_DELAY_MS` after the first. */
export function createFolderWatcher(onChange: () => void): FolderWatcher {
  const watched = new Map<string, Watched>()
  const changes = createDebounce(onChange)
  const stop = (folder: string) => {
    watched.get(folder)?.watcher.close()
    watched.delete(folder)
  }
  const start = (folder: string) => {
    const inode = inodeOf(folder)
    const watcher = inode === null ? null : watchFolder(folder, changes.add, () => stop(folder))
    if (watcher !== null && inode !== null) watched.set(folder, { watcher, inode })
  }
  return {
    follow(folders) {
      const chosen = new Set(folders.slice(0, MAX_FOLDERS))
      // A folder that was created again has another inode, and the old watcher reports nothing.
      for (const [folder, { inode }] of [...watched]) if (!chosen.has(folder) || inodeOf(folder) !== inode) stop(folder)
      for (const folder of chosen) if (!watched.has(folder)) start(folder)
    },
    close() {
      changes.cancel()
      for (const folder of [...watched.keys()]) stop(folder)
    },
  }
}

function createDebounce(run: () => void) {
  let timer: Timer | null = null
  let firstMs = 0
  return {
    add() {
      if (timer === null) firstMs = elapsedMs()
      timer?.cancel()
      timer = wallTimer(Math.min(QUIET_MS, Math.max(0, firstMs + MAX_DELAY_MS - elapsedMs())), () => {
        timer = null
        run()
      })
    },
    cancel: () => timer?.cancel(),
  }
}

/** Null for a folder that is not there, or that cannot be reached. */
function inodeOf(folder: string): number | null {
  try {
    return statSync(folder).ino
  } catch {
    return null
  }
}

/** Null for a folder that cannot be watched: it was removed, or the system has no handle left. */
function watchFolder(folder: string, onChange: () => void, onEnd: () => void): FSWatcher | null {
  try {
    return watch(folder, { persistent: false }, onChange).on('error', onEnd)
  } catch {
    return null
  }
}
