/** Starts processes, pinned to a core where `taskset` exists, and reads their memory. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposableSync, readFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const COMMAND = `${ROOT}bin/handover-sim.js`
export const workerFile = (name: string): string => `${ROOT}bench/workers/${name}`
export const temporaryFolder = () => mkdtempDisposableSync(join(tmpdir(), 'handover-sim-bench-'))

/** What is measured has the first core for itself; the load, and the receivers of webhooks, have the second. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1

export const canPin: boolean =
  availableParallelism() > 1 && spawnSync('taskset', ['-c', `${LOAD_CORE}`, 'true']).status === 0

type Started = AsyncDisposable & { readonly child: ChildProcess }

/** Starts a process that runs until it is disposed. Without a core, it runs on all of them. */
export function startProcess(command: readonly string[], core: number | null, options: SpawnOptions): Started {
  const pinned = canPin && core !== null ? ['taskset', '-c', `${core}`, ...command] : command
  const child = spawn(pinned[0] ?? '', pinned.slice(1), { cwd: ROOT, ...options })
  const ended = once(child, 'exit')
  return {
    child,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export type Server = Started & { readonly url: string }

/** Starts a server, and waits until it prints its address. */
export async function startServer(command: readonly string[], core = SERVER_CORE): Promise<Server> {
  const started = startProcess(command, core, { stdio: ['ignore', 'pipe', 'ignore'] })
  const { child } = started
  const [printed] = await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')])
  const [url] = /http:\/\/[\w.]+:\d+/.exec(String(printed)) ?? []
  if (url !== undefined) return { ...started, url }
  child.kill('SIGKILL')
  throw new Error(`Failed to start ${command.join(' ')}: expected an address, received ${printed}`)
}

/** Runs a process to its end, and returns its output. */
export async function runProcess(command: readonly string[], core: number | null): Promise<string> {
  await using started = startProcess(command, core, { stdio: ['ignore', 'pipe', 'pipe'] })
  const { stdout, stderr } = started.child
  const ended = once(started.child, 'close')
  const [output, errors, [code]] = await Promise.all([stdout!.toArray(), stderr!.toArray(), ended])
  const text = Buffer.concat(output).toString()
  if (code === 0) return text
  throw new Error(`Failed to run ${command.join(' ')}: exit code ${code}\n${text}\n${Buffer.concat(errors)}`)
}

/** The memory of a process in MB: resident now (`VmRSS`), or the most that was resident (`VmHWM`). */
export function memoryMb({ child }: Started, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return (Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / 1e6
}
