/** Measures signed deliveries per second beside bare undici, and how much a slow receiver delays answers of the API. */
import { once } from 'node:events'
import { LOAD_CORE, processorTimeUs, type Started, startProcess, workerFile } from '../processes.ts'
import { measureAlternately } from '../rounds.ts'
import { atLeast, atMost, createRow, type Row, valueBelow } from '../rows.ts'
import { createChats, startSimulator, typingStart } from '../servers.ts'
import { fewer, type Settings } from '../settings.ts'

async function startReceiver(delayMs = 0): Promise<Started & { readonly url: string }> {
  const command = [process.execPath, workerFile('receiver.mjs'), `${delayMs}`]
  const started = await startProcess(command, { core: LOAD_CORE })
  return { ...started, url: `http://127.0.0.1:${JSON.parse(started.line).port}/webhook` }
}

interface Rate {
  readonly perSecond: number
  readonly usPerDelivery: number
}

/** The simulator keeps one delivery of a chat in flight, so bare undici has as many connections as there are chats. */
export async function deliveries(settings: Settings): Promise<Row[]> {
  await using receiver = await startReceiver()
  const many = await compare(settings, receiver.url, 50, fewer(settings, 20_000, 2000))
  const one = await compare(settings, receiver.url, 1, fewer(settings, 5000, 500))
  return [...many, ...one]
}

async function compare(settings: Settings, url: string, inFlight: number, count: number): Promise<Row[]> {
  await using bare = await startSender(settings, 'bare', url, inFlight)
  await using simulator = await startSender(settings, 'simulator', url, inFlight)
  const [yardstick, ours]: [Rate[], Rate[]] = [[], []]
  for (let round = -1; round < settings.rounds; round++) {
    const [first, second] = [await send(bare, count), await send(simulator, count)]
    if (round === -1) continue
    yardstick.push(first)
    ours.push(second)
  }
  const name =
    inFlight === 1
      ? 'signed deliveries, one chat, one in flight'
      : `signed deliveries, ${inFlight} chats, ${inFlight} in flight`
  return [
    row(name, '/s', 'perSecond', ours, yardstick),
    row(`${name}, processor time`, 'us', 'usPerDelivery', ours, yardstick),
  ]
}

function row(name: string, unit: string, field: keyof Rate, ours: readonly Rate[], yardstick: readonly Rate[]): Row {
  const values = ours.map(one => one[field])
  const others = yardstick.map(one => one[field])
  const goal = field === 'perSecond' ? atLeast(0.6) : atMost(1.8)
  return createRow({ figure: 'deliveries', name, unit, values, yardstick: others, goal })
}

const startSender = ({ node }: Settings, kind: string, url: string, inFlight: number): Promise<Started> =>
  startProcess([node, workerFile('deliver.mjs'), kind, url, `${inFlight}`], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })

async function send({ child, pid }: Started, count: number): Promise<Rate> {
  const before = processorTimeUs(pid)
  child.send({ count })
  const [{ seconds }] = (await once(child, 'message')) as [{ seconds: number }]
  return { perSecond: count / seconds, usPerDelivery: (processorTimeUs(pid) - before) / count }
}

/**
 * Measures typing_start, which causes an event, with a receiver that answers at once and one that takes 500 ms. The load
 * is 500 calls per second, so that both the simulator and the load have time left.
 */
export async function slowReceiver(settings: Settings): Promise<Row[]> {
  await using fast = await startReceiver()
  await using slow = await startReceiver(500)
  await using besideFast = await startSimulator(settings, { flags: [...QUIET, '--webhook-url', fast.url] })
  await using besideSlow = await startSimulator(settings, { flags: [...QUIET, '--webhook-url', slow.url] })
  const sides = await Promise.all(
    [besideFast, besideSlow].map(async server => {
      const request = typingStart(await createChats(server, 50))
      return { server, request, connections: 10, pauseMs: 20 }
    }),
  )
  const [quick, delayed] = (await measureAlternately(sides, settings)).map(samples => samples.map(one => one.p99Ms))
  const figure = 'slow-receiver'
  const added = delayed!.map((p99Ms, round) => p99Ms - quick![round]!)
  return [
    createRow({
      figure,
      name: 'p99 of the API, receiver takes 500 ms',
      unit: 'ms',
      values: delayed!,
      yardstick: quick!,
      goal: atMost(2),
    }),
    createRow({ figure, name: 'p99 that the slow receiver adds', unit: 'ms', values: added, goal: valueBelow(1) }),
  ]
}

const QUIET = ['--output', 'quiet'] as const
