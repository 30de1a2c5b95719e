/** Watches folders for changed files, and reports changes that follow each other quickly as one. */
import { type FSWatcher, statSync, watch } from 'node:fs'
import { elapsedMs, type Timer, wallTimer } from '../../base/runtime/clock.ts'

/** Each watched folder takes a handle of the system. */
const MAX_FOLDERS = 1_000

/** Editors write a file in several operations, and branches change many files. */
const QUIET_MS = 60
const MAX_DELAY_MS = 500

/** `onChange` is called `QUIET_MS` after the last change, and at the latest `MAX_DELAY_MS` after the first. */
export function createFolderWatcher(onChange: () => void) {
  const watched = new Map<string, { readonly watcher: FSWatcher; readonly inode: number }>()
  let timer: Timer | null = null
  let firstMs = 0

  function report(): void {
    if (timer === null) firstMs = elapsedMs()
    timer?.cancel()
    timer = wallTimer(Math.min(QUIET_MS, Math.max(0, firstMs + MAX_DELAY_MS - elapsedMs())), () => {
      timer = null
      onChange()
    })
  }

  /** Does nothing for a folder that is not there, or when the system has no handle left. */
  function start(folder: string): void {
    const inode = inodeOf(folder)
    if (inode === null) return
    try {
      const watcher = watch(folder, { persistent: false }, report)
      // Not chained: for a folder in an archive (yarn PnP), `on` returns nothing.
      watcher.on('error', () => stop(folder))
      watched.set(folder, { watcher, inode })
    } catch {
      // The folder was removed meanwhile.
    }
  }

  function stop(folder: string): void {
    watched.get(folder)?.watcher.close()
    watched.delete(folder)
  }

  return {
    /** Watches exactly these folders from now on, at most `MAX_FOLDERS` of them. */
    follow(folders: readonly string[]): void {
      const chosen = new Set(folders.slice(0, MAX_FOLDERS))
      // A folder that was created again has another inode, and the old watcher reports nothing.
      for (const [folder, { inode }] of [...watched]) if (!chosen.has(folder) || inodeOf(folder) !== inode) stop(folder)
      for (const folder of chosen) if (!watched.has(folder)) start(folder)
    },
    close(): void {
      timer?.cancel()
      for (const folder of [...watched.keys()]) stop(folder)
    },
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
