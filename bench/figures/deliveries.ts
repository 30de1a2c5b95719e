/** Measures signed deliveries per second with 50 in flight, and how much a slow webhook delays an API answer. */
import { type Figure, load, median, run, start } from '../process.ts'

const TOTAL = 30_000
const ROUNDS = 5

export async function deliveries(): Promise<Figure[]> {
  await using receiver = await start(1, 'receiver.ts')
  const url = `http://127.0.0.1:${receiver.line.port}/webhook`
  const rate = (kind: string) => run<{ perSecond: number }>(0, 'deliver.ts', [kind, url, String(TOTAL)]).perSecond
  const bare: number[] = []
  const ours: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(rate('bare'))
    ours.push(rate('simulator'))
  }
  const [value, baseline] = [median(ours), median(bare)]
  return [
    {
      name: 'signed deliveries, 50 in flight',
      value: `${value.toFixed(0)}/s`,
      baseline: `${baseline.toFixed(0)}/s`,
      ratio: (value / baseline).toFixed(2),
      goal: '>= 0.59',
    },
  ]
}

/** Measures the p99 of typing_start, which causes an event, with a webhook that answers at once and one that takes 500 ms. */
export async function slowReceiver(): Promise<Figure[]> {
  const p99 = async (delayMs: number) => {
    await using receiver = await start(1, 'receiver.ts', [String(delayMs)])
    const webhookUrl = `http://127.0.0.1:${receiver.line.port}/webhook`
    await using sim = await start(0, 'sim-server.mjs', [JSON.stringify({ webhookUrl })])
    const body = { bot_id: 1042, chat_id: sim.line.chat, timeout: 1000 }
    const runs = Array.from({ length: 5 }, () =>
      load({ port: sim.line.port, requests: 300, connections: 1, path: '/api/v2/handover/typing_start', body }),
    )
    return median(runs.map(one => one.p99))
  }
  const [fast, slow] = [await p99(0), await p99(500)]
  const added = `${(slow - fast).toFixed(2)} ms added`
  return [
    {
      name: 'API p99, receiver takes 500 ms',
      value: `${slow.toFixed(2)} ms`,
      baseline: `${fast.toFixed(2)} ms`,
      ratio: added,
      goal: '< 2 ms added',
    },
  ]
}
