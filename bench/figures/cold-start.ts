/** Measures the time from spawn to the first 2xx of the shipped command and of a bare `node:http` server. */
import { once } from 'node:events'
import { atMost, createRow, type Row } from '../rows.ts'
import { type Server, startBare, startSimulator } from '../servers.ts'
import { fewer, type Settings } from '../settings.ts'

const WITHOUT_CACHE = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }

/** Node writes its compile cache when a process ends by itself, so the first start after an installation has none. */
export async function coldStart(settings: Settings): Promise<Row[]> {
  const [bare, first, later]: [number[], number[], number[]] = [[], [], []]
  await fillCompileCache(settings)
  for (let round = 0; round < fewer(settings, 21, 2); round++) {
    bare.push(await millisecondsToAnswer(() => startBare(settings)))
    first.push(await millisecondsToAnswer(() => startSimulator(settings, { flags: [], env: WITHOUT_CACHE })))
    later.push(await millisecondsToAnswer(() => startSimulator(settings, { flags: [] })))
  }
  const row = (name: string, values: number[]) =>
    createRow({ figure: 'cold-start', name, unit: 'ms', values, yardstick: bare, goal: atMost(1.2) })
  return [row('start to the first 2xx', later), row('the same, the first start after an installation', first)]
}

async function fillCompileCache(settings: Settings): Promise<void> {
  const { child } = await startSimulator(settings, { flags: [] })
  child.kill('SIGTERM')
  await once(child, 'exit')
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
