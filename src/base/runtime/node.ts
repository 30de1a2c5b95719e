/** Wraps functions of Node: hashes, secrets, modules of the user and V8 flags. */
import type * as Crypto from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { systemCodeOf } from '../text/error-text.ts'
import { backgroundTimer } from './clock.ts'

export type HashName = 'sha256' | 'sha1' | 'sha512'

type Encoding = 'base64' | 'hex'

let loadedCrypto: typeof Crypto | undefined

/** Loads the module at its first use, because a simulator starts without it. */
function crypto(): typeof Crypto {
  loadedCrypto ??= process.getBuiltinModule('node:crypto')
  return loadedCrypto
}

/** `content` is hashed as UTF-8. */
export function hmac(hash: HashName, key: string, content: string, encoding: Encoding): string {
  // Bun and Deno may lack the hash in one call.
  if (content.length > LONG_CHARS || crypto().hash === undefined)
    return crypto().createHmac(hash, key).update(content, 'utf8').digest(encoding)
  return shortHmac(hash, keyBlocks(hash, key), content, encoding)
}

const LONG_CHARS = 4096
const BLOCK_BYTES: Readonly<Record<HashName, number>> = { sha1: 64, sha256: 64, sha512: 128 }

/** What HMAC hashes before the content, and before the hash of both (RFC 2104). */
interface KeyBlocks {
  readonly inner: Uint8Array
  readonly outer: Uint8Array
}

const scratch = Buffer.alloc(BLOCK_BYTES.sha512 + LONG_CHARS * 3)

/** An HMAC as its two hashes: takes a third of the time of `createHmac`, which creates an object of OpenSSL for each. */
function shortHmac(hash: HashName, { inner, outer }: KeyBlocks, content: string, encoding: Encoding): string {
  const { hash: sumOf } = crypto()
  const start = inner.length
  scratch.set(inner)
  const digest = sumOf(hash, scratch.subarray(0, start + scratch.write(content, start)), 'hex')
  scratch.set(outer)
  return sumOf(hash, scratch.subarray(0, start + scratch.write(digest, start, 'hex')), encoding)
}

const blocks: Readonly<Record<HashName, Map<string, KeyBlocks>>> = {
  sha1: new Map(),
  sha256: new Map(),
  sha512: new Map(),
}

function keyBlocks(hash: HashName, key: string): KeyBlocks {
  const known = blocks[hash].get(key)
  if (known !== undefined) return known
  const bytes = Buffer.from(key)
  const block = new Uint8Array(BLOCK_BYTES[hash])
  block.set(bytes.length > block.length ? crypto().createHash(hash).update(bytes).digest() : bytes)
  const created = { inner: block.map(byte => byte ^ 0x36), outer: block.map(byte => byte ^ 0x5c) }
  if (blocks[hash].size >= 1000) blocks[hash].clear()
  blocks[hash].set(key, created)
  return created
}

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

const digest = (text: string) => crypto().createHash('sha256').update(text).digest()

/** Of Node and of the operating system, for reports: `v24.1.0`, `linux x64`. */
export const machineVersions = () => ({ node: process.version, os: `${process.platform} ${process.arch}` })

/** Compares in constant time. */
export const sameSecret = (a: string, b: string): boolean => crypto().timingSafeEqual(digest(a), digest(b))

/**
 * Both halves of the young generation together grow to about this size, and only under load. A larger one costs no less
 * processor time that can be measured.
 */
const YOUNG_BYTES = 16 * 1_048_576

/**
 * The old generation may grow by about so many bytes, within these percents of what is in use, before V8 collects it. Its
 * collection takes the processor from the answers for some tens of milliseconds, so it should be rare under load.
 */
const OLD_GROWTH = { bytes: 64 * 1_048_576, leastPercent: 80, mostPercent: 200 }

/**
 * Keeps the heap of a process near the size of what is in use. A simulator makes much garbage, and what it keeps is
 * bounded: a young generation of the usual 3 x 32 MB, and an old one that V8 lets grow to four times of what is in use
 * before it collects, cost more memory than they save time. V8 takes the largest size of the young generation only
 * before it starts, and a growth of the old one only in percent, so a listener adapts both after each collection. Call it
 * when the modules of the start are loaded, because V8 does not use cached code of modules while its flags differ from
 * those of their compilation.
 */
export function keepHeapSmall(): void {
  const { PerformanceObserver, constants } = process.getBuiltinModule('node:perf_hooks')
  const isOfOld = (entry: object): boolean =>
    Object(Reflect.get(entry, 'detail')).kind === constants.NODE_PERFORMANCE_GC_MAJOR
  const boundYoung = createYoungBound()
  boundYoung()
  boundOld()
  new PerformanceObserver(collections => {
    boundYoung()
    if (collections.getEntries().some(isOfOld)) boundOld()
  }).observe({ entryTypes: ['gc'] })
}

function createYoungBound(): () => void {
  const { getHeapSpaceStatistics, setFlagsFromString } = process.getBuiltinModule('node:v8')
  let factor = 0
  return () => {
    const young = getHeapSpaceStatistics().find(space => space.space_name === 'new_space')
    const wanted = (young?.space_size ?? 0) < YOUNG_BYTES ? 2 : 1
    if (wanted === factor) return
    factor = wanted
    setFlagsFromString(`--semi-space-growth-factor=${factor}`)
  }
}

function boundOld(): void {
  const { bytes, leastPercent, mostPercent } = OLD_GROWTH
  const percent = (bytes / process.memoryUsage().heapUsed) * 100
  const bounded = Math.round(Math.min(mostPercent, Math.max(leastPercent, percent)))
  process.getBuiltinModule('node:v8').setFlagsFromString(`--heap-growing-percent=${bounded}`)
}

/**
 * Makes V8 compile the expression by which Node recognizes IPv6 addresses, which a start and many connections need.
 * Without optimization that takes 1 ms, not 6 ms. It is used twice, because V8 compiles it again at its second use. While a
 * flag differs, V8 does not use the cached code of modules, so no module loads meanwhile.
 */
export function compileAddressCheck(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  const { isIPv6 } = process.getBuiltinModule('node:net')
  setFlagsFromString('--no-regexp-optimization')
  isIPv6('127.0.0.1')
  isIPv6('127.0.0.1')
  setFlagsFromString('--regexp-optimization')
}

/** Writes compiled code for the next start, which Node does only for a process that ends by itself. Node 20 has no such cache. */
export const writeCompileCache = (): void => process.getBuiltinModule('node:module').flushCompileCache?.()

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
const FEWEST_CONNECTIONS = 16

/** `most` connections, or this share of the files that the process may open when that is less. */
export const connectionLimit = (most: number, share: number): number =>
  Math.max(FEWEST_CONNECTIONS, Math.min(most, Math.floor((openFileLimit() - OTHER_FILES) * share)))

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
