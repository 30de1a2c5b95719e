/** Puts a server under load with `wrk`, or with Node processes where there is none, and returns what was measured. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOAD_CORE, runProcess, workerFile } from './processes.ts'

export const hasWrk: boolean = spawnSync('wrk', ['--version']).error === undefined

/** A request that is sent again and again. */
export interface RequestTemplate {
  readonly method: 'GET' | 'POST'
  /** `{chat}` in path and body is each of the chats in turn. Their ids have the same length. */
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly chats?: readonly string[]
}

export interface Job extends RequestTemplate {
  readonly port: number
  readonly seconds: number
  readonly connections: number
  /** How long a connection waits before each request. */
  readonly pauseMs?: number
}

export interface Load {
  readonly requests: number
  readonly seconds: number
  readonly p99Ms: number
}

interface Result extends Load {
  readonly refused: number
  readonly broken: number
}

/** An answer other than 2xx, or none, is an error of the bench. */
export async function load(job: Job): Promise<Load> {
  const result = await (hasWrk ? runWrk(job) : runWorkers(job))
  const { refused, broken, requests } = result
  if (refused + broken === 0 && requests > 0) return result
  const failure = `Failed to measure ${job.method} ${job.path}: of ${requests} requests ${refused} got another answer than 2xx, and ${broken} got none.`
  throw new Error(`${failure} The request now gets: ${await sendOnce(job).catch(error => String(error))}`)
}

/** Sends the request once, and returns status and body as text. */
async function sendOnce(job: Job): Promise<string> {
  const { path, body } = forChat(job, job.chats?.[0])
  const { method, headers } = job
  const response = await fetch(`http://127.0.0.1:${job.port}${path}`, { method, headers: headers ?? {}, body })
  return `${response.status} ${(await response.text()).slice(0, 1000)}`
}

/** Returns path and body of the request to one chat. */
export function forChat({ path, body }: RequestTemplate, chat = ''): { path: string; body: string | null } {
  return {
    path: path.replaceAll('{chat}', chat),
    body: body === undefined ? null : JSON.stringify(body).replaceAll('{chat}', chat),
  }
}

function requestText(job: Job): string {
  const { method, path, headers = {}, body, chats } = job
  const text = body === undefined ? '' : JSON.stringify(body)
  const length = Buffer.byteLength(forChat(job, chats?.[0]).body ?? '')
  const fields = { host: '127.0.0.1', ...headers, ...(body === undefined ? {} : { 'content-length': `${length}` }) }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

async function runWrk(job: Job): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-bench-'))
  const [request, ids] = [join(folder, 'request'), join(folder, 'ids')]
  writeFileSync(request, requestText(job))
  writeFileSync(ids, (job.chats ?? []).join('\n'))
  const flags = ['-t1', `-c${job.connections}`, `-d${job.seconds}s`, '--latency', '-s', workerFile('request.lua')]
  const args = ['--', request, job.chats ? ids : '-', `${job.pauseMs ?? 0}`]
  try {
    const output = await runProcess(['wrk', ...flags, `http://127.0.0.1:${job.port}`, ...args])
    return JSON.parse(output.slice(output.lastIndexOf('\n{')))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The slowest p99 stands for all workers. */
async function runWorkers(job: Job): Promise<Result> {
  const count = Math.min(3, Math.max(1, availableParallelism() - 1))
  const { port, seconds, pauseMs = 0, chats = [] } = job
  const connections = Math.ceil(job.connections / count)
  const input = JSON.stringify({ port, seconds, connections, pauseMs, chats, text: requestText(job) })
  const command = [process.execPath, workerFile('load.ts'), input]
  const outputs = await Promise.all(
    Array.from({ length: count }, (_, index) => runProcess(command, { core: LOAD_CORE + index })),
  )
  const results = outputs.map(output => JSON.parse(output) as Result)
  const sum = (field: 'requests' | 'refused' | 'broken') => results.reduce((total, one) => total + one[field], 0)
  const most = (field: 'seconds' | 'p99Ms') => Math.max(...results.map(one => one[field]))
  return {
    requests: sum('requests'),
    refused: sum('refused'),
    broken: sum('broken'),
    seconds: most('seconds'),
    p99Ms: most('p99Ms'),
  }
}
