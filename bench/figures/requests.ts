/** Measures calls of the platform API over HTTP: the shipped command beside a bare server, and its log beside none. */
import { closeSync, mkdtempDisposableSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RequestTemplate } from '../load.ts'
import { measureAlternately, type RequestGoals, requestRows } from '../rounds.ts'
import { atLeast, atMost, type Row } from '../rows.ts'
import {
  answerOf,
  createChats,
  HISTORY,
  messageTo,
  type Server,
  startBare,
  startSimulator,
  transcriptOf,
  typingStart,
  typingStop,
} from '../servers.ts'
import type { Settings } from '../settings.ts'

/** As many as connections. Both sides rotate over them, so that transcripts grow by some thousand messages and not more. */
const CHATS = 50

/** The yardstick of a message parses the request and writes the answer as JSON with the id of the chat. */
export async function message(settings: Settings): Promise<Row[]> {
  await using bare = await startBare(settings)
  await using simulator = await startSimulator(settings)
  const request = messageTo(await createChats(simulator, CHATS))
  const goals = { perSecond: atLeast(0.7), p99: atMost(3), processorTime: atMost(1.6) }
  return await compare(settings, 'message', 'POST message', { bare, simulator, request }, goals)
}

interface Sides {
  readonly bare: Server
  readonly simulator: Server
  readonly request: RequestTemplate
}

async function compare(
  settings: Settings,
  figure: string,
  name: string,
  { bare, simulator, request }: Sides,
  goals: RequestGoals,
): Promise<Row[]> {
  const sides = [bare, simulator].map(server => ({ server, request }))
  const [yardstick, ours] = await measureAlternately(sides, settings)
  return requestRows({ figure, name, ours: ours!, yardstick: yardstick!, goals })
}

/** Measures a request beside a bare server that answers the same bytes. */
async function beside(settings: Settings, figure: string, name: string, of: RequestOf, limit: number): Promise<Row[]> {
  await using simulator = await startSimulator(settings)
  const request = of(await createChats(simulator, CHATS, { history: HISTORY }))
  await using bare = await startBare(settings, await answerOf(simulator, request))
  return await compare(
    settings,
    figure,
    name,
    { bare, simulator, request },
    {
      perSecond: atLeast(limit),
      p99: atMost(5),
      processorTime: atMost(1.8),
    },
  )
}

type RequestOf = (chats: readonly string[]) => RequestTemplate

export const typingStarts = (settings: Settings): Promise<Row[]> =>
  beside(settings, 'typing_start', 'POST typing_start', typingStart, 0.6)

export const typingStops = (settings: Settings): Promise<Row[]> =>
  beside(settings, 'typing_stop', 'POST typing_stop', typingStop, 0.6)

export const transcripts = (settings: Settings): Promise<Row[]> =>
  beside(settings, 'transcript', 'GET transcript of 20 messages', transcriptOf, 0.5)

/** Measures messages with the default log, written to a file and to a pipe that this process reads, beside the quiet one. */
export async function log(settings: Settings): Promise<Row[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'handover-sim-bench-'))
  const file = openSync(join(folder.path, 'log'), 'w')
  await using quiet = await startSimulator(settings)
  await using toFile = await startSimulator(settings, { flags: [], stderr: file })
  await using toPipe = await startSimulator(settings, { flags: [], stderr: 'pipe' })
  closeSync(file)
  toPipe.child.stderr?.resume()
  return await compareLogs(settings, [quiet, toFile, toPipe])
}

async function compareLogs(settings: Settings, servers: readonly Server[]): Promise<Row[]> {
  const sides = await Promise.all(
    servers.map(async server => ({ server, request: messageTo(await createChats(server, CHATS)) })),
  )
  const [yardstick, ...others] = await measureAlternately(sides, settings)
  const goals = { perSecond: atLeast(0.9), p99: atMost(2), processorTime: atMost(1.15) }
  return others.flatMap((ours, index) => {
    const name = `POST message, log to a ${index === 0 ? 'file' : 'pipe'}, beside quiet`
    return requestRows({ figure: 'log', name, ours, yardstick: yardstick!, goals })
  })
}
