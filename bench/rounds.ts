/** Measures sides alternately, so that other work on the machine affects all of them alike; servers under the load of `wrk`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LOAD_CORE, runProcess, SERVER_CORE, type Server, temporaryFolder, workerFile } from './processes.ts'
import { createRow, type Row } from './rows.ts'

/** What figures are given, by the flags of `npm run bench`. */
export interface Settings {
  /** The program that runs what is measured, for instance another version of Node. */
  readonly node: string
  readonly isQuick: boolean
  readonly rounds: number
  /** How long one side of a round is under load. */
  readonly seconds: number
}

export type Figures = Readonly<Record<string, (settings: Settings) => Promise<Row[]>>>

/** Returns a smaller number for a short look. */
export const fewer = ({ isQuick }: Settings, usual: number, few: number): number => (isQuick ? few : usual)

/** Returns the values of each side. Every other round begins with the last side. */
export async function alternately<S, V>(rounds: number, sides: readonly S[], measure: (side: S) => Promise<V>) {
  const values: V[][] = sides.map(() => [])
  for (let round = 0; round < rounds; round++) {
    const order = [...sides.entries()]
    for (const [index, side] of round % 2 === 0 ? order : order.reverse()) values[index]?.push(await measure(side))
  }
  return values
}

/** Returns the microseconds of a call in each of the ways of the worker. */
export async function microseconds({ node }: Settings, ways: string, count: number, ...more: readonly string[]) {
  const command = [node, workerFile('microseconds.mjs'), ways, `${count}`, ...more]
  return JSON.parse(await runProcess(command, SERVER_CORE)) as number[]
}

/** A request that is sent again and again. */
export interface RequestTemplate {
  readonly method: 'GET' | 'POST'
  /** `{id}` in path, headers and body is each of the ids in turn. All ids have the same length. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  readonly ids?: readonly string[]
}

/** Returns the request with the first of its ids. */
export function firstOf({ method, path, headers = {}, body, ids = ['-'] }: RequestTemplate) {
  const fill = (text: string) => text.replaceAll('{id}', ids[0] ?? '')
  const fields: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) fields[name] = fill(value)
  return { method, path: fill(path), headers: fields, body: body ? fill(JSON.stringify(body)) : null }
}

/** Sends the request once, and returns the answer, which must be 2xx. */
export async function answerOf({ url }: Server, request: RequestTemplate): Promise<{ status: number; body: string }> {
  const { path, ...init } = firstOf(request)
  const response = await fetch(url + path, init)
  const body = await response.text()
  if (response.ok) return { status: response.status, body }
  throw new Error(`${request.method} ${path} got ${response.status} ${body.slice(0, 1000)}`)
}

export interface Side {
  readonly server: Server
  readonly request: RequestTemplate
  readonly connections?: number
  /** How long a connection waits before each request. */
  readonly pauseMs?: number
}

/** Puts one server under load. An answer other than 2xx, or none, is an error of the bench. */
export async function load(seconds: number, { server, request, connections = 50, pauseMs = 0 }: Side) {
  const { method, path, headers = {}, body, ids = ['-'] } = request
  using folder = temporaryFolder()
  const files = [join(folder.path, 'request'), join(folder.path, 'ids')] as const
  const length = `${Buffer.byteLength(firstOf(request).body ?? '')}`
  const fields = { host: '127.0.0.1', ...headers, ...(body && { 'content-length': length }) }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  writeFileSync(files[0], `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ? JSON.stringify(body) : ''}`)
  writeFileSync(files[1], ids.join('\n'))
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', workerFile('request.lua')]
  const output = await runProcess(['wrk', ...flags, server.url, '--', ...files, `${pauseMs}`], LOAD_CORE)
  const { refused, broken, ...result } = JSON.parse(output.slice(output.lastIndexOf('\n{'))) as Result
  if (refused + broken === 0 && result.requests > 0) return result
  const counts = `of ${result.requests} answers ${refused} were not 2xx, and ${broken} requests got none`
  const now = await answerOf(server, request).then(JSON.stringify, String)
  throw new Error(`Failed to measure ${method} ${path}: ${counts}. Now it gets ${now}`)
}

/** What `request.lua` prints. */
type Result = Record<'requests' | 'perSecond' | 'p99Ms' | 'refused' | 'broken', number>
export type Measured = Record<'perSecond' | 'p99Ms', number[]>

/** Returns the values of each side. The load directly after the start warms it up and does not count. */
export async function underLoad({ rounds, seconds }: Settings, sides: readonly Side[]): Promise<Measured[]> {
  for (const side of sides) await load(seconds * 3, side)
  const measured = await alternately(rounds, sides, side => load(seconds, side))
  return measured.map(loads => ({ perSecond: loads.map(one => one.perSecond), p99Ms: loads.map(one => one.p99Ms) }))
}

/** Creates the rows of one kind of call. `limits`: of the ratios of calls per second, and of p99. */
export const callRows = (name: string, ours: Measured, yardstick: Measured, limits?: [number, number]): Row[] => [
  createRow(name, '/s', ours.perSecond, limits && ['ratio', '>=', limits[0]], yardstick.perSecond),
  createRow(`${name}, p99`, 'ms', ours.p99Ms, limits && ['ratio', '<=', limits[1]], yardstick.p99Ms),
]

/** Creates the row of the milliseconds that the second side needs beyond the first. */
export function addedP99(name: string, [without, beyond]: readonly Measured[], limit: number): Row {
  const added = beyond!.p99Ms.map((p99Ms, round) => p99Ms - without!.p99Ms[round]!)
  return createRow(name, 'ms', added, ['value', '<', limit])
}
