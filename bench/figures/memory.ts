/** Measures the resident memory of the shipped command: idle, after many typing calls, and while transcripts are evicted. */
import { load, type RequestTemplate } from '../load.ts'
import { memoryMb } from '../processes.ts'
import { atMost, createRow, type Row, valueAtMost } from '../rows.ts'
import { createChats, messageTo, type Server, startSimulator, typingStart, typingStop } from '../servers.ts'
import { fewer, type Settings } from '../settings.ts'

const figure = 'memory'
const row = (name: string, megabytes: number, most: number): Row =>
  createRow({ figure, name, unit: 'MB', values: [megabytes], goal: valueAtMost(most) })

const countName = (settings: Settings) => (settings.quick ? '10,000' : '1,000,000')

/** One process: memory changes little between runs, and a million requests take long. */
export async function typingMemory(settings: Settings): Promise<Row[]> {
  await using simulator = await startSimulator(settings)
  await (await fetch(simulator.url)).text()
  const idle = memoryMb(simulator.pid, 'VmRSS')
  const chats = await createChats(simulator, 50)
  await sendMany(settings, simulator, [typingStart(chats), typingStop(chats)])
  const name = `memory after ${countName(settings)} typing calls`
  return [
    row('memory, idle', idle, 70),
    row(name, memoryMb(simulator.pid, 'VmRSS'), 200),
    row(`${name}, most`, memoryMb(simulator.pid, 'VmHWM'), 250),
  ]
}

/** The transcripts reach their bound after a few thousand messages. The second half shows whether memory still grows. */
export async function messageMemory(settings: Settings): Promise<Row[]> {
  await using simulator = await startSimulator(settings)
  const chats = await createChats(simulator, fewer(settings, 1000, 50))
  const request = messageTo(chats, 'x'.repeat(10_000))
  await sendMany(settings, simulator, [request], 0.5)
  const half = memoryMb(simulator.pid, 'VmRSS')
  await sendMany(settings, simulator, [request], 0.5)
  const name = `memory after ${countName(settings)} messages of 10 KB in ${chats.length} chats`
  const values = [memoryMb(simulator.pid, 'VmRSS')]
  return [
    createRow({
      figure,
      name: `${name}, beside half of them`,
      unit: 'MB',
      values,
      yardstick: [half],
      goal: atMost(1.1),
    }),
    row(`${name}, most`, memoryMb(simulator.pid, 'VmHWM'), 300),
  ]
}

/** Sends the requests in turn, a slice each, until there were a million. */
async function sendMany(
  settings: Settings,
  { port }: Server,
  requests: readonly RequestTemplate[],
  part = 1,
): Promise<void> {
  const total = fewer(settings, 1_000_000, 10_000) * part
  for (let sent = 0, slice = 0; sent < total; slice++) {
    const request = requests[slice % requests.length]!
    sent += (await load({ ...request, port, seconds: fewer(settings, 3, 1), connections: 50 })).requests
  }
}
