/**
 * Measures signed deliveries per second with 50 in flight: of the simulator, or of bare undici with the same HMAC over a
 * body of the same size. Prints one JSON line.
 */
import { createHmac } from 'node:crypto'
import { Agent, request } from 'undici'

const [kind, url, total] = [process.argv[2], process.argv[3]!, Number(process.argv[4])]
const IN_FLIGHT = 50

async function bare(): Promise<void> {
  const dispatcher = new Agent({ connections: IN_FLIGHT, pipelining: 1 })
  let left = total
  const sendUntilDone = async () => {
    while (left-- > 0) {
      const body = JSON.stringify({ event: 'MESSAGE FROM USER', text: `message ${left}`, pad: 'x'.repeat(300) })
      const signature = createHmac('sha256', 'sim-handover-key').update(body).digest('base64')
      const headers = { 'content-type': 'application/json', 'kindly-hmac': signature }
      const response = await request(url, { method: 'POST', headers, body, dispatcher })
      await response.body.dump()
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, sendUntilDone))
}

/** Each typing call causes one event. All calls are made at once; the simulator keeps one delivery per chat in flight. */
async function simulator(): Promise<() => Promise<void>> {
  const { createSimulator } = (await import('../../dist/index.js' as string)) as typeof import('../../src/index.ts')
  const sim = createSimulator({ clock: 'real', webhook: { url } })
  const chats = await Promise.all(Array.from({ length: IN_FLIGHT }, () => sim.chat()))
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const bodies = chats.map(chat => Buffer.from(JSON.stringify({ bot_id: sim.botId, chat_id: chat.id })))
  const call = (i: number) =>
    sim.handle({ method: 'POST', target: '/api/v2/handover/typing_stop', headers, body: bodies[i % IN_FLIGHT]! })
  return async () => {
    for (let i = 0; i < total; i++) call(i)
    await sim.settled()
    const failed = sim.deliveries.filter(delivery => delivery.outcome !== 'delivered')
    if (failed.length > 0)
      throw new Error(`${failed.length} deliveries failed, the first with ${failed[0]?.failure?.code}`)
  }
}

const run = kind === 'bare' ? bare : await simulator()
const from = performance.now()
await run()
const seconds = (performance.now() - from) / 1000
process.stdout.write(`${JSON.stringify({ deliveries: total, seconds, perSecond: total / seconds })}\n`)
process.exit(0)
