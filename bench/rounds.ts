/** Measures servers alternately, so that other work on the machine affects all of them alike. */
import { type Job, type Load, load, type RequestTemplate } from './load.ts'
import { processorTimeUs } from './processes.ts'
import { createRow, type Goal, type Row } from './rows.ts'
import type { Server } from './servers.ts'
import type { Settings } from './settings.ts'

export interface Side {
  readonly server: Server
  readonly request: RequestTemplate
  readonly connections?: number
  readonly pauseMs?: number
}

export interface Sample {
  readonly perSecond: number
  readonly p99Ms: number
  /** Processor time of the server. */
  readonly usPerRequest: number
}

/** What one side did in each round, and in each slice directly after it had started. */
export interface Samples {
  readonly cold: readonly Sample[]
  readonly warm: readonly Sample[]
}

/** Every other round begins with the other side. */
export async function measureAlternately(sides: readonly Side[], settings: Settings): Promise<Samples[]> {
  const found = sides.map(() => ({ cold: [] as Sample[], warm: [] as Sample[] }))
  const round = async (kind: keyof Samples, number: number, seconds: number) => {
    const order = [...sides.keys()]
    for (const index of number % 2 === 0 ? order : order.reverse())
      found[index]?.[kind].push(await sample(sides[index]!, seconds))
  }
  for (let slice = 0; slice < settings.coldSlices; slice++) await round('cold', slice, settings.coldSeconds)
  for (let number = 0; number < settings.rounds; number++) await round('warm', number, settings.seconds)
  return found
}

async function sample({ server, request, connections = 50, pauseMs = 0 }: Side, seconds: number): Promise<Sample> {
  const before = processorTimeUs(server.pid)
  const job: Job = { ...request, port: server.port, seconds, connections, pauseMs }
  const result: Load = await load(job)
  const usPerRequest = (processorTimeUs(server.pid) - before) / result.requests
  return { perSecond: result.requests / result.seconds, p99Ms: result.p99Ms, usPerRequest }
}

interface Compared {
  readonly figure: string
  readonly name: string
  readonly ours: Samples
  readonly yardstick: Samples
  readonly goals?: { readonly perSecond: Goal; readonly p99?: Goal }
}

/** Creates the rows of one kind of request: warm, then directly after the start. */
export function requestRows({ figure, name, ours, yardstick, goals }: Compared): Row[] {
  const row = (what: string, unit: string, kind: keyof Samples, field: keyof Sample, goal?: Goal) =>
    createRow({
      figure,
      name: `${name}${what}`,
      unit,
      values: ours[kind].map(one => one[field]),
      yardstick: yardstick[kind].map(one => one[field]),
      ...(goal && { goal }),
    })
  const warm = [
    row('', '/s', 'warm', 'perSecond', goals?.perSecond),
    row(', p99', 'ms', 'warm', 'p99Ms', goals?.p99),
    row(', processor time', 'us', 'warm', 'usPerRequest'),
  ]
  return [...warm, row(', first 6 s', '/s', 'cold', 'perSecond'), row(', first 6 s, p99', 'ms', 'cold', 'p99Ms')]
}
