/** Starts worker processes, pinned to a core where `taskset` exists, and reads the JSON line each prints. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'

const root = new URL('..', import.meta.url).pathname
const canPin = spawnSync('taskset', ['-c', '0', 'true']).status === 0
const worker = (name: string) => `${root}bench/workers/${name}`

const command = (core: number | null, args: readonly string[]): [string, string[]] =>
  canPin && core !== null ? ['taskset', ['-c', String(core), process.execPath, ...args]] : [process.execPath, [...args]]

export interface Started extends AsyncDisposable {
  readonly process: ChildProcess
  readonly line: Record<string, never> & { port: number; chat?: string; last?: string }
}

/** Starts a long-lived worker on one core; disposal ends it. */
export async function start(
  core: number | null,
  name: string,
  args: readonly string[] = [],
  flags: string[] = [],
): Promise<Started> {
  const [file, all] = command(core, [...flags, worker(name), ...args])
  const child = spawn(file, all, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', chunk => resolve(String(chunk)))
    child.once('exit', code => reject(new Error(`Failed to start ${name}: exit code ${code}`)))
  })
  const stopped = new Promise<void>(resolve => child.once('exit', () => resolve()))
  return {
    process: child,
    line: JSON.parse(line),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await stopped
    },
  }
}

/** Runs a worker to its end and returns the JSON it prints. */
export function run<T>(core: number | null, name: string, args: readonly string[], flags: string[] = []): T {
  const [file, all] = command(core, [...flags, worker(name), ...args])
  return JSON.parse(
    execFileSync(file, all, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1e7 }),
  ) as T
}

export const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

export interface Load {
  readonly requests: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
}

export interface LoadJob {
  readonly port: number
  readonly requests: number
  readonly connections?: number
  readonly path?: string
  readonly body: object
}

/** Sends POST requests with one JSON body from a process on another core. */
export function load({ port, requests, connections = 50, path = '/api/v2/handover/message/', body }: LoadJob): Load {
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sim-handover-key\r\nContent-Type: application/json\r\n`
  return run<Load>(1, 'load.ts', [JSON.stringify({ port, requests, connections, head, body: JSON.stringify(body) })])
}

export const messageTo = (chat: string | undefined) => ({
  bot_id: 1042,
  chat_id: chat,
  message: 'Hello, this is Anna. How can I help you today?',
  sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' },
})

/** One row of the report. */
export interface Figure {
  readonly name: string
  readonly value: string
  readonly baseline: string
  readonly ratio: string
  readonly goal: string
}
