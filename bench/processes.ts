/** Starts processes, pinned to a core where `taskset` exists, and reads from /proc what they cost. */
import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const workerFile = (name: string): string => `${ROOT}bench/workers/${name}`

/** What is measured has the first core for itself; load, receivers and yardsticks of webhooks have the second. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1

export const canPin: boolean =
  availableParallelism() > 1 && spawnSync('taskset', ['-c', `${LOAD_CORE}`, 'true']).status === 0

/** Returns the command that runs `command` on one core. */
const pinned = (core: number, command: readonly string[]): string[] =>
  canPin ? ['taskset', '-c', `${core}`, ...command] : [...command]

export interface Started extends AsyncDisposable {
  readonly child: ChildProcess
  readonly pid: number
  /** The first that it wrote to stdout. */
  readonly line: string
}

interface StartOptions {
  readonly core?: number
  readonly stdio?: StdioOptions
  /** It is ready when this port takes connections, and not with its first line. */
  readonly port?: number
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Starts a process that serves until it is disposed, and waits until it is ready. */
export async function startProcess(command: readonly string[], options: StartOptions = {}): Promise<Started> {
  const { core = SERVER_CORE, port, cwd = ROOT, env = process.env } = options
  const stdio = options.stdio ?? ['ignore', port === undefined ? 'pipe' : 'ignore', 'inherit']
  const [file = '', ...args] = pinned(core, command)
  const child = spawn(file, args, { stdio, cwd, env })
  const ended = once(child, 'exit')
  const ready = port === undefined ? firstLine(child) : takesConnections(port, child)
  const line = await Promise.race([ready, ended.then(() => null)])
  if (line === null) throw new Error(`Failed to start ${command.join(' ')}: exit code ${child.exitCode}`)
  return {
    child,
    pid: child.pid!,
    line,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [chunk] = await once(child.stdout!, 'data')
  return String(chunk)
}

async function takesConnections(port: number, child: ChildProcess): Promise<string> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1')
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (connected) break
    await setTimeout(50)
  }
  return ''
}

/** Runs a process to its end and returns its output. */
export async function runProcess(command: readonly string[], options: StartOptions = {}): Promise<string> {
  const { core = LOAD_CORE, cwd = ROOT, env = process.env } = options
  const [file = '', ...args] = pinned(core, command)
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd, env })
  const [output, [code]] = await Promise.all([child.stdout.toArray(), once(child, 'exit')])
  const text = Buffer.concat(output).toString()
  if (code !== 0) throw new Error(`Failed to run ${command.join(' ')}: exit code ${code}\n${text}`)
  return text
}

const MICROSECONDS_PER_TICK = 10_000

/** The processor time of a process so far, in user and system mode. Not a number where there is no /proc. */
export function processorTimeUs(pid: number): number {
  const fields = readFile(`/proc/${pid}/stat`).split(') ')[1]?.split(' ')
  return fields ? (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK : Number.NaN
}

/** How long a core has run processes so far, whichever they are, or was taken away by the host of a virtual machine. */
export function coreTimeUs(core: number): number {
  const line = readFile('/proc/stat')
    .split('\n')
    .find(one => one.startsWith(`cpu${core} `))
  const [user, nice, system, , , , , stolen] = line?.split(' ').slice(1).map(Number) ?? []
  return ((user ?? Number.NaN) + (nice ?? 0) + (system ?? 0) + (stolen ?? 0)) * MICROSECONDS_PER_TICK
}

export type MemoryField = 'VmRSS' | 'VmHWM'

/** The memory of a process in MB: resident now, or the most that was resident. */
export const memoryMb = (pid: number, field: MemoryField): number =>
  (Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFile(`/proc/${pid}/status`))?.[1]) * 1024) / 1e6

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
