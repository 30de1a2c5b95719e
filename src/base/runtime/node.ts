/** Wraps functions of Node: hashes, secrets, modules of the user, processes. */
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { systemCodeOf } from '../text/error-text.ts'
import { backgroundTimer } from './clock.ts'

// An older Node would end in an error of one of its own functions.
if (process.getBuiltinModule === undefined)
  throw new Error(`handover-sim needs Node 20.19 or newer, and this is Node ${process.version.slice(1)}.`)

/** Loaded at first use: a start needs no cryptography, and loading it takes a tenth of its time. */
const crypto = () => process.getBuiltinModule('node:crypto')

export type HashName = 'sha256' | 'sha1' | 'sha512'

type Encoding = 'base64' | 'hex'

/** `content` is hashed as UTF-8. */
export const hmac = (hash: HashName, key: string, content: string, encoding: Encoding): string =>
  crypto().createHmac(hash, key).update(content, 'utf8').digest(encoding)

export const sha256 = (bytes: Uint8Array): string => crypto().createHash('sha256').update(bytes).digest('hex')

/** When modules of the user were last changed, at the time of their first load. */
const firstLoads = new Map<string, number>()

/**
 * Loads a user's own module by path, relative to the working folder. A module that has changed since its first load is
 * loaded again; the modules that it imports are not.
 */
export async function loadModule(path: string): Promise<Record<string, unknown>> {
  const file = resolve(path)
  const changedMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const firstMs = firstLoads.get(file) ?? changedMs
  firstLoads.set(file, firstMs)
  const url = `${pathToFileURL(file).href}${changedMs === firstMs ? '' : `?changed=${changedMs}`}`
  return import(/* @vite-ignore */ url).catch(error => {
    if (systemCodeOf(error) !== 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG') throw error
    return createRequire(file)(file) // The `require` of jest, which transforms the file.
  })
}

/** A secret. Unlike ids, it does not depend on the seed. */
export const randomToken = (): string => crypto().randomBytes(24).toString('base64url')

/** A seed for a run without one, short enough to type. */
export const freshSeed = (): number => crypto().randomInt(1, 1_000_000)

/** Of Node and of the operating system, for reports: `v24.1.0`, `linux x64`. */
export const machineVersions = () => ({ node: process.version, os: `${process.platform} ${process.arch}` })

/** Compares in a time that tells no more than whether the lengths differ. */
export function sameSecret(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && crypto().timingSafeEqual(left, right)
}

const YOUNG_BYTES = 32 * 2 ** 20
const HEAP_BYTES = 56 * 2 ** 20

/**
 * Keeps the heap of the process near what it uses, for a server that makes much garbage and whose own data is bounded.
 * V8 would let the young generation grow to 134 MB, and the old one to four times of what it uses: a million messages of
 * 10 KB took 620 MB, and take 266 MB. A program can only set this by flags. They are set when the heap has become large,
 * because a server with a small heap answers faster without them; later than this, a burst of messages outgrows the bound.
 */
export function limitHeapGrowth(): void {
  const { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } = process.getBuiltinModule('node:v8')
  const { PerformanceObserver } = process.getBuiltinModule('node:perf_hooks')
  const afterCollections = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
    const isYoungLarge = young === undefined || young.space_size >= YOUNG_BYTES
    const isHeapLarge = getHeapStatistics().used_heap_size >= HEAP_BYTES
    if (isYoungLarge) setFlagsFromString('--semi-space-growth-factor=1')
    if (isHeapLarge) setFlagsFromString('--heap-growing-percent=50')
    if (isYoungLarge && isHeapLarge) afterCollections.disconnect()
  })
  afterCollections.observe({ entryTypes: ['gc'] })
}

const PARENT_POLL_MS = 200

/** Calls `listener` once when the parent process has ended. Returns a function that stops this. */
export function onParentExit(listener: () => void): () => void {
  const parent = process.ppid
  const check = () => {
    if (process.ppid !== parent) listener()
    else timer = backgroundTimer(PARENT_POLL_MS, check)
  }
  let timer = backgroundTimer(PARENT_POLL_MS, check)
  return () => timer.cancel()
}

/** Calls `listener` when this process exits, also after an error that nothing caught. Returns a function that stops this. */
export function onProcessExit(listener: () => void): () => void {
  process.on('exit', listener)
  return () => void process.off('exit', listener)
}

/** Whether a process of this machine runs and belongs to this user. */
export function processRuns(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !hasEnded(pid)
  } catch {
    return false
  }
}

/** A process that has ended stays in the list until its parent collects it, which some containers never do. */
const hasEnded = (pid: number): boolean => /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))

/** Open files that are no connections: logs, reports, modules, programs of a driver. */
const OTHER_FILES = 64
const MIN_CONNECTIONS = 16

/** `most` connections, or this share of the files that the process may open when that is less. */
export const connectionLimit = (most: number, share: number): number =>
  Math.max(MIN_CONNECTIONS, Math.min(most, Math.floor((openFileLimit() - OTHER_FILES) * share)))

/** Infinite where the limit cannot be read. */
function openFileLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** A signal that any number of listeners may follow without a warning of Node. */
export function createAbort(): AbortController {
  const controller = new AbortController()
  allowListeners(controller.signal)
  return controller
}

/** As `AbortSignal.any`, for any number of listeners. */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const signal = AbortSignal.any([...signals])
  allowListeners(signal)
  return signal
}

function allowListeners(signal: AbortSignal): void {
  try {
    process.getBuiltinModule('node:events').setMaxListeners(0, signal)
  } catch {
    // The test environment has an AbortSignal of its own (jsdom), which does not warn.
  }
}

/** The path of `examples/…` or `scenarios`; null when the package has no such file. Sources and bundle lie at different depths. */
export function packagePath(name: string): string | null {
  const candidates = ['..', '../..', '../../..'].map(root => fileURLToPath(new URL(`${root}/${name}`, import.meta.url)))
  return candidates.find(existsSync) ?? null
}

/**
 * Replaces a file in one step, so that a reader sees the old or the new text, and never a part of it. Another user of the
 * folder cannot guess the name of the draft, and what has it already is not followed or kept.
 */
export function replaceFile(path: string, text: Iterable<string>, mode?: number): void {
  const begin = `.${basename(path)}.`
  removeDrafts(dirname(path), begin)
  const draft = join(dirname(path), `${begin}${process.pid}.${randomToken().replace(/\W/g, '')}.tmp`)
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

/** Removes the drafts of processes that were killed while they wrote. */
function removeDrafts(folder: string, begin: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const pid = name.startsWith(begin) ? /^(\d+)\.\w+\.tmp$/.exec(name.slice(begin.length))?.[1] : undefined
      if (pid !== undefined && !processRuns(Number(pid))) rmSync(join(folder, name))
    }
  } catch {
    // They are of another user, or the folder may only be written.
  }
}
