/** Measures the resident memory of the shipped command: idle, after many typing calls, and while transcripts are evicted. */
import { load, type RequestTemplate } from '../load.ts'
import { memoryMb } from '../processes.ts'
import { createRow, type Row, valueAtMost } from '../rows.ts'
import { createChats, messageTo, type Server, startSimulator, typingStart, typingStop } from '../servers.ts'
import { fewer, type Settings } from '../settings.ts'

/** One process each: memory changes little between runs, and a million requests take long. */
export async function memory(settings: Settings): Promise<Row[]> {
  return [...(await typing(settings)), ...(await messages(settings))]
}

const row = (name: string, megabytes: number, most?: number): Row =>
  createRow({ figure: 'memory', name, unit: 'MB', values: [megabytes], ...(most && { goal: valueAtMost(most) }) })

const countName = (settings: Settings) => (settings.quick ? '10,000' : '1,000,000')

async function typing(settings: Settings): Promise<Row[]> {
  await using simulator = await startSimulator(settings)
  await (await fetch(simulator.url)).text()
  const idle = memoryMb(simulator.pid, 'VmRSS')
  const chats = await createChats(simulator, 50)
  await sendMany(settings, simulator, [typingStart(chats), typingStop(chats)])
  const name = `memory after ${countName(settings)} typing calls`
  return [
    row('memory, idle', idle, 65),
    row(name, memoryMb(simulator.pid, 'VmRSS'), 180),
    row(`${name}, most`, memoryMb(simulator.pid, 'VmHWM')),
  ]
}

/** The bound of the transcripts is reached after some 100,000 messages; a second million shows whether memory still grows. */
async function messages(settings: Settings): Promise<Row[]> {
  await using simulator = await startSimulator(settings)
  const request = messageTo(await createChats(simulator, fewer(settings, 1000, 50)))
  await sendMany(settings, simulator, [request])
  const [first, most] = [memoryMb(simulator.pid, 'VmRSS'), memoryMb(simulator.pid, 'VmHWM')]
  await sendMany(settings, simulator, [request])
  const second = memoryMb(simulator.pid, 'VmRSS')
  const name = `memory after ${countName(settings)} messages in 1,000 chats`
  const again = createRow({
    figure: 'memory',
    name: 'the same after as many again',
    unit: 'MB',
    values: [second],
    yardstick: [first],
  })
  return [
    row(name, first),
    row(`${name}, most`, most),
    { ...again, goal: { of: 'ratio', is: 'at most', limit: 1.1 }, met: second <= first * 1.1 },
  ]
}

/** Sends the requests in turn, a slice each, until there were a million. */
async function sendMany(settings: Settings, { port }: Server, requests: readonly RequestTemplate[]): Promise<void> {
  const total = fewer(settings, 1_000_000, 10_000)
  for (let sent = 0, slice = 0; sent < total; slice++) {
    const request = requests[slice % requests.length]!
    sent += (await load({ ...request, port, seconds: fewer(settings, 3, 1), connections: 50 })).requests
  }
}
