/** Measures servers alternately, so that other work on the machine affects all of them alike. */
import { type Job, type Load, load, type RequestTemplate } from './load.ts'
import { canPin, coreTimeUs, processorTimeUs, SERVER_CORE } from './processes.ts'
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
  /** The share of the server's core that other processes took. */
  readonly otherWork: number
}

/** A round is disturbed when other processes take more of the server's core. */
const DISTURBED = 0.05

/**
 * Returns what each side did in each round. The slices directly after the start warm both up and do not count. Measures up
 * to three more rounds when some are disturbed, and keeps those that are disturbed least.
 */
export async function measureAlternately(sides: readonly Side[], settings: Settings): Promise<Sample[][]> {
  await measureRounds(sides, settings.coldSlices, settings.coldSeconds)
  const warm = await measureRounds(sides, settings.rounds, settings.seconds)
  for (let more = settings.quick ? 0 : 3; more > 0; more--) {
    if (warm.filter(round => otherWork(round) <= DISTURBED).length >= settings.rounds) break
    warm.push(...(await measureRounds(sides, 1, settings.seconds)))
  }
  const kept = warm.toSorted((a, b) => otherWork(a) - otherWork(b)).slice(0, settings.rounds)
  reportDisturbance(kept)
  return sides.map((_, side) => kept.map(round => round[side]!))
}

type Round = readonly Sample[]
const otherWork = (round: Round): number => Math.max(...round.map(one => one.otherWork))

/** Every other round begins with the last side. */
async function measureRounds(sides: readonly Side[], rounds: number, seconds: number): Promise<Round[]> {
  const found: Round[] = []
  for (let number = 0; number < rounds; number++) {
    const order = number % 2 === 0 ? sides : sides.toReversed()
    const samples: Sample[] = []
    for (const side of order) samples.push(await sample(side, seconds))
    found.push(number % 2 === 0 ? samples : samples.reverse())
  }
  return found
}

function reportDisturbance(rounds: readonly Round[]): void {
  const disturbed = rounds.filter(round => otherWork(round) > DISTURBED)
  if (disturbed.length === 0) return
  const percent = Math.round(Math.max(...disturbed.map(otherWork)) * 100)
  const what = `${disturbed.length} of ${rounds.length} rounds were disturbed`
  console.error(`Doubtful: ${what}. Other processes took up to ${percent} % of the server's core.`)
}

async function sample({ server, request, connections = 50, pauseMs = 0 }: Side, seconds: number): Promise<Sample> {
  const [usedBefore, coreBefore, from] = [processorTimeUs(server.pid), coreTimeUs(SERVER_CORE), performance.now()]
  const job: Job = { ...request, port: server.port, seconds, connections, pauseMs }
  const result: Load = await load(job)
  const used = processorTimeUs(server.pid) - usedBefore
  const others = coreTimeUs(SERVER_CORE) - coreBefore - used
  return {
    perSecond: result.requests / result.seconds,
    p99Ms: result.p99Ms,
    usPerRequest: used / result.requests,
    otherWork: canPin && others > 0 ? others / ((performance.now() - from) * 1000) : 0,
  }
}

export interface RequestGoals {
  readonly perSecond: Goal
  readonly p99: Goal
  readonly processorTime: Goal
}

interface Compared {
  readonly figure: string
  readonly name: string
  readonly ours: readonly Sample[]
  readonly yardstick: readonly Sample[]
  /** Other local servers have none. */
  readonly goals?: RequestGoals
}

/** Creates the rows of one kind of request. */
export function requestRows({ figure, name, ours, yardstick, goals }: Compared): Row[] {
  const row = (what: string, unit: string, field: keyof Sample, goal?: Goal) =>
    createRow({
      figure,
      name: `${name}${what}`,
      unit,
      values: ours.map(one => one[field]),
      yardstick: yardstick.map(one => one[field]),
      ...(goal && { goal }),
    })
  return [
    row('', '/s', 'perSecond', goals?.perSecond),
    row(', p99', 'ms', 'p99Ms', goals?.p99),
    row(', processor time', 'us', 'usPerRequest', goals?.processorTime),
  ]
}
