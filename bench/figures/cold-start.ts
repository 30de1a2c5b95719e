/** Measures the time from spawn to the first 2xx of the shipped command and of a bare `node:http` server. */
import { atMost, createRow, type Row } from '../rows.ts'
import { type Server, startBare, startSimulator } from '../servers.ts'
import { fewer, type Settings } from '../settings.ts'

/** The first start of each is not counted: it fills the compile cache of Node and the caches of files. */
export async function coldStart(settings: Settings): Promise<Row[]> {
  const [bare, ours]: [number[], number[]] = [[], []]
  for (let round = 0; round <= fewer(settings, 21, 2); round++) {
    bare.push(await millisecondsToAnswer(() => startBare(settings)))
    ours.push(await millisecondsToAnswer(() => startSimulator(settings, { flags: [] })))
  }
  const [values, yardstick] = [ours.slice(1), bare.slice(1)]
  const name = 'start to the first 2xx'
  return [createRow({ figure: 'cold-start', name, unit: 'ms', values, yardstick, goal: atMost(1.2) })]
}

async function millisecondsToAnswer(start: () => Promise<Server>): Promise<number> {
  const from = performance.now()
  await using server = await start()
  const response = await fetch(server.url)
  await response.text()
  const took = performance.now() - from
  if (!response.ok) throw new Error(`GET ${server.url} got ${response.status}`)
  return took
}
