/**
 * Signed deliveries per second, 50 in flight, order per chat kept: the simulator's, or bare undici's doing the same
 * HMAC over a body of the same size. Prints one JSON line.
 */
import { createHmac } from 'node:crypto'
import { Agent, request } from 'undici'

const [kind, url, total] = [process.argv[2], process.argv[3]!, Number(process.argv[4])]
const LANES = 50

async function bare(): Promise<void> {
  const dispatcher = new Agent({ connections: LANES, pipelining: 1 })
  let left = total
  const lane = async () => {
    while (left-- > 0) {
      const body = JSON.stringify({ event: 'MESSAGE FROM USER', text: `message ${left}`, pad: 'x'.repeat(300) })
      const signature = createHmac('sha256', 'sim-handover-key').update(body).digest('base64')
      const headers = { 'content-type': 'application/json', 'kindly-hmac': signature }
      const response = await request(url, { method: 'POST', headers, body, dispatcher })
      await response.body.dump()
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

async function simulator(): Promise<() => Promise<void>> {
  const { createSimulator } = (await import('../../dist/index.js' as string)) as typeof import('../../src/index.ts')
  const sim = createSimulator({ clock: 'real', webhook: { url } })
  const chats = await Promise.all(Array.from({ length: LANES }, () => sim.chat()))
  for (const chat of chats) {
    const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, sender: { name: 'Anna' } })
    const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
    await sim.fetch(new Request(`${sim.baseUrl}/api/v2/handover/start`, { method: 'POST', headers, body }))
  }
  return async () => {
    let left = total
    const lane = async (chat: (typeof chats)[number]) => {
      while (left-- > 0) await chat.says(`message ${left}`)
    }
    await Promise.all(chats.map(lane))
  }
}

const run = kind === 'bare' ? bare : await simulator()
const from = performance.now()
await run()
const seconds = (performance.now() - from) / 1000
process.stdout.write(`${JSON.stringify({ deliveries: total, seconds, perSecond: total / seconds })}\n`)
process.exit(0)
